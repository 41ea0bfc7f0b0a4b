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
from glassformer.proofs.rule_nodes import OPEN, Nodes, weigh_by_size
from glassformer.proofs.rule_search import SearchParts, split_nodes
from glassformer.proofs.rule_waiting import Pace, WaitingNodes
from glassformer.proofs.rule_weights import ContextChances

_RUN = 1 << 14  # contexts of a node that are sooner run than bounded
_MOST_RUN = 1 << 23  # contexts that a checker is asked to run, all in all
_DEAR = 2e8  # products of numbers that a checker is asked for, about ten seconds
_BOX, _RUN_NAME = "box", "run"


@dataclass
class RowBudget:
    """What a checker is still asked to do."""

    products: float = _DEAR  # for boxes
    contexts: int = _MOST_RUN  # to run

    def take_boxes(self, parts: SearchParts, wanted: int) -> int:
        """How many of so many boxes there is time for."""
        model = parts.tables.model.architecture
        hidden = sum(size for name, size in _list_sizes(parts) if ".ff." in name)
        width = parts.tables.coordinates + 2
        each = width * (hidden + model.width * (model.vocab + parts.tables.coordinates))
        count = min(wanted, max(int(self.products // each), 0))
        self.products -= count * each
        return count


def _list_sizes(parts: SearchParts) -> list[tuple[str, int]]:
    return [(name, part.size) for name, part in parts.tables.model.params.items()]


@dataclass
class RowSearch:
    """One search: of all contexts of some lengths, or of the lawful ones of one."""

    parts: SearchParts
    budget: RowBudget
    chances: ContextChances | None = None
    rows: dict[int, list[list[Any]]] = field(default_factory=dict)  # by length
    waiting: WaitingNodes = field(default_factory=WaitingNodes)

    def run(self, lengths: range, until: float) -> dict[int, list[list[Any]]]:
        """Rows of these lengths; as many as the budget and the clock allow, large ones first."""
        roots = self.parts.splitter.roots()
        self.rows = {length: [] for length in lengths}
        self.push(roots.take(np.flatnonzero(np.isin(roots.length, lengths))))
        pace = Pace()
        while self.waiting.count and perf_counter() < until and self.budget.products > 0:
            self.step(self.waiting.pop(pace.batch()))
        return self.rows

    def push(self, nodes: Nodes) -> None:
        if len(nodes):
            settled = self.parts.splitter.settled(self.chances.admit(nodes)) if self.chances else nodes
            self.waiting.push(settled if self.chances else weigh_by_size(settled))

    def step(self, nodes: Nodes) -> None:
        unclear = nodes.take(np.flatnonzero(nodes.demand == OPEN))
        if len(unclear):
            self.push(self.parts.splitter.by_demand(unclear))
        asked = nodes.take(np.flatnonzero(nodes.demand > NOTHING))
        large = self.run_small(asked)
        self.bound(asked.take(large))

    def run_small(self, nodes: Nodes) -> np.ndarray:
        """Rows of contexts to run, as far as the budget goes; which nodes are left."""
        left = list[int]()
        for which, size in enumerate(nodes.sizes()):
            if size <= _RUN and size <= self.budget.contexts and not self.parts.worst.real:
                self.budget.contexts -= size
                self.add(_RUN_NAME, nodes, which)
            else:
                left.append(which)
        return np.array(left, int)

    def bound(self, nodes: Nodes) -> None:
        """Rows of nodes that a box decides, and both halves of the others."""
        nodes = nodes.take(np.arange(self.budget.take_boxes(self.parts, len(nodes))))
        if not len(nodes):
            return
        judged = judge_plain_boxes(self.parts.tables, nodes, self.parts.splitter.demands.allowed)
        is_sure = judged.is_right | judged.is_wrong
        for which in np.flatnonzero(is_sure).tolist():
            self.add(_BOX, nodes, which)
        rest = np.flatnonzero(~is_sure & (nodes.extent > 0))
        if len(rest):
            self.push(split_nodes(nodes.take(rest), judged.worth[rest]))

    def add(self, kind: str, nodes: Nodes, which: int) -> None:
        length = int(nodes.length[which])
        sets = nodes.tokens[which, :length]
        self.rows[length].append([kind, [_write_token_set(tokens) for tokens in sets]])


def _write_token_set(tokens: np.ndarray) -> str:
    """Bit t of a hexadecimal number is token t."""
    return format(sum(1 << token for token in np.flatnonzero(tokens).tolist()), "x")
