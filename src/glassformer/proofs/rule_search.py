"""Branch and bound over all contexts of a rule model: which are right, which break the rule, which are left.

A node is split until its contexts demand one thing; then a box around its mixes decides it as a whole, or it
is split at the position that matters most; a node of few contexts is enumerated. Large nodes come first, so
that the bounds are good when time runs out. A second search opens decided nodes again, as far as they might
hold a margin below the smallest that is known.

Where tables are not all that there is, because several layers attend, contexts are run by the model. Bounds
then may decide little, so all that waits is run as soon as that takes no longer than bounding has taken.
"""

from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from jaxtyping import Float

from glassformer.core.waiting import TellShare
from glassformer.models.float_format import OWN
from glassformer.models.model import Model
from glassformer.proofs.contexts import NOTHING
from glassformer.proofs.lawful import LawfulContexts
from glassformer.proofs.readout import count_scored_tokens
from glassformer.proofs.rule_boxes import NodeMargins, judge_nodes
from glassformer.proofs.rule_margins import SURE, ContextMargins
from glassformer.proofs.rule_nodes import (
    OPEN,
    Nodes,
    Splitter,
    chunk_nodes,
    draw_contexts,
    halve_nodes,
    join_nodes,
    keep_single_contexts,
    list_node_contexts,
    weigh_by_size,
)
from glassformer.proofs.rule_running import RunPlan, judge_by_one_context, know_nothing
from glassformer.proofs.rule_waiting import Pace, WaitingNodes
from glassformer.proofs.rule_weights import ContextChances
from glassformer.proofs.rule_worst import WorstContexts
from glassformer.proofs.tables import ModelTables

_EXAMPLES = 64  # lawful contexts that break the rule of which one becomes the counterexample
LEAF = 256  # contexts that are sooner enumerated than bounded
_LISTED = 1 << 16  # contexts listed at a time
_DEAR = 16  # times as long a context takes whose real margin is bounded by a pass of its own
_SAMPLED = 4  # contexts that are run of a node before it is split, where contexts are run
_RUN = 1 << 13  # contexts of a node, at most, where all that waits is run
SAME = 1e-6  # share of a margin and 1 by which another must be smaller to be worth a search


@dataclass
class SearchCounts:
    """What the search has decided, by length of the contexts."""

    broken: dict[int, int]  # contexts that break the rule
    left: dict[int, int]  # contexts that are neither proved nor refuted
    proved: int = 0  # nodes that demand something, all right
    refuted: int = 0  # such with a wrong context
    undecided: int = 0  # all others
    weight_broken: float = 0.0  # by the measure of the search
    weight_left: float = 0.0
    lawful_broken: dict[int, int] = field(default_factory=dict)  # as broken, of lawful contexts alone
    lawful_left: dict[int, int | None] = field(default_factory=dict)  # none: not counted
    lawful_examples: list[tuple[int, ...]] = field(default_factory=list)  # lawful ones that are broken


@dataclass(frozen=True, eq=False)
class SearchParts:
    """What a search works with."""

    model: Model
    tables: ModelTables | None  # none: nothing is known of a node as a whole
    rounded: ModelTables | None  # the same where rounding counts
    splitter: Splitter
    worst: WorstContexts
    lawful: LawfulContexts

    @property
    def is_alike(self) -> bool:
        """No layer attends: all contexts of one length and last token get the same logits."""
        return not any(layer.attention for layer in self.model.architecture.layers)

    def judge(self, nodes: Nodes) -> NodeMargins:
        """What is known of every node as a whole."""
        if self.is_alike:
            return judge_by_one_context(self.worst, nodes)
        if self.tables is None or self.rounded is None:
            return know_nothing(nodes)
        return judge_nodes(self.tables, self.rounded, nodes, self.splitter.demands.allowed)


class ContextSearch:
    """One search: of all contexts by their numbers, or of those of one length by their chances."""

    def __init__(self, parts: SearchParts, chances: ContextChances | None = None) -> None:
        lengths = range(1, parts.splitter.context + 1)
        self.parts, self.splitter, self.worst, self.chances = parts, parts.splitter, parts.worst, chances
        self.lawful = parts.lawful
        self.random = np.random.default_rng(0)
        self.is_run = parts.worst.margins.tables is None
        self.plan = RunPlan(parts.worst.margins, has_bounds=parts.tables is not None or parts.is_alike)
        self.found = SearchCounts(dict.fromkeys(lengths, 0), dict.fromkeys(lengths, 0))
        self.found.lawful_broken = dict.fromkeys(lengths, 0)
        self.found.lawful_left = dict.fromkeys(lengths, 0)
        self.waiting, self.decided = WaitingNodes(), list[Nodes]()
        roots = self.splitter.roots()
        self.push(roots.take(np.flatnonzero(roots.length == chances.length)) if chances else roots)

    def push(self, nodes: Nodes) -> None:
        """Let nodes wait, with their weights."""
        if len(nodes):
            self.waiting.push(
                self.splitter.settled(self.chances.admit(nodes)) if self.chances else weigh_by_size(nodes)
            )

    @property
    def margins(self) -> ContextMargins:
        return self.worst.margins

    @property
    def leaf(self) -> int:
        """Contexts that are sooner enumerated than bounded."""
        return max(LEAF // _DEAR, 1) if self.is_run and self.worst.real else LEAF

    def run(self, until: float, tell: TellShare | None = None, latest: float | None = None) -> None:
        """Until all is decided, or the clock says `until`; `latest` where all that waits is run."""
        every, pace, latest = self.waiting.weight, Pace(), max(latest or until, until)
        while self.waiting.count and perf_counter() < until:
            if self.is_run and self.plan.is_due(self.waiting.contexts, latest):
                until = latest
                self.run_some(self.waiting.pop(pace.batch(), lightest=True))
            else:
                with self.plan.bounding():
                    self.step(self.waiting.pop(pace.batch()))
            if tell:
                tell(1 - self.waiting.weight / every)

    def run_some(self, nodes: Nodes) -> None:
        """Small nodes by the model, others split: no bounds."""
        self.split_unclear(nodes)
        asked, small = nodes.demand > NOTHING, nodes.extent <= np.log(_RUN)
        self.enumerate(nodes.take(np.flatnonzero(asked & small)))
        large = nodes.take(np.flatnonzero(asked & ~small))
        if len(large):
            worth = np.broadcast_to(np.arange(large.tokens.shape[2], dtype=float), large.tokens.shape)
            self.push(split_nodes(large, worth))

    def split_unclear(self, nodes: Nodes) -> None:
        """Nodes whose contexts do not all demand the same, by what they demand."""
        unclear = nodes.take(np.flatnonzero(nodes.demand == OPEN))
        if len(unclear):
            self.push(self.splitter.by_demand(unclear))

    def open_lengths(self) -> set[int]:
        """Of contexts that wait."""
        return {length for nodes in self.waiting.all() for length in np.unique(nodes.length).tolist()}

    def finish(self, counts_lawful: bool = False) -> None:
        """Count what is left as left; its lawful contexts where that is asked for."""
        for nodes in self.waiting.all():
            self.leave(nodes, counts_lawful)

    def leave(self, nodes: Nodes, counts_lawful: bool) -> None:
        """Nothing is known of these, nor will be."""
        self.found.weight_left += float(nodes.weight.sum())
        self.found.undecided += len(nodes)
        for length, size in zip(nodes.length.tolist(), nodes.sizes(), strict=True):
            self.found.left[length] += size
        self.leave_lawful(nodes, counts_lawful)

    def step(self, nodes: Nodes) -> None:
        self.split_unclear(nodes)
        asked = nodes.demand > NOTHING
        small = (nodes.extent <= np.log(self.leaf)) & np.isfinite(nodes.off)
        self.enumerate(nodes.take(np.flatnonzero(asked & small)))
        self.bound(nodes.take(np.flatnonzero(asked & ~small)))

    def bound(self, nodes: Nodes) -> None:
        """Close what a box decides; split or list the rest."""
        nodes, judged = self.judged(nodes)
        for sure, is_wrong in ((judged.is_right, False), (judged.is_wrong, True)):
            self.close(nodes.take(np.flatnonzero(sure)), is_wrong)
        rest = np.flatnonzero(~judged.is_right & ~judged.is_wrong)
        if self.parts.is_alike:
            self.leave(nodes.take(rest), counts_lawful=True)
            return
        small = nodes.extent[rest] <= np.log(self.leaf)
        self.enumerate(nodes.take(rest[small]))
        large = rest[~small]
        if len(large):
            if self.is_run:
                self.sample(nodes.take(large))
            self.push(split_nodes(nodes.take(large), judged.worth[large]))

    def sample(self, nodes: Nodes) -> None:
        """A few contexts of nodes that no bound decides: one may be wrong."""
        owner = np.repeat(np.arange(len(nodes)), _SAMPLED)
        contexts = draw_contexts(self.random, nodes.take(owner))
        about = (contexts, nodes.length[owner])
        self.worst.see(*about, self.margins.rough(*about, nodes.demand[owner]))

    def judged(self, nodes: Nodes) -> tuple[Nodes, NodeMargins]:
        judged = self.parts.judge(nodes)
        return replace(nodes, off=judged.off, least=np.fmax(judged.least, nodes.least)), judged

    def close(self, nodes: Nodes, is_wrong: bool) -> None:
        """All contexts of these are right, or all wrong."""
        if not len(nodes):
            return
        self.decided.append(nodes.take(np.flatnonzero(nodes.least < self.lowest)))
        self.plan.closed += float(np.exp(nodes.extent).sum())
        self.found.proved += 0 if is_wrong else len(nodes)
        if is_wrong:
            if self.worst.smallest > 0:  # one of each, so that there is a counterexample
                self.seen(nodes, nodes.tokens.argmax(2), np.arange(len(nodes)))
            self.found.refuted += len(nodes)
            self.found.weight_broken += float(nodes.weight.sum())
            for length, size in zip(nodes.length.tolist(), nodes.sizes(), strict=True):
                self.found.broken[length] += size
            self.break_lawful(nodes)

    def break_lawful(self, nodes: Nodes) -> None:
        """Count the lawful contexts of nodes whose contexts are all wrong."""
        counts = self.lawful.count_nodes(nodes)
        if counts is None:
            self.leave_lawful(nodes, counts_lawful=False)
            return
        for row, (length, count) in enumerate(zip(nodes.length.tolist(), counts, strict=True)):
            self.found.lawful_broken[length] += count
            if count and len(self.found.lawful_examples) < _EXAMPLES:
                one = self.lawful.find_one(nodes.tokens[row, :length])
                self.found.lawful_examples += [one] if one else []

    def leave_lawful(self, nodes: Nodes, counts_lawful: bool) -> None:
        """The same for nodes that are left; none where there are too many to count."""
        counted = self.lawful.count_nodes(nodes) if counts_lawful else None
        counts: list[int | None] = [None] * len(nodes) if counted is None else [*counted]
        for length, count in zip(nodes.length.tolist(), counts, strict=True):
            before = self.found.lawful_left[length]
            self.found.lawful_left[length] = None if before is None or count is None else before + count

    def count_lawful(self, nodes: Nodes, contexts: np.ndarray, owner: np.ndarray, is_left: bool) -> None:
        """Single contexts that are wrong, or left."""
        for length in np.unique(nodes.length[owner]).tolist():
            some = contexts[nodes.length[owner] == length, :length]
            found = some[self.lawful.contains(some)]
            if is_left:
                before = self.found.lawful_left[length]
                self.found.lawful_left[length] = None if before is None else before + len(found)
            else:
                self.found.lawful_broken[length] += len(found)
                room = _EXAMPLES - len(self.found.lawful_examples)
                self.found.lawful_examples += [tuple(one) for one in found[: max(room, 0)].tolist()]

    def enumerate(self, nodes: Nodes) -> None:
        """Every context by itself."""
        for some in chunk_nodes(nodes, _LISTED, lambda part: np.exp(part.extent)):
            contexts, owner = list_node_contexts(some)
            is_wrong, is_left = (self.run_each if self.is_run else self.look_up)(some, contexts, owner)
            self.count(some, owner, is_wrong, is_left)
            self.count_lawful(some, contexts[is_wrong], owner[is_wrong], is_left=False)
            self.count_lawful(some, contexts[is_left], owner[is_left], is_left=True)
            if self.chances:
                self.found.weight_broken += self.chances.of_contexts(contexts[is_wrong])
                self.found.weight_left += self.chances.of_contexts(contexts[is_left])

    @property
    def sure(self) -> float:
        """How many bounds of rounding a margin of the tables must be from 0 to be trusted."""
        return SURE if self.margins.is_certain else np.inf

    def look_up(self, nodes: Nodes, contexts: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which contexts are wrong, and which open: by the tables, where these are not too close."""
        quick, bound = self.seen(nodes, contexts, owner), self.sure * nodes.off[owner]
        is_right, is_wrong = quick > bound, quick < -bound
        unsure, is_left = np.flatnonzero(~is_right & ~is_wrong), np.zeros(len(contexts), bool)
        if len(unsure):
            is_wrong[unsure], is_left[unsure] = self.closely(nodes.take(owner[unsure]), contexts[unsure])
        return is_wrong, is_left

    def run_each(
        self, nodes: Nodes, contexts: np.ndarray, owner: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same by the model itself, or by bounds of its real margins."""
        about = (contexts, nodes.length[owner], nodes.demand[owner])
        if not self.worst.real:
            margin = self.margins.deployed(*about)
            self.worst.see(contexts, about[1], margin)
            return ~(margin > 0), np.zeros(len(contexts), bool)
        least, most = self.margins.enclosed(*about)
        self.worst.see(contexts, about[1], least)
        return most <= 0, ~(most <= 0) & ~(least > 0)

    def closely(self, nodes: Nodes, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which contexts, one per node, are wrong, and which are open: none if the model may be asked."""
        if not self.worst.real:
            is_wrong = ~(self.margins.deployed(contexts, nodes.length, nodes.demand) > 0)
            return is_wrong, np.zeros(len(nodes), bool)
        judged = self.judged(keep_single_contexts(nodes, contexts))[1]
        return judged.is_wrong, ~judged.is_wrong & ~judged.is_right

    def seen(self, nodes: Nodes, contexts: np.ndarray, owner: np.ndarray) -> Float[np.ndarray, " context"]:
        """Margins from the tables, the worst of them noted."""
        quick = self.margins.quick(contexts, nodes.length[owner], nodes.demand[owner])
        self.worst.see(contexts, nodes.length[owner], quick)
        return quick

    def count(self, nodes: Nodes, owner: np.ndarray, is_wrong: np.ndarray, is_left: np.ndarray) -> None:
        for chosen, into in ((is_wrong, self.found.broken), (is_left, self.found.left)):
            for size, number in zip(*np.unique(nodes.length[owner[chosen]], return_counts=True), strict=True):
                into[int(size)] += int(number)
        refuted = np.unique(owner[is_wrong])
        unclear = np.setdiff1d(owner[is_left], refuted)
        self.found.refuted += len(refuted)
        self.found.undecided += len(unclear)
        self.found.proved += len(nodes) - len(refuted) - len(unclear)

    @property
    def lowest(self) -> float:
        """Nodes that have no smaller margins than this need not be opened."""
        return self.worst.bound - SAME * (1 + abs(self.worst.smallest))

    def narrow(self, until: float) -> float:
        """Opens decided nodes that might hold a smaller margin; no real margin of theirs is below this."""
        waiting, pace = join_nodes([self.splitter.roots().take(np.zeros(0, int)), *self.decided]), Pace()
        while len(waiting) and perf_counter() < until:
            waiting = waiting.take(np.flatnonzero(waiting.least < self.lowest))
            order, count = np.argsort(waiting.least, kind="stable"), pace.batch()
            chosen, waiting = waiting.take(order[:count]), waiting.take(order[count:])
            waiting = join_nodes([waiting, self.opened(chosen)])
        floor = self.worst.smallest - SAME * (1 + abs(self.worst.smallest))
        return min(floor, float(waiting.least.min(initial=np.inf)))

    def opened(self, nodes: Nodes) -> Nodes:
        """Lists small nodes, and splits those large ones whose own bound is too low."""
        small = nodes.extent <= np.log(self.leaf)
        for some in chunk_nodes(nodes.take(np.flatnonzero(small)), _LISTED, lambda part: np.exp(part.extent)):
            self.seen(some, *list_node_contexts(some))
        large, judged = self.judged(nodes.take(np.flatnonzero(~small)))
        low = np.flatnonzero(large.least < self.lowest)
        return split_nodes(large.take(low), judged.worth[low])

    def rounding(self, context: tuple[int, ...]) -> float:
        """How far rounding may move the margin of one context."""
        if self.is_run:
            logits = self.margins.bounded_logits(np.array([context]), real=False)
            scored = count_scored_tokens(self.parts.model.architecture)
            return float(2 * logits.off[:scored].max() * (1 + OWN))
        roots, length = self.splitter.roots(), len(context)
        padded = np.array([[*context, *[0] * (self.splitter.context - length)]])
        own = roots.take(np.flatnonzero((roots.length == length) & (roots.asking == context[-1])))
        return float(self.judged(self.splitter.settled(keep_single_contexts(own, padded)))[1].off[0])


def split_nodes(nodes: Nodes, worth: Float[np.ndarray, "node pos tok"]) -> Nodes:
    """At the position where the open tokens' worths are furthest apart."""
    most = np.where(nodes.tokens, worth, -np.inf).max(2)
    spread = most - np.where(nodes.tokens, worth, np.inf).min(2)
    position = np.where(nodes.widths > 1, spread, -1.0).argmax(1)
    return halve_nodes(nodes, position, worth[np.arange(len(nodes)), position])
