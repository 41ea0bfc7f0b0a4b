"""Two models side by side: their ranks, how far apart their weights are, and what the change looks like.

A fine-tune that adds a matrix of rank one to a weight has a change of effective rank 1, however little the
weight's own rank moved: that is why the change has a spectrum of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from glassformer.spectra.results import Analysis, Kernel, KernelResult, MatrixResult
from glassformer.spectra.table_files import Column, Table


@dataclass(frozen=True)
class WeightPair:
    """A weight of the first model, that of the second, and their difference where they have one shape."""

    first: MatrixResult
    second: MatrixResult
    change: MatrixResult | None

    @property
    def change_norm(self) -> float:
        """|second - first| / |first|, nan where there is no difference."""
        whole = self.first.statistics.frobenius
        return self.change.statistics.frobenius / whole if self.change and whole else float("nan")

    @property
    def change_rank(self) -> float:
        """Effective rank of the change; 0 where nothing changed."""
        return self.change.statistics.ranks.eff_rank if self.change else float("nan")

    @property
    def similarity(self) -> float:
        """Mean squared cosine of the leading directions of both."""
        return subspace_similarity(self.first.vectors, self.second.vectors)


@dataclass(frozen=True)
class HeadPair:
    """The same head's kernel in both models."""

    first: KernelResult
    second: KernelResult

    @property
    def by(self) -> float:
        """How much the effective rank grew."""
        return self.second.statistics.ranks.eff_rank - self.first.statistics.ranks.eff_rank


@dataclass(frozen=True)
class Comparison:
    """All that two analyses have in common."""

    first: Analysis
    second: Analysis
    weights: tuple[WeightPair, ...]
    heads: tuple[HeadPair, ...]  # none where the models have other numbers of layers or heads

    @property
    def shares_weights(self) -> bool:
        """Whether the weights themselves could be subtracted."""
        return any(pair.change for pair in self.weights)


def compare(first: Analysis, second: Analysis, change: Analysis | None) -> Comparison:
    """Pair what both have; `change` is the analysis of the second less the first."""
    others, changes = raw_matrices(second), raw_matrices(change) if change else {}
    weights = [
        WeightPair(one, others[place], changes.get(place))
        for place, one in raw_matrices(first).items()
        if place in others
    ]
    return Comparison(first, second, tuple(weights), tuple(head_pairs(first, second)))


def raw_matrices(analysis: Analysis) -> dict[tuple[Any, ...], MatrixResult]:
    return {
        (one.weight.layer, one.weight.type, one.weight.expert): one
        for one in analysis.matrices
        if one.treatment == "raw"
    }


def head_pairs(first: Analysis, second: Analysis) -> list[HeadPair]:
    one, two = raw_kernels(first), raw_kernels(second)
    return [HeadPair(one[place], two[place]) for place in one] if one.keys() == two.keys() else []


def raw_kernels(analysis: Analysis) -> dict[tuple[int, int, Kernel], KernelResult]:
    raw = (one for one in analysis.kernels if one.treatment == "raw")
    return {(one.head.layer, one.head.index, one.kernel): one for one in raw}


def subspace_similarity(
    one: Float[np.ndarray, "top stream"] | None, other: Float[np.ndarray, "top stream"] | None
) -> float:
    """Mean squared cosine of two subspaces; nan where they do not lie in one space."""
    if one is None or other is None or one.shape != other.shape:
        return float("nan")
    return float(np.sum((one.astype(np.float64) @ other.T) ** 2) / len(one))


def comparison_tables(both: Comparison) -> dict[str, Table]:
    """comparison.csv, a row a weight, and comparison_heads.csv, a row a head and kernel."""
    tables = {"comparison": weights_table(both.weights)} if both.weights else {}
    return tables | ({"comparison_heads": heads_table(both.heads)} if both.heads else {})


def weights_table(pairs: Sequence[WeightPair]) -> Table:
    sides = (("", [pair.first for pair in pairs]), ("other_", [pair.second for pair in pairs]))
    layers = [pair.first.weight.layer for pair in pairs]
    table = [
        Column("layer_idx", "whole", [-1 if layer is None else layer for layer in layers]),
        Column("weight_type", "text", [pair.first.weight.type for pair in pairs]),
        Column("expert", "whole", [pair.first.weight.expert for pair in pairs]),
    ]
    for prefix, side in sides:
        table += [
            Column(f"{prefix}shape", "text", ["x".join(map(str, one.shape)) for one in side]),
            Column(f"{prefix}eff_rank", "real", [one.statistics.ranks.eff_rank for one in side]),
            Column(
                f"{prefix}eff_rank_relative",
                "real",
                [one.statistics.ranks.eff_rank / one.random.eff_rank for one in side],
            ),
            Column(f"{prefix}frobenius", "real", [one.statistics.frobenius for one in side]),
        ]
    return [
        *table,
        Column("change_norm", "real", [pair.change_norm for pair in pairs]),
        Column("change_eff_rank", "real", [pair.change_rank for pair in pairs]),
        Column("similarity", "real", [pair.similarity for pair in pairs]),
    ]


def heads_table(pairs: Sequence[HeadPair]) -> Table:
    table = [
        Column("layer_idx", "whole", [pair.first.head.layer for pair in pairs]),
        Column("head_idx", "whole", [pair.first.head.index for pair in pairs]),
        Column("kernel", "text", [pair.first.kernel for pair in pairs]),
    ]
    for prefix, side in (("", [pair.first for pair in pairs]), ("other_", [pair.second for pair in pairs])):
        table += [
            Column(f"{prefix}eff_rank", "real", [one.statistics.ranks.eff_rank for one in side]),
            Column(f"{prefix}asymmetry", "real", [one.asymmetry for one in side]),
            Column(f"{prefix}copying", "real", [one.copying for one in side]),
        ]
    return [*table, Column("eff_rank_change", "real", [pair.by for pair in pairs])]


def comparison_summary(both: Comparison) -> dict[str, Any]:
    """What `--json` says under `comparison`: means a weight type, and the heads that changed most."""
    most = sorted(both.heads, key=lambda pair: -abs(pair.by))[:10]
    return {
        "first": both.first.name,
        "second": both.second.name,
        "weights": {name: type_summary(pairs) for name, pairs in by_type(both.weights).items()},
        "heads_changed_most": [
            {"layer": pair.first.head.layer, "head": pair.first.head.index}
            | {"kernel": pair.first.kernel, "by": pair.by}
            for pair in most
        ],
    }


def by_type(pairs: Sequence[WeightPair]) -> dict[str, list[WeightPair]]:
    """Pairs of one weight type; of one shape too where the type has several: they are never one mean."""
    shapes: dict[str, set[tuple[int, int]]] = {}
    for pair in pairs:
        shapes.setdefault(pair.first.weight.type, set()).add(pair.first.shape)
    groups: dict[str, list[WeightPair]] = {}
    for pair in pairs:
        type, (out, dims) = pair.first.weight.type, pair.first.shape
        groups.setdefault(type if len(shapes[type]) == 1 else f"{type} {out}x{dims}", []).append(pair)
    return groups


def type_summary(pairs: Sequence[WeightPair]) -> dict[str, float]:
    measures = {
        "mean": [pair.first.statistics.ranks.eff_rank for pair in pairs],
        "other_mean": [pair.second.statistics.ranks.eff_rank for pair in pairs],
        "change_norm": [pair.change_norm for pair in pairs],
        "change_eff_rank": [pair.change_rank for pair in pairs],
        "similarity": [pair.similarity for pair in pairs],
    }
    return {name: float(np.mean(numbers)) for name, numbers in measures.items()}
