"""Boxes around the mixes of sets of contexts hold the mixes of all their contexts."""

import numpy as np

from glassformer.checker.bounds import ClaimError
from glassformer.checker.reading import HeadAxes
from glassformer.checker.rule_boxes import LedSets, require_leaders
from glassformer.checker.tables import make_token_tables
from glassformer.tasks import make_rule
from tests.proofs.every_context import all_contexts, drawn


def test_no_leader_is_confirmed_that_a_context_refutes(precise):
    """Random sets: what is confirmed is so for every context, and something is confirmed."""
    rule, random, n = make_rule("lucky7", low=4, high=8), np.random.default_rng(0), 3
    model = drawn(rule, 1, context=n)
    vocab = len(rule.tokens())
    tables = make_token_tables(model.architecture, model.params, np.ones((n, vocab), bool), "float32")
    axes = tuple(HeadAxes(np.zeros(2), np.eye(2)) for _ in tables.heads)
    contexts, confirmed = all_contexts(vocab, n), 0
    logits = model.logits(contexts.T, last=1)[:, 0]
    for _ in range(40):
        sets = random.random((n, vocab)) < 0.4
        sets[np.arange(n), random.integers(0, vocab, n)] = True
        sets[-1] = np.arange(vocab) == random.integers(0, vocab)
        inside = sets[np.arange(n), contexts].all(1)
        leader = int(logits[:, inside][:, 0].argmax())
        rivals = np.arange(vocab) != leader
        try:
            require_leaders(tables, axes, LedSets(sets[None], np.array([leader]), rivals[None], ("a set",)))
        except ClaimError:
            continue
        confirmed += 1
        assert (logits[:, inside].argmax(0) == leader).all()
    assert confirmed > 5
