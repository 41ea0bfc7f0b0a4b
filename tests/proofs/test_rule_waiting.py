"""Nodes that wait: none is lost, and the heavy ones come first."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.proofs import rule_waiting
from glassformer.proofs.contexts import tabulate_demands
from glassformer.proofs.rule_nodes import Splitter
from glassformer.proofs.rule_waiting import WaitingNodes
from glassformer.tasks import make_rule, tabulate_automaton

WEIGHTS = 2.0 ** np.array([-3, 4, 0, -9, 4, 2, 0, -1])


@pytest.fixture
def waiting():
    roots = Splitter(tabulate_demands(tabulate_automaton(make_rule("successor"))), 2).roots()
    found = WaitingNodes()
    found.push(replace(roots.take(np.arange(len(WEIGHTS))), weight=WEIGHTS))
    return found


def popped(waiting, most):
    found = []
    while waiting.count:
        found.append(waiting.pop(most))
        assert len(found[-1]) <= most
    return np.concatenate([nodes.weight for nodes in found])


@pytest.mark.parametrize("most", [1, 3, 100])
def test_the_heaviest_come_first_and_none_is_lost(waiting, most):
    assert waiting.weight == WEIGHTS.sum()
    assert popped(waiting, most).tolist() == sorted(WEIGHTS, reverse=True)
    assert (waiting.count, waiting.bytes, waiting.all()) == (0, 0, [])


def test_the_lightest_come_first_where_memory_runs_short(waiting, monkeypatch):
    monkeypatch.setattr(rule_waiting, "_HELD", -1)
    assert popped(waiting, 1).tolist() == sorted(WEIGHTS)
