"""The lawful contexts of one length: how many break the rule, and which share, by their chances."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from glassformer.proofs.contexts import NOTHING
from glassformer.proofs.rule_search import ContextSearch, SearchParts
from glassformer.proofs.rule_weights import ContextChances

FEW = 100_000  # contexts that are sooner run through the model than searched
_RUN = 1 << 16  # contexts that are run between two looks at the clock
MANY = 1 << 20  # the same where the search of all contexts has not decided them


@dataclass(frozen=True)
class WeighedContexts:
    """Lawful contexts of one length."""

    broken: float = 0.0  # chance of those that break the rule
    left: float = 0.0  # chance of those that are undecided
    errors: int = 0  # contexts that break the rule
    open: int | None = 0  # contexts that are undecided; none: not counted
    examples: tuple[tuple[int, ...], ...] = ()  # some that break it


def weigh_contexts(
    parts: SearchParts, chances: ContextChances, until: float, most: int = FEW
) -> WeighedContexts:
    """Run all contexts that come if they are at most so many, otherwise search them."""
    if perf_counter() >= until:
        return WeighedContexts(left=1.0, open=None)
    if not parts.worst.real and (listed := chances.windows(most)):
        return _run_contexts(parts, *listed, until)
    search, length = ContextSearch(parts, chances), chances.length
    search.run(until)
    search.finish(counts_lawful=True)
    found = search.found
    counts = (found.lawful_broken[length], found.lawful_left[length])
    return WeighedContexts(found.weight_broken, found.weight_left, *counts, tuple(found.lawful_examples))


def _run_contexts(
    parts: SearchParts, contexts: np.ndarray, chance: np.ndarray, until: float
) -> WeighedContexts:
    """Every context by the model itself, some at a time, until the clock says so."""
    length = contexts.shape[1]
    demand = parts.splitter.demands.of(contexts, whole=length == parts.splitter.context)
    asked, broken, seen = np.flatnonzero(demand != NOTHING), [np.zeros(0, int)], 0
    while seen < len(asked) and perf_counter() < until:
        some = asked[seen : seen + _RUN]
        sizes = np.full(len(some), length)
        found = parts.worst.margins.deployed(contexts[some], sizes, demand[some])
        parts.worst.see(_pad_contexts(contexts[some], parts.splitter.context), sizes, found)
        broken.append(some[~(found > 0)])
        seen += len(some)
    wrong, left = np.concatenate(broken), asked[seen:]
    examples = tuple(tuple(one) for one in contexts[wrong[:64]].tolist())
    chances = float(chance[wrong].sum()), float(chance[left].sum())
    return WeighedContexts(*chances, errors=len(wrong), open=len(left), examples=examples)


def _pad_contexts(contexts: np.ndarray, positions: int) -> np.ndarray:
    """As many columns as the model has positions."""
    return np.pad(contexts, ((0, 0), (0, positions - contexts.shape[1])))
