"""When contexts are run, and what one context says of others."""

import numpy as np

from glassformer.proofs import rule_running
from glassformer.proofs.rule_running import RunPlan, know_nothing


def make_plan(cost=1e-3, has_bounds=True):
    plan = RunPlan(None, has_bounds)
    plan.cost = cost
    return plan


def test_all_is_run_once_that_takes_no_longer_than_bounding_took():
    plan = make_plan()
    assert not plan.is_due(1.0, np.inf)  # nothing was bounded yet
    plan.spent = 1.0
    assert not plan.is_due(2000.0, np.inf)
    assert plan.is_due(900.0, np.inf)
    assert plan.is_due(1e9, np.inf)  # once begun it goes on


def test_what_cannot_be_run_in_time_is_bounded(monkeypatch):
    monkeypatch.setattr(rule_running, "perf_counter", lambda: 100.0)
    plan = make_plan()
    plan.spent, plan.closed = 10.0, 1e9
    assert not plan.is_due(900.0, until=100.5)
    assert plan.is_due(900.0, until=101.0)


def test_bounds_that_decide_little_give_way_where_a_good_part_can_be_run(monkeypatch):
    monkeypatch.setattr(rule_running, "perf_counter", lambda: 100.0)
    slow, good, hopeless = make_plan(), make_plan(), make_plan()
    for plan in (slow, good, hopeless):
        plan.spent = 5.0
    good.closed = 1e7
    assert slow.is_due(50_000.0, until=101.0)
    assert not good.is_due(50_000.0, until=101.0)
    assert not hopeless.is_due(1e9, until=101.0)


def test_without_bounds_there_is_no_other_way():
    assert make_plan(has_bounds=False).is_due(1e300, 0.0)


def test_nothing_known_decides_nothing():
    from glassformer.proofs.contexts import tabulate_demands
    from glassformer.proofs.rule_nodes import Splitter
    from glassformer.tasks import make_rule, tabulate_automaton

    nodes = Splitter(tabulate_demands(tabulate_automaton(make_rule("successor", high=4))), 3).roots()
    known = know_nothing(nodes)
    assert not known.is_right.any() and not known.is_wrong.any() and (known.least == -np.inf).all()
