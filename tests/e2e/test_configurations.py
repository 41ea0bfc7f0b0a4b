"""What the configurations promise, trained in full: minutes of work, so `make test-slow`."""

import pytest

import glassformer
from glassformer.runs.adders import ADDERS
from glassformer.runs.configurations import RULE_CONFIGURATIONS
from glassformer.tasks import tabulate_automaton
from glassformer.zoo import ZOO

DETERMINED, SET = 0.995, 0.999  # argmax rule accuracy, by kind of rule
FOLDER_BYTES = 5_000_000  # without figures and page
PAGE_BYTES = 8_000_000


def promised(rule) -> float:
    """Rules that leave one right token may miss more often than those that allow a set of them."""
    automaton = tabulate_automaton(rule)
    asked = automaton.constrained & (automaton.allowed.sum(1) > 1)
    return SET if (asked.sum() > automaton.constrained.sum() / 2) else DETERMINED


@pytest.mark.slow
@pytest.mark.parametrize("name", RULE_CONFIGURATIONS)
def test_a_configuration_learns_its_rule(name, tmp_path):
    result = glassformer.run(name, out=tmp_path / name, seed=7_000, options={"draw.figures": "none"})
    assert result.argmax_accuracy["value"] >= promised(RULE_CONFIGURATIONS[name].task)
    assert result.argmax_accuracy["positions"] >= 100_000
    sizes = {path.name: path.stat().st_size for path in (tmp_path / name).iterdir()}
    assert sizes.pop("page.html") < PAGE_BYTES
    assert sum(sizes.values()) < FOLDER_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name in ADDERS if ZOO[name].weights))
def test_a_shipped_adder_can_be_trained_again(name, tmp_path):
    """By the command alone. On another kind of machine other bits win, so the numbers may differ."""
    result = glassformer.run(name, out=tmp_path / name, options={"draw.figures": "none"})
    assert result.measures["board"]["passed"] == result.measures["board"]["total"] == 10_010
    assert result.argmax_accuracy["value"] == 1.0


def test_kinds_of_rules():
    kinds = {name: promised(run.task) for name, run in RULE_CONFIGURATIONS.items()}
    sets = {"odd_even_index", "even_to_odd_transition", "parity_based", "two_token_parity"}
    sets |= {"even_greater_than_10", "plus_means_even"}
    assert {name for name, share in kinds.items() if share == SET} == sets
