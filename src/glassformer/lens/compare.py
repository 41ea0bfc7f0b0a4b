"""Two models side by side: their ranks, how far apart their weights are, and what the change looks like.

A fine-tune that adds a matrix of rank one to a weight has a change of effective rank 1, however little the
weight's own rank moved: that is why the change has a spectrum of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from glassformer.lens.difference import Key
from glassformer.lens.relations import measure_overlap
from glassformer.lens.results import SHARES, Analysis, Kernel, KernelResult, MatrixResult
from glassformer.lens.tables import TYPES, order_name

UNKNOWN = float("nan")  # of what could not be compared
_DIGITS = 6  # of a cosine: directions are kept in float32
SEEN = 0.005  # an effective rank of a head that moved by less reads the same


@dataclass(frozen=True)
class WeightPair:
    """A weight of the first model, that of the second, and their difference where they have one shape."""

    first: MatrixResult
    second: MatrixResult
    change: MatrixResult | None

    @property
    def has_changed(self) -> bool:
        """Whether some number of it differs, as far as that is known."""
        return self.change is not None and self.change.statistics.frobenius > 0

    @property
    def change_norm(self) -> float:
        """|second - first| / |first|; 0 where nothing changed, not known where only the first is 0."""
        if self.change is None:
            return UNKNOWN
        changed, whole = self.change.statistics.frobenius, self.first.statistics.frobenius
        return changed / whole if whole > 0 else UNKNOWN if changed > 0 else 0.0

    @property
    def change_rank(self) -> float:
        """Effective rank of the change; 0 where nothing changed."""
        return self.change.eff_rank if self.change else UNKNOWN

    @property
    def change_relative(self) -> float:
        """The same as a share of a random matrix's."""
        return self.change_rank / self.first.random.eff_rank

    @property
    def change_components(self) -> float:
        """Directions that hold 90% of the change's energy: rounding of what is stored hardly moves it."""
        return float(self.change.statistics.components[SHARES.index(90)]) if self.change else UNKNOWN

    @property
    def similarity(self) -> float:
        """Mean squared cosine of the leading directions of both."""
        return compare_subspaces(self.first.vectors, self.second.vectors)


@dataclass(frozen=True)
class HeadPair:
    """The same head's kernel in both models."""

    first: KernelResult
    second: KernelResult

    @property
    def by(self) -> float:
        """How much the effective rank grew."""
        return self.second.eff_rank - self.first.eff_rank


@dataclass(frozen=True)
class TypePair:
    """One weight type: all matrices of it in each model, and the pairs at the same layer."""

    name: str  # with the shape where the type has several: they are never one mean
    first: tuple[MatrixResult, ...]
    second: tuple[MatrixResult, ...]
    pairs: tuple[WeightPair, ...]

    @property
    def type(self) -> str:
        return self.first[0].weight.type

    @property
    def subtracted(self) -> list[WeightPair]:
        return [pair for pair in self.pairs if pair.change is not None]

    @property
    def changed(self) -> list[WeightPair]:
        return [pair for pair in self.pairs if pair.has_changed]


@dataclass(frozen=True)
class Comparison:
    """All that two analyses have in common."""

    first: Analysis
    second: Analysis
    weights: tuple[WeightPair, ...]
    heads: tuple[HeadPair, ...]  # none where the models have different numbers of layers or heads
    types: tuple[TypePair, ...]

    @property
    def subtracted(self) -> list[WeightPair]:
        """Pairs whose weights themselves could be compared."""
        return [pair for pair in self.weights if pair.change is not None]

    @property
    def changed(self) -> list[WeightPair]:
        return [pair for pair in self.weights if pair.has_changed]

    @property
    def most_changed_heads(self) -> list[HeadPair]:
        """By falling size of the change, those that moved at all."""
        return sorted((pair for pair in self.heads if abs(pair.by) >= SEEN), key=lambda pair: -abs(pair.by))


def compare_analyses(first: Analysis, second: Analysis, change: Analysis | None) -> Comparison:
    """Pair what both have; `change` is the analysis of the second minus the first."""
    others, changes = _index_raw_matrices(second), _index_raw_matrices(change) if change else {}
    weights = [
        WeightPair(one, others[place], changes.get(place))
        for place, one in _index_raw_matrices(first).items()
        if place in others
    ]
    types = _pair_types(first, second, weights)
    return Comparison(first, second, tuple(weights), tuple(_pair_heads(first, second)), tuple(types))


def _index_raw_matrices(analysis: Analysis) -> dict[Key, MatrixResult]:
    raw = (one for one in analysis.matrices if one.treatment == "raw")
    return {(one.weight.layer, one.weight.type, one.weight.expert): one for one in raw}


def _pair_heads(first: Analysis, second: Analysis) -> list[HeadPair]:
    """Head by head; none where the grids differ, or the heads have other sizes."""
    one, two = _index_raw_kernels(first), _index_raw_kernels(second)
    if {place: found.size for place, found in one.items()} != {
        place: found.size for place, found in two.items()
    }:
        return []
    return [HeadPair(one[place], two[place]) for place in one]


def _index_raw_kernels(analysis: Analysis) -> dict[tuple[int, int, Kernel], KernelResult]:
    raw = (one for one in analysis.kernels if one.treatment == "raw")
    return {(one.head.layer, one.head.index, one.kernel): one for one in raw}


def _pair_types(first: Analysis, second: Analysis, weights: Sequence[WeightPair]) -> list[TypePair]:
    """Types that both have. A type of one shape in each is a pair, whatever the shapes; else by shape."""
    one, two = _group_by_shape(first), _group_by_shape(second)
    found = []
    for type in sorted((type for type in one if type in two), key=lambda type: order_name(TYPES, type)):
        is_single = len(one[type]) == len(two[type]) == 1
        shapes = [(*one[type], *two[type])] if is_single else [(s, s) for s in one[type] if s in two[type]]
        for left, right in shapes:
            name = type if is_single else f"{type} {left[0]}x{left[1]}"
            pairs = [
                pair
                for pair in weights
                if pair.first.weight.type == type and (pair.first.shape, pair.second.shape) == (left, right)
            ]
            found.append(TypePair(name, tuple(one[type][left]), tuple(two[type][right]), tuple(pairs)))
    return found


def _group_by_shape(analysis: Analysis) -> dict[str, dict[tuple[int, int], list[MatrixResult]]]:
    """Weight type to shape to the matrices, in their order."""
    found: dict[str, dict[tuple[int, int], list[MatrixResult]]] = {}
    for one in _index_raw_matrices(analysis).values():
        found.setdefault(one.weight.type, {}).setdefault(one.shape, []).append(one)
    return found


def compare_subspaces(
    one: Float[np.ndarray, "top stream"] | None, other: Float[np.ndarray, "_top _stream"] | None
) -> float:
    """Mean squared cosine of two subspaces; nan where they do not lie in one space.

    >>> compare_subspaces(np.eye(4)[:2], np.eye(4)[1:3])
    0.5
    """
    if one is None or other is None or one.shape != other.shape or not len(one):
        return UNKNOWN
    return min(1.0, round(measure_overlap(one, other), _DIGITS))
