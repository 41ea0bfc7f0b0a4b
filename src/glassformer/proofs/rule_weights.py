"""How likely contexts are in the task's own sequences.

A full window of n tokens is drawn as in training: n + 1 tokens at a random start of a sequence, of which the
model sees the first n. A shorter context is the beginning of a sequence. `ContextChances` gives the
probability that what was drawn is among the contexts of a node, among listed ones, or among those that demand
something. Most contexts never come: counting 0..9 leaves ten of 10^10.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from glassformer.proofs.contexts import NOTHING, Demands
from glassformer.proofs.rule_nodes import Nodes, join_nodes
from glassformer.tasks.automaton import Automaton, compute_state_distribution
from glassformer.tasks.knowledge import list_window_starts
from glassformer.tasks.sequences import Sequences

_CHUNK = 1 << 22  # numbers at a time
_HARDLY = 1e-40  # a chance that no sum of chances is changed by
_DEAR = 1_000_000  # moves in a window beyond which open tokens are left as they are


class _ChanceMoves(NamedTuple):
    """States, tokens and the states that they lead to, with their chances."""

    state: Int[np.ndarray, " move"]
    token: Int[np.ndarray, " move"]
    reached: Int[np.ndarray, " move"]
    chance: Float[np.ndarray, " move"]

    @staticmethod
    def gathered(
        by: Int[np.ndarray, " move"], flow: Float[np.ndarray, "node move"], count: int
    ) -> np.ndarray:
        """Sums of the flow, `node count`."""
        rows = np.arange(len(flow))[:, None] * count + by
        found: np.ndarray = np.bincount(rows.ravel(), flow.ravel(), len(flow) * count)
        return found.reshape(len(flow), count)


class _ContextBeliefs(NamedTuple):
    """The chance of each state for groups of contexts with the same tokens so far."""

    group: Int[np.ndarray, " entry"]
    state: Int[np.ndarray, " entry"]
    weight: Float[np.ndarray, " entry"]


@dataclass(frozen=True, eq=False)
class ContextChances:
    """Of windows, or of beginnings, of so many tokens."""

    automaton: Automaton
    length: int
    prior: Float[np.ndarray, " state"]  # the chance of each state before the first token

    @cached_property
    def moves(self) -> _ChanceMoves:
        """All that the generator does."""
        state, token = np.nonzero(self.automaton.probability)
        reached = self.automaton.next[state, token].astype(np.int64)
        return _ChanceMoves(state, token, reached, self.automaton.probability[state, token])

    def admit(self, nodes: Nodes) -> Nodes:
        """Nodes with their chances; tokens that no window has are closed, nodes without a window dropped."""
        size = self.length * (len(self.prior) + len(self.moves.state))
        step = max(_CHUNK // size, 1)
        parts = [
            self.admit_some(nodes.take(np.arange(i, min(i + step, len(nodes)))))
            for i in range(0, len(nodes), step)
        ]
        return join_nodes(parts) if parts else nodes

    def admit_some(self, nodes: Nodes) -> Nodes:
        moves, belief = self.moves, np.repeat(self.prior[None], len(nodes), 0)  # node state
        before = []
        for place in range(self.length):
            before.append(belief)
            flow = belief[:, moves.state] * (moves.chance * nodes.tokens[:, place][:, moves.token])
            belief = moves.gathered(moves.reached, flow, len(self.prior))
        nodes = replace(nodes, weight=belief.sum(1))
        if self.length * len(moves.state) <= _DEAR:
            nodes = replace(nodes, tokens=self.tightened(nodes.tokens, before))
        return nodes.take(np.flatnonzero(nodes.weight > 0))

    def tightened(self, tokens: np.ndarray, before: list[np.ndarray]) -> Bool[np.ndarray, "node pos tok"]:
        """The open tokens that a window of the node has."""
        moves, found = self.moves, tokens.copy()
        goes_on = np.ones((len(tokens), len(self.prior)), bool)  # node state: the rest of the window can come
        for place in range(self.length - 1, -1, -1):
            can = tokens[:, place][:, moves.token] & goes_on[:, moves.reached]  # node move
            goes_on = moves.gathered(moves.state, can.astype(float), len(self.prior)) > 0
            used = can & (before[place] > 0)[:, moves.state]
            found[:, place] = moves.gathered(moves.token, used.astype(float), tokens.shape[2]) > 0
        return found

    def of_contexts(self, contexts: Integer[np.ndarray, "context pos"]) -> float:
        """The chance of different contexts, all in all: beliefs are carried along what they share."""
        vocab, group = len(self.automaton.tokens), np.zeros(len(contexts), np.int64)  # by the tokens so far
        beliefs = self.nothing_read()
        for tokens in contexts.T[: self.length].astype(np.int64):
            branch, group = np.unique(group * vocab + tokens, return_inverse=True)
            beliefs, group = self.read(beliefs, branch), np.ravel(group)
        return float(beliefs.weight.sum())

    def windows(
        self, most: int
    ) -> tuple[Integer[np.ndarray, "context pos"], Float[np.ndarray, " context"]] | None:
        """All contexts that come, with their chances; none where there are more than `most`."""
        vocab, beliefs = len(self.automaton.tokens), self.nothing_read()
        contexts = np.zeros((1, 0), np.uint16)
        for _ in range(self.length):
            entry, token = np.nonzero(self.automaton.probability[beliefs.state])
            branch = np.unique(beliefs.group[entry] * vocab + token)
            if len(branch) > most:
                return None
            beliefs = self.read(beliefs, branch)
            contexts = np.column_stack([contexts[branch // vocab], (branch % vocab).astype(np.uint16)])
        return contexts, np.bincount(beliefs.group, beliefs.weight, len(contexts))

    def nothing_read(self) -> "_ContextBeliefs":
        state = np.flatnonzero(self.prior)
        return _ContextBeliefs(np.zeros(len(state), np.int64), state, self.prior[state])

    def read(self, beliefs: "_ContextBeliefs", branch: Int[np.ndarray, " branch"]) -> "_ContextBeliefs":
        """After one token more; a branch is group x vocabulary + token, and becomes a group."""
        automaton, states = self.automaton, len(self.automaton.states)
        parent, token = np.divmod(branch, len(automaton.tokens))
        entry, child = _join_children(beliefs.group, parent)
        weight = beliefs.weight[entry] * automaton.probability[beliefs.state[entry], token[child]]
        entry, child, weight = entry[weight > 0], child[weight > 0], weight[weight > 0]
        reached = automaton.next[beliefs.state[entry], token[child]]
        place, same = np.unique(child * states + reached, return_inverse=True)
        group, state = np.divmod(place, states)
        return _ContextBeliefs(group, state, np.bincount(np.ravel(same), weight, minlength=len(place)))

    def constrained(self, demands: Demands) -> float:
        """The chance of a window that demands something."""
        automaton, reads = self.automaton, len(demands.next)
        chance = np.zeros((reads, len(automaton.states)))  # of the tokens read, given the state before them
        chance[0] = 1
        for _ in range(self.length):
            longer = np.zeros_like(chance)
            for token, step in enumerate(automaton.next.T):
                np.add.at(longer, demands.next[:, token], automaton.probability[:, token] * chance[:, step])
            chance = longer
        return float((chance[demands.window != NOTHING] @ self.prior).sum())


def make_window_chances(automaton: Automaton, data: Sequences, length: int) -> ContextChances:
    """Of full windows, wherever they start; a state that these sequences never reach has next to none."""
    occurring = np.zeros(len(automaton.states))
    occurring[list_window_starts(automaton)] = _HARDLY
    if data.min_length <= length:  # no sequence holds a window: all states are alike
        return ContextChances(automaton, length, occurring / occurring.sum())
    starts = data.start_chances(length + 1)
    prior = starts @ compute_state_distribution(automaton, len(starts))
    return ContextChances(automaton, length, np.maximum(prior, occurring))


def make_beginning_chances(automaton: Automaton, length: int) -> ContextChances:
    return ContextChances(automaton, length, compute_state_distribution(automaton, 1)[0])


def _join_children(
    groups: Int[np.ndarray, " entry"], parents: Int[np.ndarray, " child"]
) -> tuple[Int[np.ndarray, " pair"], Int[np.ndarray, " pair"]]:
    """Every pair of an entry and a child of its group; parents are sorted."""
    first, stop = np.searchsorted(parents, groups, "left"), np.searchsorted(parents, groups, "right")
    counts = stop - first
    entry = np.repeat(np.arange(len(groups)), counts)
    offset = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    return entry, first[entry] + offset
