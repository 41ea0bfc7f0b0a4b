"""The contexts with the smallest margins seen so far, and a search for smaller ones, token by token."""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from jaxtyping import Float, Int, Integer

from glassformer.proofs.contexts import NOTHING
from glassformer.proofs.rule_margins import ContextMargins, Contexts

_KEPT = 10  # contexts in the list
_TRIED = 4 * _KEPT  # of a batch that are run through the model
_SAMPLES = 4096  # random contexts that the descent chooses its starts from
_STARTS = 24  # contexts that it changes
_TURNS = 40  # tokens that it changes at most
_MOST_RUN = 1 << 14  # neighbours of a turn where the model itself is run


@dataclass
class WorstContexts:
    """A list that grows better; margins are the model's own (in real numbers: of the tables, or bounds)."""

    margins: ContextMargins
    found: dict[tuple[int, ...], float] = field(default_factory=dict)  # context -> margin

    def see(
        self, contexts: Contexts, length: Int[np.ndarray, " context"], quick: Float[np.ndarray, " context"]
    ) -> None:
        """Contexts that might belong into the list."""
        quick = np.nan_to_num(
            quick, nan=-np.inf, posinf=np.inf, neginf=-np.inf
        )  # overflow is as bad as can be
        rows = np.flatnonzero(quick < self.bound)
        rows = rows[np.argsort(quick[rows], kind="stable")[:_TRIED]]
        if not len(rows):
            return
        chosen, size = contexts[rows], length[rows]
        exact = self.measure(chosen, size, quick[rows])
        exact = np.nan_to_num(exact, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        for context, count, margin in zip(chosen, size.tolist(), exact.tolist(), strict=True):
            self.found[tuple(context[:count].tolist())] = margin
        self.found = dict(sorted(self.found.items(), key=lambda item: item[1])[:_KEPT])

    def measure(self, contexts: Contexts, length: np.ndarray, quick: np.ndarray) -> np.ndarray:
        """The margins that are listed; of real numbers without tables no more than they are."""
        if self.real and self.margins.tables:
            return quick
        demand = self.margins.demand(contexts, length)
        if self.real:
            return self.margins.enclosed(contexts, length, demand).least
        return self.margins.deployed(contexts, length, demand)

    @property
    def real(self) -> bool:
        return self.margins.real

    def list_broken(self) -> list[tuple[int, ...]]:
        """Those that surely break the rule, the worst first."""
        broken = [context for context, margin in self.found.items() if margin <= 0]
        return [one for one in broken if self.is_broken(one)] if self.real else broken

    def is_broken(self, context: tuple[int, ...]) -> bool:
        """Whether it surely breaks the rule in real numbers."""
        tokens, length = np.array([context]), np.array([len(context)])
        padded = np.pad(tokens, ((0, 0), (0, self.margins.model.architecture.context - len(context))))
        return bool(self.margins.enclosed(padded, length, self.margins.demand(padded, length)).most[0] <= 0)

    @property
    def smallest(self) -> float:
        return min(self.found.values(), default=np.inf)

    @property
    def bound(self) -> float:
        """A margin at or above this does not belong into the list: it is full, or that context is right."""
        last = max(self.found.values()) if len(self.found) == _KEPT else np.inf
        return max(self.smallest, min(last, 0.0))


def search_worst_contexts(worst: WorstContexts, context: int, vocab: int, until: float = np.inf) -> None:
    """From random contexts of every length to neighbours with smaller margins, until none is better."""
    random = np.random.default_rng(0)
    length = np.where(np.arange(_SAMPLES) % 2, context, random.integers(1, context + 1, _SAMPLES))
    contexts = random.integers(0, vocab, (_SAMPLES, context)).astype(np.uint16)
    quick = _measure_context_margins(worst.margins, contexts, length)
    best = np.argsort(quick, kind="stable")[: _count_starts(worst, context * vocab)]
    contexts, length, quick = contexts[best], length[best], quick[best]
    for _ in range(_TURNS):
        worst.see(contexts, length, quick)
        around = _list_context_neighbours(contexts, vocab)
        sizes = np.repeat(length, context * vocab)
        changed = _measure_context_margins(worst.margins, around, sizes).reshape(len(contexts), -1)
        choice = changed.argmin(1)
        better = changed[np.arange(len(contexts)), choice] < quick
        if not better.any() or perf_counter() >= until:
            break
        contexts = around.reshape(len(contexts), -1, context)[np.arange(len(contexts)), choice]
        quick = changed[np.arange(len(contexts)), choice]


def _count_starts(worst: WorstContexts, neighbours: int) -> int:
    """Fewer where each has many neighbours and running takes its time."""
    return _STARTS if worst.margins.tables else max(min(_STARTS, _MOST_RUN // neighbours), 1)


def _measure_context_margins(
    margins: ContextMargins, contexts: Contexts, length: Int[np.ndarray, " context"]
) -> np.ndarray:
    demand = margins.demand(contexts, length)
    found, asked = np.full(len(contexts), np.inf), np.flatnonzero(demand != NOTHING)
    found[asked] = margins.rough(contexts[asked], length[asked], demand[asked])
    return found


def _list_context_neighbours(contexts: Contexts, vocab: int) -> Integer[np.ndarray, "neighbour pos"]:
    """Every context with every token at every position, its own among them."""
    count, positions = contexts.shape
    found = np.repeat(contexts, positions * vocab, 0).reshape(count, positions, vocab, positions)
    for position in range(positions):
        found[:, position, :, position] = np.arange(vocab)
    return found.reshape(-1, positions)
