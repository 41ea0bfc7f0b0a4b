"""Comparisons with random spectra, in the kinds that figures and pages must bear."""

from dataclasses import replace
from functools import cache

import numpy as np

from glassformer.lens.compare import Comparison, compare_analyses
from glassformer.lens.results import Analysis
from tests.lens.figures.synthetic import analysis_of, made, statistics_of

UNCHANGED = ("W_K", "W_E")  # of a fine-tune
LONG = "an_organisation/a_model_with_a_very_long_name-2.5-17b-instruct-preview-2026-11"


@cache
def pair(name: str) -> Comparison:
    """One of PAIRS."""
    return MAKERS[name]()


def tuned(first: Analysis, name: str = "tuned", unchanged=UNCHANGED, gaps: bool = True) -> Comparison:
    """A fine-tune: other ranks, and a change of rank two in most weights."""
    random = np.random.default_rng(3)
    matrices = tuple(turned(random, one) for one in first.matrices)
    kernels = tuple(
        replace(one, statistics=statistics_of(one.values ** random.uniform(0.9, 1.05)))
        for one in first.kernels
    )
    second = replace(first, name=name, matrices=matrices, kernels=kernels)
    first = replace(first, matrices=tuple(turned(random, one) for one in first.matrices))
    change = replace(
        first, kernels=(), matrices=tuple(change_of(random, one, unchanged, gaps) for one in first.matrices)
    )
    return compare_analyses(first, second, change)


def turned(random, one):
    """With spectra and leading directions of its own."""
    values = one.values * random.uniform(0.8, 1.2, len(one.values))
    vectors = np.linalg.qr(random.normal(size=(8, 3)))[0].T
    values = np.sort(values)[::-1]
    return replace(one, values=values, statistics=statistics_of(values), vectors=vectors)


def change_of(random, one, unchanged, gaps):
    still = one.weight.type in unchanged or (gaps and (one.weight.layer or 0) % 4 == 3)
    values = np.zeros(len(one.values))
    values[:2] = random.lognormal(-2, 1.5, 2)
    values = np.sort(values)[::-1]
    zero = statistics_of(np.ones(len(values)))
    nothing = replace(zero, ranks=replace(zero.ranks, eff_rank=0.0), frobenius=0.0, components=(0,) * 5)
    return replace(one, values=values, statistics=nothing if still else statistics_of(values), vectors=None)


def same() -> Comparison:
    return tuned(made("six"), "six again", unchanged=[one.weight.type for one in made("six").matrices])


MAKERS = {
    "six": lambda: tuned(made("six")),
    "qwen": lambda: tuned(made("qwen"), LONG, gaps=False),
    "tiny": lambda: tuned(made("tiny"), "my_run again", unchanged=()),
    "deep": lambda: tuned(made("deep")),
    "single": lambda: tuned(made("single"), unchanged=()),
    "experts": lambda: tuned(made("experts")),
    "unknown": lambda: tuned(made("unknown")),
    "same": same,
    "depth": lambda: compare_analyses(made("six"), analysis_of(9, 4, name="deeper"), None),
    "width": lambda: compare_analyses(made("six"), analysis_of(6, 4, width=32, name="narrow"), None),
    "nothing": lambda: compare_analyses(made("six"), made("unknown"), None),
}
PAIRS = tuple(MAKERS)
