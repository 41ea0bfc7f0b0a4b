"""Trials are what the task asks."""

import numpy as np

from glassformer.pictures.measure.trials import draw_trials
from glassformer.tasks import make_rule, make_task, tabulate_automaton


def test_trials_are_what_the_rule_asks():
    """Recomputed by hand for plus_last_even: after `+` the last even number before it."""
    automaton = tabulate_automaton(make_rule("plus_last_even"))
    trials = draw_trials(automaton, 8, 500)
    assert len(trials) == 500
    for context, allowed, source, following in zip(
        trials.contexts, trials.allowed, trials.source, trials.following, strict=True
    ):
        assert context[-1] == 11
        evens = [place for place, token in enumerate(context) if token < 11 and token % 2 == 0]
        assert source == evens[-1]
        assert np.flatnonzero(allowed).tolist() == [context[source]] == [following]


def test_trials_are_whole_prompts_with_their_answers():
    """Recomputed by hand: a, b, = and a + b modulo 5."""
    trials = draw_trials(tabulate_automaton(make_task("modular", p=5)), 3, 200)
    a, b, mark = trials.contexts.T
    assert (mark == 5).all() and len(trials) == 200
    assert ((a + b) % 5 == trials.following).all()
    assert (trials.allowed.argmax(1) == trials.following).all() and (trials.allowed.sum(1) == 1).all()
    assert not trials.source.any()
