"""Singular values of a matrix that is never held whole: roots of its Gram matrix's eigenvalues.

Every value above a billionth of the largest is within 1e-6, relative, of LAPACK's in float64 on the same
weights; smaller ones are within 1e-14 of the largest. Where rounding in the Gram matrix may forbid that, the
next more exact way is taken: products in float32, products in float64, these with the smallest values from
the weights themselves (compute/smallest.py), QR. What rounding does is not proved but bounded by more than
was seen in attacks on it.

>>> weights = np.diag([3.0, 2.0, 0.0])[:, :2]
>>> matrix = Matrix("w", (3, 2), lambda rows, columns: weights[rows, columns])
>>> matrix_spectrum(matrix, "in", top=1)
MatrixSpectrum(values=array([3., 2.]), vectors=array([[1., 0.]], dtype=float32), precision='float64 Gram')
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from jaxtyping import Float

from glassformer.spectra.compute.checks import check_energy
from glassformer.spectra.compute.gram import (
    Gram,
    Square,
    clustered,
    double_gram,
    finite_panels,
    float_gram,
    looks_random,
)
from glassformer.spectra.compute.heads import only_triangle
from glassformer.spectra.compute.leading import gram_top, leading_directions
from glassformer.spectra.compute.smallest import smallest_values
from glassformer.spectra.matrix import PANEL, Matrix
from glassformer.spectra.read.tensor import Block

TOLERANCE = 1e-6  # relative, of any singular value: what we promise
MIXED_ASPECT = 2.0  # long side over short; the smallest values of squarer matrices are too small for float32
MIXED_SHORT = 512  # short side under which a product in float64 costs no time worth saving
# Rounding in float64, of products and eigvalsh together, in epsilons of the largest eigenvalue. Of weights
# and random matrices it is under 1; of 11,000 made to be hard (many equal values beside many equal smaller
# ones, sides 32 to 1024) mostly under 30, and 106 where all products are equal and rounded the same way.
DOUBLE_ERROR = 128.0
SAFE_SQUARES = (1e-200, 1e200)  # |W|^2 outside of which squares of single weights may be lost

Stream = Literal["in", "out", "none"]
Values = Float[np.ndarray, "component"]


@dataclass(frozen=True)
class MatrixSpectrum:
    """Singular values of a matrix, and its leading directions on the stream's side."""

    values: Values  # falling, float64
    vectors: Float[np.ndarray, "top stream"] | None  # float32; none where no side faces the stream
    precision: str  # how the values were found: float32 Gram, float64 Gram, float64 QR


@dataclass(frozen=True)
class Found:
    """Singular values, and what the checks and the leading directions need."""

    values: Values
    precision: str
    square: float  # |W|^2, from the weights themselves
    short_side: Callable[[int], Float[np.ndarray, "top short"]]  # so many leading directions


def matrix_spectrum(matrix: Matrix, stream: Stream, top: int, device: str = "cpu") -> MatrixSpectrum:
    """All singular values, and the `top` leading directions on the stream's side, or fewer at lower rank."""
    found = gpu_values(matrix) if device == "gpu" else cpu_values(matrix)
    if not SAFE_SQUARES[0] < found.square < SAFE_SQUARES[1] and (largest := largest_weight(matrix)) > 0:
        scale = 2.0 ** -np.floor(np.log2(largest))
        unit = matrix_spectrum(scaled(matrix, scale), stream, top, device)
        return replace(unit, values=unit.values / scale)
    check_energy(matrix.name, found.values, found.square)
    if stream == "none":
        return MatrixSpectrum(found.values, None, found.precision)
    vectors = leading_directions(matrix, found.short_side, found.values, stream, top)
    return MatrixSpectrum(found.values, vectors, found.precision)


def cpu_values(matrix: Matrix) -> Found:
    """By the cheapest way that is exact enough."""
    if allows_float32(matrix):
        gram = float_gram(matrix)
        if (values := float_values(gram)) is not None:
            return Found(values, "float32 Gram", gram.square, partial(gram_top, gram.matrix, values))
    gram = double_gram(matrix)
    eigenvalues = np.linalg.eigvalsh(gram.matrix) if np.isfinite(gram.square) else None
    values, precision = exact_values(matrix, eigenvalues, lambda: gram.matrix)
    return Found(values, precision, gram.square, partial(gram_top, gram.matrix, values))


def allows_float32(matrix: Matrix) -> bool:
    """Whether products in float32 are worth a try."""
    short, long = sorted(matrix.shape)
    return short >= MIXED_SHORT and long >= MIXED_ASPECT * short and looks_random(next(finite_panels(matrix)))


def gpu_values(matrix: Matrix) -> Found:
    """The Gram matrix and its eigenvalues and directions on a GPU; QR, where it is needed, here."""
    from glassformer.spectra.compute.gpu import gpu_eigen

    eigenvalues, square, short_side, gram = gpu_eigen(matrix)
    values, precision = exact_values(matrix, eigenvalues if np.isfinite(square) else None, gram)
    return Found(values, precision, square, short_side)


def float_values(gram: Gram) -> Values | None:
    """From products in float32; none where one of them may not be exact enough."""
    if not np.isfinite(gram.error) or not np.isfinite(gram.square):
        return None
    eigenvalues = np.linalg.eigvalsh(gram.matrix)
    off = gram.error * clustered(eigenvalues, gram.error) + double_error(eigenvalues)
    return roots(eigenvalues) if np.all(off <= 2 * TOLERANCE * eigenvalues) else None


def exact_values(
    matrix: Matrix, eigenvalues: Float[np.ndarray, "component"] | None, gram: Callable[[], Square]
) -> tuple[Values, str]:
    """From products in float64: as they are, with the doubtful ones found again, or all by QR."""
    if eigenvalues is None:  # the squares of the weights are no numbers
        return triangle_values(matrix), "float64 QR"
    noise = double_error(eigenvalues)
    doubtful = int(np.sum(2 * TOLERANCE * eigenvalues < noise))
    if doubtful == 0:
        return roots(eigenvalues), "float64 Gram"
    smallest = smallest_values(matrix, gram(), eigenvalues, doubtful, noise, TOLERANCE)
    if smallest is None:
        return triangle_values(matrix), "float64 QR"
    return np.concatenate([roots(eigenvalues[len(smallest) :]), smallest]), "float64 Gram"


def roots(eigenvalues: Float[np.ndarray, "component"]) -> Values:
    """Falling singular values; a root's relative error is half of its square's."""
    return np.asarray(np.sqrt(np.maximum(eigenvalues[::-1], 0.0)))


def double_error(eigenvalues: Float[np.ndarray, "component"]) -> float:
    """What rounding in float64 does to an eigenvalue."""
    return float(DOUBLE_ERROR * np.finfo(np.float64).eps * eigenvalues[-1])


def triangle_values(matrix: Matrix) -> Values:
    """By QR, a panel at a time: the triangle so far and the next panel have the next triangle."""
    short = min(matrix.shape)
    triangle = np.zeros((0, short))
    for panel in finite_panels(matrix, max(PANEL, short * short)):
        stacked = np.concatenate([triangle, panel])
        triangle = only_triangle(stacked) if len(stacked) > short else stacked
    return np.asarray(np.linalg.svd(triangle, compute_uv=False))


def largest_weight(matrix: Matrix) -> float:
    return max(float(np.abs(panel).max()) for panel in finite_panels(matrix))


def scaled(matrix: Matrix, scale: float) -> Matrix:
    """The matrix in float64 with a power of two in front, which rounds nothing."""

    def read(rows: slice, columns: slice) -> Block:
        return matrix.read(rows, columns).astype(np.float64) * scale

    return replace(matrix, read=read)
