"""Analyses with random spectra, in all the sizes that figures and reports must bear."""

from dataclasses import replace
from functools import cache
from math import nan, sqrt

import numpy as np

from glassformer.lens.layout import HeadLayout, ModelLayout, View, Weight
from glassformer.lens.results import (
    SHARES,
    Analysis,
    BiasTerms,
    DepthCourse,
    KernelResult,
    LayerChange,
    MatrixResult,
    Ranks,
    Relations,
    Statistics,
    Trend,
)

TYPES = {"W_Q": (1, 1), "W_K": (0.5, 1), "W_V": (0.5, 1), "W_O": (1, 1), "W_gate": (4, 1), "W_up": (4, 1), "W_down": (1, 4)}  # fmt: skip
VIEW = View("w")
POOL = 700  # heads up to which each has a spectrum of its own


@cache
def made(name: str) -> Analysis:
    """One of NAMES."""
    return MAKERS[name]()


def analysis_of(
    layers: int, heads: int, size: int = 16, width: int = 64, treatments: tuple[str, ...] = ("raw",),
    has_biases: bool = False, experts: int = 0, types: dict = TYPES, name: str = "toy model", **relation: bool,
) -> Analysis:  # fmt: skip
    random = np.random.default_rng(layers * 1000 + heads)
    matrices = [
        matrix(random, kind, layer, expert, (max(2, int(a * width)), max(2, int(b * width))), layer / layers)
        for layer in range(layers)
        for kind, (a, b) in types.items()
        for expert in (range(experts) if experts and kind in ("W_gate", "W_up", "W_down") else [None])
    ]
    matrices += [matrix(random, kind, None, None, (3 * width, width), 0.3) for kind in ("W_E", "W_U")]
    pool: dict[tuple[str, int], KernelResult] = {}  # of many heads some have the same spectrum, to be quick

    def some_kernel(kind, layer, index, treatment):
        key = (kind, (layer * heads + index) % POOL)
        if layers * heads <= POOL or key not in pool:
            pool[key] = kernel(
                random, kind, layer, index, size, width, treatment, has_biases and kind == "QK"
            )
        return replace(pool[key], head=replace(pool[key].head, layer=layer, index=index))

    kernels = [
        some_kernel(kind, layer, head, treatment)
        for layer in range(layers)
        for head in range(heads)
        for kind in ("QK", "OV")
        for treatment in treatments
        if kind == "QK" or not treatment.startswith("rope")
    ]
    layout = ModelLayout("llama", layers, heads, max(1, heads // 2) if heads else 0, size, width, (), (), ())
    depth = {kind: depth_of([one for one in matrices if one.weight.type == kind]) for kind in types}
    return Analysis(name, layout, tuple(matrices), tuple(kernels), depth, relations(random, layers, heads, width, **relation))  # fmt: skip


def ranks_of(values: np.ndarray) -> Ranks:
    def entropy_rank(weights):
        share = weights[weights > 0] / weights.sum()
        return float(np.exp(-(share * np.log(share)).sum()))

    energy = values**2
    return Ranks(entropy_rank(values), entropy_rank(energy), float(energy.sum() / energy.max()), float(energy.sum() ** 2 / (energy**2).sum()))  # fmt: skip


def statistics_of(values: np.ndarray) -> Statistics:
    energy = np.cumsum(values**2) / (values**2).sum()
    components = tuple(int(np.searchsorted(energy, share / 100 - 1e-12)) + 1 for share in SHARES)
    low = float(values[-1])
    return Statistics(
        ranks_of(values), float(np.linalg.norm(values)), float(values[0]), low,
        float(values[0] / low) if low > 0 else float("inf"), components,
        tuple(np.percentile(values, (5, 25, 50, 75, 95))), 2.5 + values[0] % 1 if len(values) > 8 else nan, 12, 0.05,
    )  # fmt: skip


def matrix(random, kind, layer, expert, shape, depth) -> MatrixResult:
    count = min(shape)
    values = np.sort(random.gamma(2.0, size=count) + 4 * np.exp(-np.arange(count) * (0.1 + depth)))[::-1]
    reference = ranks_of(np.linspace(1.6, 0.4, count))
    weight = Weight(layer, kind, VIEW, "in", expert)
    return MatrixResult(weight, "raw", shape, "BF16", values, statistics_of(values), reference, "float64 Gram", None)  # fmt: skip


def kernel(random, kind, layer, index, size, width, treatment, has_biases) -> KernelResult:
    steep = random.uniform(0, 6) / size
    values = np.sort(random.gamma(2.0, size=size) * np.exp(-steep * np.arange(size)))[::-1]
    pairs = random.normal(size=(size // 2, 2)) @ np.array([1, 1j])
    eigenvalues = np.concatenate([pairs[: size // 4], pairs[: size // 4].conj(), random.normal(size=size - 2 * (size // 4))])  # fmt: skip
    eigenvalues = eigenvalues[np.argsort(-np.abs(eigenvalues))] * values.mean() / 2
    head = HeadLayout(layer, index, index, ((VIEW,),), ((VIEW,),), ((VIEW,),), VIEW)
    biases = BiasTerms(values.sum(), *random.lognormal(sigma=2, size=3)) if has_biases else None
    return KernelResult(
        head, kind, treatment, size, values, eigenvalues, statistics_of(values), ranks_of(np.linspace(2, 0.2, size)),
        float(random.uniform(0.6, 1.5)), 0.5, float(np.real(eigenvalues.sum()) / np.abs(eigenvalues).sum()), biases,
    )  # fmt: skip


def depth_of(group) -> DepthCourse:
    layers = tuple(sorted({one.weight.layer for one in group}))
    series = np.array([np.mean([one.eff_rank for one in group if one.weight.layer == layer]) for layer in layers])  # fmt: skip
    steps = np.diff(series)
    few = len(layers) < 5
    tested, p_value, slope = ("too few layers", nan, 0.0) if few else ("falling", 0.0021, -0.4)
    trend = Trend("falling", tested, p_value, slope)
    changes = [LayerChange(layers[1 + int(pick(steps))], float(steps[pick(steps)])) for pick in (np.argmax, np.argmin)] if len(steps) else [None, None]  # fmt: skip
    low, high = int(np.argmin(series)), int(np.argmax(series))
    thirds = tuple(float(part.mean()) for part in np.array_split(series, 3)) if len(layers) >= 3 else ()
    cut = () if few else (layers[len(layers) // 2],)
    segments = (float(series.mean()),) if few else tuple(float(s.mean()) for s in np.split(series, [len(layers) // 2]))  # fmt: skip
    return DepthCourse(
        layers, series, float(series.mean()), float(series.std()), LayerChange(layers[low], float(series[low])),
        LayerChange(layers[high], float(series[high])), float(series.mean() / group[0].random.eff_rank), thirds, cut,
        segments, trend, *changes,
    )  # fmt: skip


def zeros() -> Analysis:
    """Weights that are all 0, as in a difference of equal models."""
    full = analysis_of(3, 2, treatments=("raw", "folded"), name="nothing")
    ranks = Ranks(0.0, 0.0, 0.0, 0.0)
    none = Statistics(ranks, 0.0, 0.0, 0.0, float("inf"), (0,) * len(SHARES), (0.0,) * 5, nan, 0, nan)
    matrices = tuple(replace(one, values=0 * one.values, statistics=none) for one in full.matrices)
    flat = {"asymmetry": 0.0, "complex_share": 0.0, "copying": 0.0, "statistics": none}
    kernels = tuple(
        replace(one, values=0 * one.values, eigenvalues=0 * one.eigenvalues, **flat) for one in full.kernels
    )
    nothing = {kind: 0 * scores for kind, scores in full.relations.composition.items()}
    found = replace(full.relations, composition=nothing, similarity={}, alignment={})
    depth = {
        name: replace(course, series=0 * course.series, mean=0.0, std=0.0, relative_to_random=0.0, jump=None, drop=None, thirds=(0.0,) * 3)
        for name, course in full.depth.items()
    }  # fmt: skip
    return replace(full, matrices=matrices, kernels=kernels, relations=found, depth=depth)


def relations(random, layers, heads, width, all_pairs: bool = False, none: bool = False) -> Relations | None:
    if none:
        return None
    similarity = {}
    for kind in ("W_Q", "W_K", "W_V", "W_O", "W_down"):
        near = np.exp(-np.abs(np.subtract.outer(np.arange(layers), np.arange(layers))) / 3) * 0.3
        similarity[kind] = np.clip(near + random.uniform(0.1, 0.15, (layers, layers)), 0, 1)
        np.fill_diagonal(similarity[kind], 1.0)
    alignment = {pair: random.uniform(0.1, 0.3, layers) for pair in ("W_O W_gate", "W_O W_up", "W_down W_O")}
    apart = [(a, b) for a in range(layers) for b in range(a + 1, layers) if all_pairs or b == a + 1]
    scores = {kind: random.gamma(4.0, 0.02, (len(apart), heads, heads)) for kind in "QKV"} if heads else {}
    return Relations(8, 8 / width, similarity, alignment, tuple(range(layers)), scores, tuple(apart), dict.fromkeys(scores, 1 / sqrt(width)))  # fmt: skip


MAKERS = {
    "six": lambda: analysis_of(6, 4, treatments=("raw", "folded", "rope:1", "rope:128"), has_biases=True),
    "qwen": lambda: analysis_of(36, 16, all_pairs=True),
    "tiny": lambda: analysis_of(2, 1, size=3, width=4, name="my_run"),
    "deep": lambda: analysis_of(80, 64, size=8, width=32),
    "single": lambda: analysis_of(1, 2),
    "experts": lambda: analysis_of(8, 4, experts=4, treatments=("raw", "rope:64")),
    "unknown": lambda: analysis_of(
        9, 0, types={f"backbone.stages.*.mixer.projection_{n}.weight": (1, 1) for n in range(15)}, none=True
    ),
    "zeros": zeros,
}
NAMES = tuple(MAKERS)
