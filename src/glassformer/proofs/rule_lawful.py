"""The contexts that the task's own sequences have: which share of them breaks the rule, by their chances."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from glassformer.proofs.contexts import NOTHING
from glassformer.proofs.rule_search import ContextSearch, SearchParts
from glassformer.proofs.rule_weights import ContextChances

FEW = 100_000  # contexts that are sooner run through the model than searched


class WeighedContexts(NamedTuple):
    """Chances of contexts of one length."""

    broken: float = 0.0  # that break the rule
    left: float = 0.0  # that are undecided


def weigh_contexts(parts: SearchParts, chances: ContextChances, until: float) -> WeighedContexts:
    """Run all contexts that come if they are few, otherwise search them."""
    if perf_counter() >= until:
        return WeighedContexts(left=1.0)
    if not parts.worst.real and (found := chances.windows(FEW)):
        return _run_contexts(parts, *found)
    search = ContextSearch(parts, chances)
    search.run(until)
    return WeighedContexts(search.found.weight_broken, search.found.weight_left)


def _run_contexts(parts: SearchParts, contexts: np.ndarray, chance: np.ndarray) -> WeighedContexts:
    """Every context by the model itself."""
    length, margins = contexts.shape[1], parts.worst.margins
    demand = parts.splitter.demands.of(contexts, whole=length == parts.splitter.context)
    asked = np.flatnonzero(demand != NOTHING)
    sizes = np.full(len(asked), length)
    found = margins.deployed(contexts[asked], sizes, demand[asked])
    parts.worst.see(_pad_contexts(contexts[asked], parts.splitter.context), sizes, found)
    return WeighedContexts(float(chance[asked][~(found > 0)].sum()))


def _pad_contexts(contexts: np.ndarray, positions: int) -> np.ndarray:
    """As many columns as the model has positions."""
    return np.pad(contexts, ((0, 0), (0, positions - contexts.shape[1])))
