"""The contexts with the smallest margins seen so far, and a search for smaller ones, token by token."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int, Integer

from glassformer.proofs.contexts import NOTHING
from glassformer.proofs.rule_margins import ContextMargins, Contexts

_KEPT = 10  # contexts in the list
_TRIED = 4 * _KEPT  # of a batch that are run through the model
_SAMPLES = 4096  # random contexts that the descent chooses its starts from
_STARTS = 24  # contexts that it changes
_TURNS = 40  # tokens that it changes at most


@dataclass
class WorstContexts:
    """A list that grows better; margins are the model's own (in real numbers: those of the tables)."""

    margins: ContextMargins
    real: bool = False
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
        exact = (
            quick[rows]
            if self.real
            else self.margins.deployed(chosen, size, self.margins.demand(chosen, size))
        )
        exact = np.nan_to_num(exact, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        for context, count, margin in zip(chosen, size.tolist(), exact.tolist(), strict=True):
            self.found[tuple(context[:count].tolist())] = margin
        self.found = dict(sorted(self.found.items(), key=lambda item: item[1])[:_KEPT])

    @property
    def smallest(self) -> float:
        return min(self.found.values(), default=np.inf)

    @property
    def bound(self) -> float:
        """A margin at or above this does not belong into the list: it is full, or that context is right."""
        last = max(self.found.values()) if len(self.found) == _KEPT else np.inf
        return max(self.smallest, min(last, 0.0))


def search_worst_contexts(worst: WorstContexts, context: int, vocab: int) -> None:
    """From random contexts of every length to neighbours with smaller margins, until none is better."""
    random = np.random.default_rng(0)
    length = np.where(np.arange(_SAMPLES) % 2, context, random.integers(1, context + 1, _SAMPLES))
    contexts = random.integers(0, vocab, (_SAMPLES, context)).astype(np.uint16)
    quick = _measure_context_margins(worst.margins, contexts, length)
    best = np.argsort(quick, kind="stable")[:_STARTS]
    contexts, length, quick = contexts[best], length[best], quick[best]
    for _ in range(_TURNS):
        worst.see(contexts, length, quick)
        around = _list_context_neighbours(contexts, vocab)
        sizes = np.repeat(length, context * vocab)
        changed = _measure_context_margins(worst.margins, around, sizes).reshape(len(contexts), -1)
        choice = changed.argmin(1)
        better = changed[np.arange(len(contexts)), choice] < quick
        if not better.any():
            break
        contexts = around.reshape(len(contexts), -1, context)[np.arange(len(contexts)), choice]
        quick = changed[np.arange(len(contexts)), choice]


def _measure_context_margins(
    margins: ContextMargins, contexts: Contexts, length: Int[np.ndarray, " context"]
) -> np.ndarray:
    demand = margins.demand(contexts, length)
    found, asked = np.full(len(contexts), np.inf), np.flatnonzero(demand != NOTHING)
    found[asked] = margins.quick(contexts[asked], length[asked], demand[asked])
    return found


def _list_context_neighbours(contexts: Contexts, vocab: int) -> Integer[np.ndarray, "neighbour pos"]:
    """Every context with every token at every position, its own among them."""
    count, positions = contexts.shape
    found = np.repeat(contexts, positions * vocab, 0).reshape(count, positions, vocab, positions)
    for position in range(positions):
        found[:, position, :, position] = np.arange(vocab)
    return found.reshape(-1, positions)
