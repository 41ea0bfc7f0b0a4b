import numpy as np
import pytest

from glassformer.proofs import rule_supports
from glassformer.proofs.contexts import tabulate_demands
from glassformer.proofs.rule_margins import ContextMargins
from glassformer.proofs.rule_nodes import Splitter, list_node_contexts
from glassformer.proofs.rule_supports import Reach, TightOps, enclose_nodes
from glassformer.proofs.tables import tabulate_model
from glassformer.tasks import make_rule, tabulate_automaton
from tests.proofs.every_context import drawn

RULE = make_rule("plus_last_even", high=3)
SLACK = 1e-9  # of mixes around 1, from sums in another order


def some_nodes(splitter, random, count=40):
    """Nodes with some tokens open at each place."""
    roots = splitter.roots()
    nodes = roots.take(random.integers(0, len(roots), count))
    for place in range(nodes.tokens.shape[1] - 1):
        inner = np.flatnonzero(nodes.length - 1 > place)
        tokens = random.random((len(inner), nodes.tokens.shape[2])) < 0.5
        tokens[np.arange(len(inner)), random.integers(0, tokens.shape[1], len(inner))] = True
        nodes.tokens[inner, place] = tokens
    return nodes


def coordinates(tables, margins, contexts, length):
    """The mixes of contexts along the axes of their heads."""
    rows = np.arange(len(contexts))
    mixes = margins.mixes(contexts, length - 1, contexts[rows, length - 1])
    parts = [(mix[:, 0].T - head.centre) @ head.axes.T for head, mix in zip(tables.heads, mixes, strict=True)]
    return np.concatenate(parts, 1)


@pytest.fixture(params=[1, 2])
def case(request):
    """Nodes with all their contexts and the mixes of those, for one head and for two."""
    model = drawn(RULE, seed=request.param, context=4, width=2 * request.param, heads=request.param)
    tables = tabulate_model(model, np.ones((4, 5), bool), 4)
    demands = tabulate_demands(tabulate_automaton(RULE))
    nodes = some_nodes(Splitter(demands, 4), np.random.default_rng(0))
    contexts, owner = list_node_contexts(nodes)
    return (
        tables,
        nodes,
        coordinates(tables, ContextMargins(model, demands, tables), contexts, nodes.length[owner]),
        owner,
    )


def extremes(values, owner, count):
    low, high = np.full((2, count, values.shape[1]), np.inf)
    np.minimum.at(low, owner, values)
    np.minimum.at(high, owner, -values)
    return low, -high


def test_listed_are_all_contexts(case):
    _, nodes, _, owner = case
    assert np.bincount(owner).tolist() == nodes.sizes()


def test_boxes_hold_all_mixes_and_hardly_more(case, monkeypatch):
    tables, nodes, mixes, owner = case
    lowest, highest = extremes(mixes, owner, len(nodes))
    low, high = enclose_nodes(tables.heads, nodes)
    assert (low <= lowest + SLACK).all() and (high >= highest - SLACK).all()
    monkeypatch.setattr(rule_supports, "ROUNDS", 12)
    low, high = enclose_nodes(tables.heads, nodes)
    # Where weights of one node are 14 powers of ten apart, rounding keeps the bound away.
    assert (
        np.isclose(low, lowest, atol=1e-6).mean() > 0.95
        and np.isclose(high, highest, atol=1e-6).mean() > 0.95
    )


def test_reach_along_any_direction(case, monkeypatch):
    tables, nodes, mixes, owner = case
    monkeypatch.setattr(rule_supports, "ROUNDS", 12)
    low, high = enclose_nodes(tables.heads, nodes)
    reach, every = Reach(tables.heads, nodes, low, high), np.arange(len(nodes))
    slope = np.random.default_rng(1).normal(size=(tables.coordinates, len(nodes)))
    width = np.where(reach.radius > 1e-12, reach.radius, np.inf)
    along = ((mixes - reach.centre[owner]) / width[owner] * slope.T[owner]).sum(1)
    highest = extremes(along[:, None], owner, len(nodes))[1][:, 0]
    found = reach.most(slope, every)
    assert (found >= highest - 1e-6).all() and (found <= np.abs(slope).sum(0) + 1e-6).all()
    if len(tables.heads) == 1:  # the heads of a context share its tokens: their sum is only bounded
        wide = (reach.radius > 1e-6).all(1)
        assert np.isclose(found[wide], highest[wide], atol=1e-5).mean() > 0.95


def test_close_units_hold_what_wide_ones_do(case):
    """Over boxes of one context both ways agree; over larger ones the close range is the smaller."""
    from glassformer.models.bounded import bound_coordinate

    tables, nodes, _, _ = case
    low, high = enclose_nodes(tables.heads, nodes)
    y = bound_coordinate(tables.ops.floats, 0, tables.coordinates, low[:, 0], high[:, 0])[None, None]
    close = TightOps(tables.ops, Reach(tables.heads, nodes, low, high)).relu(y).range()
    wide = tables.ops.relu(y).range()
    assert (close[0] >= wide[0] - SLACK).all() and (close[1] <= wide[1] + 1e-6).all()
