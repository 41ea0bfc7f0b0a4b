"""Sets of contexts: whatever splits them loses no context and has none twice."""

from collections import Counter

import numpy as np
import pytest

from glassformer.proofs.contexts import tabulate_demands
from glassformer.proofs.rule_nodes import (
    OPEN,
    Splitter,
    chunk_nodes,
    halve_nodes,
    join_nodes,
    list_node_contexts,
    weigh_by_size,
)
from glassformer.tasks import make_rule, tabulate_automaton
from tests.proofs.every_context import TINY

CONTEXT = 3
NAMES = ["plus_last_even", "lucky7", "parity_based"]


def splitter(name):
    return Splitter(tabulate_demands(tabulate_automaton(make_rule(name, **TINY[name]))), CONTEXT)


def contexts_of(nodes):
    """Every context of every node, as often as it comes; places beyond the length do not count."""
    contexts, owner = list_node_contexts(nodes)
    return Counter(
        tuple(row[: nodes.length[node]].tolist()) for row, node in zip(contexts, owner, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_roots_are_all_contexts_once(name):
    nodes = splitter(name).roots()
    vocab = nodes.tokens.shape[2]
    found = contexts_of(nodes)
    assert set(found.values()) == {1}
    assert len(found) == sum(nodes.sizes()) == sum(vocab**length for length in range(1, CONTEXT + 1))
    assert all(context[-1] in nodes.asking for context in found)


@pytest.mark.parametrize("name", NAMES)
def test_children_by_demand_are_their_parents_and_end_with_one_demand(name):
    split = splitter(name)
    nodes = split.roots()
    for _ in range(CONTEXT):
        undecided = nodes.demand == OPEN
        children = split.by_demand(nodes.take(np.flatnonzero(undecided)))
        assert contexts_of(children) == contexts_of(nodes.take(np.flatnonzero(undecided)))
        nodes = join_nodes([nodes.take(np.flatnonzero(~undecided)), children])
    assert (nodes.demand != OPEN).all()
    contexts, owner = list_node_contexts(nodes)
    for length in range(1, CONTEXT + 1):
        those = nodes.length[owner] == length
        asked = split.demands.of(contexts[those][:, :length], length == CONTEXT)
        assert (asked == nodes.demand[owner[those]]).all()


@pytest.mark.parametrize("worth", ["drawn", "equal", "huge"])
def test_halves_are_neither_empty_nor_shared(worth):
    nodes = splitter("plus_last_even").roots()
    nodes = nodes.take(np.flatnonzero(nodes.length == CONTEXT))
    random = np.random.default_rng(0)
    drawn = random.normal(size=(len(nodes), nodes.tokens.shape[2]))
    values = {"drawn": drawn, "equal": 0 * drawn, "huge": 1.7e308 * np.sign(drawn)}[worth]
    with np.errstate(over="ignore"):
        halves = halve_nodes(nodes, random.integers(0, CONTEXT - 1, len(nodes)), values)
    assert min(halves.sizes()) > 0
    assert contexts_of(halves) == contexts_of(nodes)


def test_weights_and_chunks():
    nodes = weigh_by_size(splitter("plus_last_even").roots())
    assert nodes.weight[nodes.length == CONTEXT].sum() == pytest.approx(1)
    assert nodes.weight[nodes.length < CONTEXT].sum() == pytest.approx((CONTEXT - 1) / CONTEXT)
    parts = chunk_nodes(nodes, 5, lambda some: np.ones(len(some)))
    assert max(len(part) for part in parts) <= 5
    assert (join_nodes(parts).tokens == nodes.tokens).all()
