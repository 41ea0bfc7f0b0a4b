"""A run of every pair: classes, margins and counts as a loop over all pairs gives them."""

import numpy as np
import pytest

from glassformer.proofs.every_pair import can_run_all, run_all_pairs
from glassformer.tasks import Addition
from tests.proofs.small import drawn, nanogpt, run_all


@pytest.mark.parametrize(("make", "base"), [(nanogpt, 10), (nanogpt, 3), (None, 10)])
def test_margins_and_counts_are_those_of_a_plain_loop(make, base):
    model, task = make(2, base=base) if make else drawn("glass-8", 2, 0)
    run, steps = run_all_pairs(model, task, np.inf), run_all(model, task)
    least = {}
    for gap, _, classes in steps:
        for name, margin in zip(map(tuple, classes.tolist()), gap.tolist(), strict=True):
            least[name] = min(margin, least.get(name, np.inf))
    named = np.stack([run.classes.step, run.classes.previous, run.classes.total, run.classes.carry], 1)
    assert {tuple(name): margin for name, margin in zip(named.tolist(), run.least, strict=True)} == least
    worst = np.min([gap for gap, *_ in steps], 0)
    assert (run.wrong, run.tied) == (int((worst < 0).sum()), int((worst == 0).sum()))
    assert run.exact_error()["count_low"] == run.wrong


def test_it_says_nothing_where_time_or_numbers_do_not_suffice():
    model, task = nanogpt(2)
    assert run_all_pairs(model, task, -np.inf) is None
    assert can_run_all(Addition(digits=3)) and not can_run_all(Addition(digits=4))
    assert can_run_all(Addition(digits=9, base=2))
