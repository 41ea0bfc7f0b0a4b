"""The contexts that the task's own sequences have: which share of them breaks the rule, by their chances."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from glassformer.proof.contexts import NOTHING
from glassformer.proof.rule_search import Parts, Search
from glassformer.proof.rule_weights import Chances

FEW = 100_000  # contexts that are sooner run through the model than searched


class Weighed(NamedTuple):
    """Chances of contexts of one length."""

    broken: float = 0.0  # that break the rule
    left: float = 0.0  # that are undecided


def weigh(parts: Parts, chances: Chances, until: float) -> Weighed:
    """Run all contexts that come if they are few, otherwise search them."""
    if perf_counter() >= until:
        return Weighed(left=1.0)
    if not parts.worst.real and (found := chances.windows(FEW)):
        return run_all(parts, *found)
    search = Search(parts, chances)
    search.run(until)
    return Weighed(search.found.weight_broken, search.found.weight_left)


def run_all(parts: Parts, contexts: np.ndarray, chance: np.ndarray) -> Weighed:
    """Every context by the model itself."""
    length, margins = contexts.shape[1], parts.worst.margins
    demand = parts.splitter.demands.of(contexts, whole=length == parts.splitter.context)
    asked = np.flatnonzero(demand != NOTHING)
    sizes = np.full(len(asked), length)
    found = margins.deployed(contexts[asked], sizes, demand[asked])
    parts.worst.see(padded(contexts[asked], parts.splitter.context), sizes, found)
    return Weighed(float(chance[asked][~(found > 0)].sum()))


def padded(contexts: np.ndarray, places: int) -> np.ndarray:
    """As many columns as the model has places."""
    return np.pad(contexts, ((0, 0), (0, places - contexts.shape[1])))
