"""What makes another configuration, and what does not."""

import pytest

from glassformer.runs.config import Run
from glassformer.runs.resolve import resolve_run
from glassformer.runs.tree import to_tree
from glassformer.sweeps.identity import digest_settings, select_counted_settings


def digest(**options):
    return digest_settings(
        to_tree(resolve_run("successor", {k.replace("__", "."): v for k, v in options.items()}))
    )


@pytest.mark.parametrize(
    "option", ["name", "about", "train__seeds", "train__first_seed", "train__threads", "measure__positions"]
)
def test_how_it_is_called_or_run_makes_no_other_configuration(option):
    other = "mine" if option in ("name", "about") else "7"
    assert digest(**{option: other}) == digest()


@pytest.mark.parametrize("option", ["train__steps", "train__batch", "train__peak_rate", "prove__seconds"])
def test_a_setting_that_results_depend_on_makes_another(option):
    assert digest(**{option: "7"}) != digest()


def test_only_what_differs_from_the_defaults_counts():
    assert select_counted_settings(to_tree(Run())) == {}
    assert len(digest()) == 12
    int(digest(), 16)
