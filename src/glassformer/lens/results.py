"""What is found about a matrix and about a head's kernel: plain data between computing and telling."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Complex, Float

from glassformer.lens.layout import HeadLayout, ModelLayout, Weight

Kernel = Literal["QK", "OV"]
Course = Literal["rising", "falling", "U-shape", "inverted U", "none"]
SHARES = (50, 75, 90, 95, 99)  # per cent of the energy (sum of sigma^2) that components are counted for
PERCENTILES = (5, 25, 50, 75, 95)  # of the singular values


@dataclass(frozen=True)
class Ranks:
    """How many directions a spectrum uses, in four conventions."""

    eff_rank: float  # exp of the entropy of sigma / sum(sigma)
    eff_rank_energy: float  # the same of sigma^2
    stable_rank: float  # sum(sigma^2) / max(sigma^2)
    participation_ratio: float  # sum(sigma^2)^2 / sum(sigma^4)


@dataclass(frozen=True)
class Statistics:
    """All numbers about one spectrum."""

    ranks: Ranks
    frobenius: float  # root of the sum of sigma^2
    largest: float
    smallest: float
    condition: float  # largest / smallest; infinite where the smallest is 0
    components: tuple[int, ...]  # that hold SHARES of the energy
    percentiles: tuple[float, ...]  # PERCENTILES of the singular values
    alpha: float  # exponent of a power law fitted to the tail of sigma^2; nan where there is no fit
    alpha_tail: int  # how many values the fit is about
    alpha_distance: float  # Kolmogorov-Smirnov distance of that tail and the fit


class _SpectrumResult:
    """What every result has: its numbers, and those of something random of the same shape."""

    statistics: Statistics
    random: Ranks

    @property
    def eff_rank(self) -> float:
        return self.statistics.ranks.eff_rank

    @property
    def relative_rank(self) -> float:
        """The effective rank as a share of the random one."""
        return self.eff_rank / self.random.eff_rank


@dataclass(frozen=True)
class MatrixResult(_SpectrumResult):
    """A weight matrix under one treatment."""

    weight: Weight
    treatment: str  # raw or folded
    shape: tuple[int, int]
    dtype: str  # as stored
    values: Float[np.ndarray, "component"]  # singular values, falling, float64
    statistics: Statistics
    random: Ranks  # of a random matrix of this shape
    precision: str  # how the values were found: float32 Gram, float64 Gram, float64 QR
    vectors: Float[np.ndarray, "top stream"] | None  # leading directions on the stream's side, float32


@dataclass(frozen=True)
class BiasTerms:
    """Sizes of the score's terms: x'Ay (content), b_q'Ky (key only), x'Q'b_k and b_q'b_k (position)."""

    content: float  # Frobenius norm of A
    key_only: float
    query_position: float
    position: float


@dataclass(frozen=True)
class KernelResult(_SpectrumResult):
    """A head's QK or OV kernel under one treatment."""

    head: HeadLayout
    kernel: Kernel
    treatment: str  # raw, folded, rope:128
    size: int  # the kernel's largest rank: the dimensions of the head
    values: Float[np.ndarray, "component"]  # singular values, falling
    eigenvalues: Complex[np.ndarray, "component"]  # those that need not be 0, by falling magnitude
    statistics: Statistics
    random: Ranks  # of a head with random weights of these shapes
    asymmetry: float  # |A - A'| / |A|: 0 symmetric, 2 antisymmetric, root of 2 in between
    complex_share: float  # of the eigenvalues that are not real
    copying: float  # sum(eig) / sum|eig|: 1 where a token's own direction is written back
    biases: BiasTerms | None = None  # QK only, where the model has them


@dataclass(frozen=True)
class LayerValue:
    """A number and its layer."""

    layer: int
    value: float


@dataclass(frozen=True)
class LayerChange:
    """From one layer to the next."""

    layer: int  # the second of the two
    by: float


@dataclass(frozen=True)
class Trend:
    """How a number changes over depth."""

    label: Course  # what the means of the thirds do, as published; no test stands behind it
    tested: Literal["rising", "falling", "U-shape", "inverted U", "none", "too few layers"]
    p_value: float  # of the test that `tested` rests on
    slope: float  # Theil-Sen: median change per layer


@dataclass(frozen=True)
class DepthCourse:
    """One weight type over the layers, for matrices of one shape."""

    layers: tuple[int, ...]
    series: Float[np.ndarray, "layer"]  # effective rank; the mean over experts
    mean: float
    std: float  # of the population, as published (divided by n)
    smallest: LayerValue
    largest: LayerValue
    relative_to_random: float  # mean of the ratio to a random matrix of the shape
    thirds: tuple[float, ...]  # means of the early, middle and late third of the layers
    change_points: tuple[int, ...]  # first layers of new segments
    segments: tuple[float, ...]  # means of the segments
    trend: Trend
    jump: LayerChange | None  # largest rise from a layer to the next; none where no step goes up
    drop: LayerChange | None


@dataclass(frozen=True)
class Relations:
    """Between layers and heads. Subspaces: mean squared cosine of the leading directions."""

    top: int  # leading directions that are compared
    chance: float  # of two random subspaces: top / width
    similarity: dict[str, Float[np.ndarray, "layer layer"]]  # weight type to all pairs of layers
    alignment: dict[str, Float[np.ndarray, "layer"]]  # "W_O W_gate": two types within each layer
    layers: tuple[int, ...]
    composition: dict[str, Float[np.ndarray, "pair writer reader"]]  # Q, K, V to heads of pairs of layers
    pairs: tuple[tuple[int, int], ...]  # (writing layer, reading layer)
    composition_chance: dict[str, float]  # of heads in random directions


@dataclass(frozen=True)
class Analysis:
    """All that was found about one checkpoint."""

    name: str
    layout: ModelLayout
    matrices: tuple[MatrixResult, ...]  # by layer, type, expert, treatment
    kernels: tuple[KernelResult, ...]  # by layer, head, kernel, treatment
    depth: dict[str, DepthCourse]  # weight type (with its shape where a type has several) to its course
    relations: Relations | None
