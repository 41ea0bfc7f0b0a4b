"""Measures of predictors whose answers are known: the best one, a short-sighted one, a blind one."""

import numpy as np
import pytest

from glassformer.tasks import (
    Sequences,
    TokenSource,
    classify_positions,
    compute_entropy_floor,
    make_rule,
    tabulate_automaton,
)
from glassformer.verify import rule as measuring
from glassformer.verify.rule import (
    judge_logits,
    measure_fresh_loss,
    measure_rule,
    measure_sampled_error,
    try_positions,
)

from .fakes import Bayes, Uniform

DATA = Sequences(300, 20, 30)
MANY = Sequences(3000, 20, 30)  # the pool of the fresh loss: its error is then about 0.005 nats
RULE = make_rule("plus_last_even")
AUTOMATON = tabulate_automaton(RULE)


@pytest.fixture(scope="module", autouse=True)
def fewer_windows():
    patch = pytest.MonkeyPatch()
    patch.setattr(measuring, "LOSS_WINDOWS", 4096)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def best():
    return measure_rule(Bayes(AUTOMATON, MANY, 5), RULE, MANY, positions=3000, generated=50)


def test_the_best_predictor_is_right_wherever_it_can_know(best):
    assert best.argmax_accuracy.value == 1.0
    assert best.argmax_accuracy.positions >= 3000
    assert best.right_probability == pytest.approx(1.0)
    assert set(best.by_distance) == set(range(2, 6))  # `4 +` looks two tokens back; the window holds five
    assert all(share.value == 1.0 for share in best.by_distance.values())
    assert best.by_source["absent"].value == 1.0  # any even number is right
    assert best.by_source["outside"].positions > 0
    assert best.by_source["outside"].value < 0.5  # one of six even numbers, blindly; a tie is a failure


def test_shares_are_parts_of_the_whole(best):
    for parts, whole in (
        (best.by_source.values(), best.argmax_accuracy_all),
        (best.by_distance.values(), best.by_source["in_window"]),
    ):
        assert sum(part.positions for part in parts) == whole.positions
        hits = sum(part.value * part.positions for part in parts if part.positions)
        assert hits == pytest.approx(whole.value * whole.positions)
    assert list(best.by_source) == ["in_window", "outside", "absent"]
    assert best.by_source["in_window"] == best.argmax_accuracy


def test_the_best_loss_is_the_entropy_floor(best):
    assert best.entropy_floor == compute_entropy_floor(AUTOMATON, MANY, 5)
    assert best.loss == pytest.approx(best.entropy_floor, abs=0.02)


class ShortSighted(Bayes):
    """Sees the last tokens only to say the next one; where they do not tell, it says an odd number."""

    def __init__(self, sees):
        super().__init__(AUTOMATON, DATA, 6)
        self.sees = sees

    def logits(self, tokens, last=None):
        logits = super().logits(tokens[-self.sees :] if last else tokens, last)
        chances = np.exp(logits)
        logits[1] += 50 * (chances.max(0) < 0.9)
        return logits


def test_a_short_sighted_predictor_fails_exactly_beyond_its_sight():
    report = measure_rule(ShortSighted(4), RULE, DATA, positions=1500, generated=20)
    assert {d: share.value for d, share in report.by_distance.items()} == {
        d: float(d <= 4) for d in range(2, 7)
    }
    near = sum(share.positions for d, share in report.by_distance.items() if d <= 4)
    assert report.argmax_accuracy.value == near / report.argmax_accuracy.positions
    assert report.by_source["outside"].value == 0


def test_who_knows_nothing_is_never_right():
    report = measure_rule(Uniform(12, 8), RULE, DATA, positions=500, generated=50)
    assert report.argmax_accuracy_all.value == 0
    assert report.right_probability == pytest.approx(1 / 12)
    assert report.loss == pytest.approx(np.log(12))


def test_each_constrained_position_is_tried_once_with_its_own_window():
    """A predictor that writes down what it is shown, against a walk over the sequences."""
    seen = []

    class Watcher(Uniform):
        def logits(self, tokens, last=None):
            seen.extend(tuple(window) for window in tokens.T.tolist())
            return super().logits(tokens, last)

    from glassformer.tasks.check import mark_constrained

    random = np.random.default_rng(0)
    tokens, lengths = random.integers(0, 12, (25, 40)), random.integers(20, 26, 40)
    trials = try_positions(Watcher(12, 8), AUTOMATON, tokens, lengths)
    asked = mark_constrained(AUTOMATON, tokens)
    expected = [
        tuple(tokens[max(0, pos - 8) : pos, which].tolist())
        for which in range(40)
        for pos in range(1, lengths[which])
        if asked[pos, which]
    ]
    assert sorted(seen) == sorted(expected)
    inside = np.arange(25)[:, None] < lengths
    for kind in list(TokenSource)[1:]:
        assert (trials.source == kind).sum() == (
            (classify_positions(AUTOMATON, tokens, 8) == kind) & inside
        ).sum()


def test_other_seeds_bring_other_sequences():
    model = ShortSighted(4)
    first, again, other = (
        measuring.collect_trials(model, AUTOMATON, DATA, 100, seed).distance.tolist() for seed in (0, 0, 1)
    )
    assert first == again != other


def test_a_rule_that_never_constrains_in_the_window_ends(monkeypatch):
    """copy_modulo with k = 3 is never resolved by a window of two tokens."""
    monkeypatch.setattr(measuring, "ROUNDS", 2)
    rule = make_rule("copy_modulo", high=4)
    report = measure_rule(Uniform(5, 2), rule, DATA, positions=10, generated=5)
    assert report.argmax_accuracy.positions == 0
    assert np.isnan(report.right_probability)
    assert report.by_source["outside"].positions > 0
    assert report.by_distance == {}


def test_judging_a_tie_is_a_failure():
    logits = np.array([[1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    allowed = np.array([[1, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1]], bool)
    right, mass = judge_logits(logits, allowed)
    assert right.tolist() == [False, True, False, True]
    e = np.e
    np.testing.assert_allclose(mass, [e / (2 * e + 1), e / (e + 2), 1 / (e + 2), 1])


def test_a_perfect_generator_breaks_nothing():
    automaton = tabulate_automaton(make_rule("successor"))
    share = measure_sampled_error(Bayes(automaton, DATA, 3), automaton, DATA, 100, seed=0)
    assert (share.value, share.positions) == (0.0, 100 * 29)


def test_a_blind_generator_breaks_as_chance_has_it():
    automaton = tabulate_automaton(make_rule("successor", high=4))
    share = measure_sampled_error(Uniform(5, 3), automaton, DATA, 100, seed=0)
    assert share.low < 0.8 < share.high


def test_losses_of_the_parts_of_a_window():
    """A model that is sure of the successor pays nothing; a blind one pays log n at every place."""
    automaton = tabulate_automaton(make_rule("successor", high=4))
    assert measure_fresh_loss(Bayes(automaton, DATA, 6), automaton, DATA, 0)[0] == pytest.approx(0, abs=1e-9)
    assert measure_fresh_loss(Uniform(5, 6), automaton, DATA, 0)[0] == pytest.approx(np.log(5))
