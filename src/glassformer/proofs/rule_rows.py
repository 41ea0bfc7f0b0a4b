"""All contexts of a rule divided into rows that another program can check: boxes, and small sets to run.

A search of its own, after the proof: a checker bounds a box as a whole, which takes it as long as running
thousands of contexts. So a node becomes a row as soon as it has few contexts (`run`) or a plain box around
its mixes decides it (`box`), and is split otherwise. What the budget leaves is in no row, and stays open.
"""

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from glassformer.proofs.contexts import NOTHING
from glassformer.proofs.rule_boxes import judge_plain_boxes
from glassformer.proofs.rule_nodes import OPEN, Nodes, list_node_contexts, weigh_by_size
from glassformer.proofs.rule_search import SearchParts, split_nodes
from glassformer.proofs.rule_waiting import Pace, WaitingNodes
from glassformer.proofs.rule_weights import ContextChances

_RUN = 1 << 14  # contexts of a node that are sooner run than bounded
_MOST_RUN = 1 << 22  # contexts that a checker is asked to run, all in all: a few seconds
_DEAR = 1.2e6  # products of numbers that a checker is asked for: some ten seconds
BOX, _RUN_NAME = "box", "run"
Example = tuple[int, ...]


@dataclass
class RowBudget:
    """What a checker is still asked to do."""

    products: float = _DEAR  # for boxes
    contexts: int = _MOST_RUN  # to run

    def take_box(self, parts: SearchParts) -> bool:
        """Whether there is time for one more box."""
        assert parts.tables
        model, across = parts.model, parts.tables.coordinates
        hidden = sum(part.size for name, part in model.params.items() if ".ff." in name)
        size = model.architecture.width * (model.architecture.vocab + across)
        self.products -= (across + 2) * (hidden + size)
        return self.products > 0


@dataclass
class LengthRows:
    """Rows of one length, and what they decide."""

    rows: Any = field(default_factory=list)  # or the word for all lawful ones, listed
    covered: int = 0  # contexts
    broken: int = 0
    lawful: int = 0  # counted in a search of lawful contexts alone
    lawful_broken: int = 0
    example: Example | None = None  # one that is broken
    lawful_example: Example | None = None


@dataclass
class RowSearch:
    """One search: of all contexts of some lengths, or of the lawful ones of one."""

    parts: SearchParts
    budget: RowBudget
    chances: ContextChances | None = None
    found: dict[int, LengthRows] = field(default_factory=dict)  # by length
    waiting: WaitingNodes = field(default_factory=WaitingNodes)

    def begin(self, lengths: list[int]) -> None:
        """From all contexts of these lengths."""
        roots = self.parts.splitter.roots()
        self.found = {length: LengthRows() for length in lengths}
        self.push(roots.take(np.flatnonzero(np.isin(roots.length, lengths))))

    def run(self, until: float) -> dict[int, LengthRows]:
        """As many rows as the budget and the clock allow, large ones first."""
        pace = Pace()
        while self.waiting.count and perf_counter() < until and self.budget.products > 0:
            self.step(self.waiting.pop(pace.batch()))
        return self.found

    def push(self, nodes: Nodes) -> None:
        if len(nodes):
            settled = self.parts.splitter.settled(self.chances.admit(nodes)) if self.chances else nodes
            self.waiting.push(settled if self.chances else weigh_by_size(settled))

    def step(self, nodes: Nodes) -> None:
        unclear = nodes.take(np.flatnonzero(nodes.demand == OPEN))
        if len(unclear):
            self.push(self.parts.splitter.by_demand(unclear))
        asked = nodes.take(np.flatnonzero(nodes.demand > NOTHING))
        self.bound(asked.take(self.run_small(asked)))

    def run_small(self, nodes: Nodes) -> np.ndarray:
        """Rows of contexts to run, as far as the budget goes; which nodes are left."""
        left = list[int]()
        for which, size in enumerate(nodes.sizes()):
            if size <= min(_RUN, self.budget.contexts) and not self.parts.worst.real:
                self.budget.contexts -= size
                self.add_run(nodes.take(np.array([which])), size)
            else:
                left.append(which)
        return np.array(left, int)

    def bound(self, nodes: Nodes) -> None:
        """Rows of nodes that a box decides, and both halves of the others."""
        if not len(nodes):
            return
        if not has_boxes(self.parts):
            self.split_affordable(nodes)
            return
        assert self.parts.tables
        judged, leader = judge_plain_boxes(self.parts.tables, nodes, self.parts.splitter.demands.allowed)
        is_sure = judged.is_right | judged.is_wrong
        for which in np.flatnonzero(is_sure).tolist():
            one = nodes.take(np.array([which]))
            if self.budget.take_box(self.parts):
                self.add_box(one, bool(judged.is_wrong[which]), int(leader[which]))
            else:
                self.push(one)
        rest = np.flatnonzero(~is_sure & (nodes.extent > 0))
        if len(rest):
            self.push(split_nodes(nodes.take(rest), judged.worth[rest]))

    def split_affordable(self, nodes: Nodes) -> None:
        """Where no box can be checked: halves of those that there is still room to run."""
        if self.parts.worst.real:
            return
        rows = [which for which, size in enumerate(nodes.sizes()) if size <= self.budget.contexts]
        if rows:
            worth = np.broadcast_to(np.arange(nodes.tokens.shape[2], dtype=float), nodes.tokens.shape)
            self.push(split_nodes(nodes.take(np.array(rows)), worth[rows]))

    def add_run(self, node: Nodes, size: int) -> None:
        """All contexts of the node by the model itself."""
        into, length, lawful = self.add(_RUN_NAME, node), int(node.length[0]), self.parts.lawful
        contexts = list_node_contexts(node)[0]
        demand, lengths = np.full(size, node.demand[0]), np.full(size, length)
        broken = ~(self.parts.worst.margins.deployed(contexts, lengths, demand) > 0)
        is_lawful = lawful.contains(contexts[:, :length] if self.chances else contexts[broken, :length])
        into.covered, into.broken = into.covered + size, into.broken + int(broken.sum())
        into.lawful += int(is_lawful.sum()) if self.chances else 0
        lawful_broken = contexts[broken][is_lawful[broken] if self.chances else is_lawful]
        into.lawful_broken += len(lawful_broken)
        into.example = into.example or _take_first(contexts[broken, :length])
        into.lawful_example = into.lawful_example or _take_first(lawful_broken[:, :length])

    def add_box(self, node: Nodes, is_wrong: bool, leader: int) -> None:
        """A node that is right, or wrong, as a whole."""
        into, length, (size,) = self.add(BOX, node), int(node.length[0]), node.sizes()
        into.rows[-1].append(leader)
        sets = node.tokens[0, :length]
        into.covered, into.broken = into.covered + size, into.broken + size * is_wrong
        lawful = self.parts.lawful.count_sets(sets) if is_wrong or self.chances else 0
        into.lawful, into.lawful_broken = into.lawful + lawful, into.lawful_broken + lawful * is_wrong
        if is_wrong:
            into.example = into.example or tuple(sets.argmax(1).tolist())
            into.lawful_example = into.lawful_example or self.parts.lawful.find_one(sets)

    def add(self, kind: str, node: Nodes) -> LengthRows:
        into, sets = self.found[int(node.length[0])], node.tokens[0, : int(node.length[0])]
        into.rows.append([kind, [_write_token_set(tokens) for tokens in sets]])
        return into


def has_boxes(parts: SearchParts) -> bool:
    """Whether a checker can follow boxes: tables are all there is."""
    return parts.tables is not None and not parts.tables.is_enclosed


def _take_first(contexts: np.ndarray) -> Example | None:
    return tuple(contexts[0].tolist()) if len(contexts) else None


def _write_token_set(tokens: np.ndarray) -> str:
    """Bit t of a hexadecimal number is token t."""
    return format(sum(1 << token for token in np.flatnonzero(tokens).tolist()), "x")
