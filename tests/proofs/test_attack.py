"""Wrong pairs are found by running, and only wrong ones."""

import time

import numpy as np

from glassformer.models.adding import write_sum
from glassformer.models.model import Model
from glassformer.proofs.attack import find_wrong_pair, measure_pair_margins
from glassformer.runs.load import load_model
from glassformer.tasks.addition import to_numbers
from tests.proofs.small import nanogpt, run_all

SOON = 20.0


def test_a_model_that_fails_rarely_is_refuted():
    """TinyAdder as published passes the community's test, and fails after long runs of nines."""
    model = load_model("tinyadder-95")
    (pair,) = find_wrong_pair(model, model.task, time.perf_counter() + SOON)
    a, b = to_numbers(pair, 10)
    assert not write_sum(model, model.task, a, b).right


def test_nothing_is_found_where_nothing_is_wrong():
    model, task = nanogpt(2)
    assert find_wrong_pair(model, task, time.perf_counter() + 1.0) is None
    assert find_wrong_pair(model, task, time.perf_counter() + 1.0, real=True) is None


def test_a_model_that_is_wrong_without_rounding_is_refuted_in_real_numbers():
    model = load_model("nanogpt-58")
    assert find_wrong_pair(model, model.task, time.perf_counter() + SOON, real=True) is not None


def test_margins_are_those_of_every_step():
    model, task = nanogpt(1)
    digits = np.stack(np.divmod(np.arange(100), 10), 1)[:, None].astype(np.int8)  # pair column number
    found = measure_pair_margins(model, task, digits)  # step pair
    for step, (gap, *_) in enumerate(run_all(model, task)):
        assert np.allclose(found[step], gap)


def test_logits_that_are_no_numbers_refute_only_sums_that_come_out_wrong():
    """The token of the first nan is written: 0, which is right for 0 + 0 alone."""
    model, task = nanogpt(4)
    lost = Model(model.architecture, {key: part * 1e160 for key, part in model.params.items()})
    pair = find_wrong_pair(lost, task, time.perf_counter() + SOON)
    assert pair is not None and pair.any()
