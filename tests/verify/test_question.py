"""Measures of a question's model against counts by hand, prompt by prompt."""

from math import exp, log
from types import SimpleNamespace

import numpy as np
import pytest

from glassformer.tasks import Sequences, make_task
from glassformer.verify.question import describe_measures, measure, measure_question
from tests.proofs.questions import drawn, largest_model

TASK = make_task("max_of", numbers=3, k=2)


class Last:
    """Says the last number that it reads, three times as likely as each of the others."""

    architecture = SimpleNamespace(context=2, vocab=3)

    def logits(self, tokens, last=None):
        return np.where(np.arange(3)[:, None] == tokens[-1], log(3), 0.0)[:, None]


def test_a_model_that_says_the_last_number():
    """Of the nine pairs of 0, 1, 2 the last is the largest in six: 00 01 02 11 12 22."""
    report = measure_question(Last(), TASK)
    assert (report.argmax_accuracy.value, report.argmax_accuracy.positions) == (6 / 9, 9)
    assert (report.prompts, report.tried_all) == (9, True)
    assert report.right_probability == pytest.approx((6 * 0.6 + 3 * 0.2) / 9)
    assert report.loss == pytest.approx(-(6 * log(0.6) + 3 * log(0.2)) / 9)


def test_a_tie_is_wrong():
    class Undecided(Last):
        def logits(self, tokens, last=None):
            return np.zeros((3, 1, tokens.shape[1]))

    report = measure_question(Undecided(), TASK)
    assert report.argmax_accuracy.value == 0
    assert report.right_probability == pytest.approx(1 / 3)
    assert exp(-report.loss) == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_a_random_model_is_counted_prompt_by_prompt(seed):
    task = make_task("modular", p=4)
    model, right, losses = drawn(task, seed), 0, []
    for a in range(4):
        for b in range(4):
            logits = model.forward([a, b, 4])[-1].astype(float)
            answer = (a + b) % 4
            right += int(logits.argmax() == answer)
            losses.append(np.log(np.exp(logits).sum()) - logits[answer])
    report = measure_question(model, task)
    assert report.argmax_accuracy.value == right / 16
    assert report.loss == pytest.approx(np.mean(losses), rel=1e-5)
    assert report.right_probability == pytest.approx(np.exp(-np.array(losses)).mean(), rel=1e-5)


def test_where_prompts_are_many_some_are_drawn():
    task = make_task("max_of", numbers=6, k=3)
    model = largest_model(noise=0.5, seed=1)
    exact = measure_question(model, task, positions=216)
    some, again, other = (measure_question(model, task, positions=200, seed=seed) for seed in (0, 0, 1))
    assert exact.tried_all and not some.tried_all
    assert some.prompts == 216 and some.argmax_accuracy.positions == 200
    assert some == again
    assert some.loss != other.loss
    assert some.argmax_accuracy.low <= exact.argmax_accuracy.value <= some.argmax_accuracy.high


def test_words_say_whether_a_share_is_exact():
    every = measure(Last(), TASK, Sequences(), 100, 0)
    assert describe_measures(every) == [
        "argmax accuracy on all 9 prompts: 66.667% (exact)",
        "mean probability of the answer: 0.4667",
        "loss 0.8770 nats",
    ]
    some = describe_measures(measure(Last(), TASK, Sequences(), 8, 0))[0]
    assert some.startswith("argmax accuracy on fresh prompts: ") and "95% interval" in some
