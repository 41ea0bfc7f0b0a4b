"""Singular values of a matrix that is never held whole: roots of its Gram matrix's eigenvalues.

Every value above a billionth of the largest is within 1e-6, relative, of LAPACK's in float64 on the same
weights; smaller ones are within 1e-14 of the largest. Where rounding in the Gram matrix may forbid that, the
next more exact way is taken: products in float32, products in float64, these with the smallest values from
the weights themselves (compute/smallest.py), QR. What rounding does is not proved but bounded by more than
was seen in attacks on it.

>>> weights = np.diag([3.0, 2.0, 0.0])[:, :2]
>>> matrix = Matrix("w", (3, 2), lambda rows, columns: weights[rows, columns])
>>> compute_matrix_spectrum(matrix, "in", top=1)
_MatrixSpectrum(values=array([3., 2.]), vectors=array([[1., 0.]], dtype=float32), precision='float64 Gram')
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from jaxtyping import Float

from glassformer.lens.compute.checks import check_energy
from glassformer.lens.compute.gram import (
    Gram,
    Square,
    bound_cluster_spread,
    compute_double_gram,
    compute_float_gram,
    looks_random,
    read_finite_panels,
)
from glassformer.lens.compute.heads import compute_qr_triangle
from glassformer.lens.compute.leading import compute_gram_top, compute_leading_directions
from glassformer.lens.compute.smallest import find_smallest_values
from glassformer.lens.matrix import PANEL, Matrix
from glassformer.lens.read.tensor import Block

_TOLERANCE = 1e-6  # relative, of any singular value: what we promise
_MIXED_ASPECT = 2.0  # long side over short; the smallest values of squarer matrices are too small for float32
MIXED_SHORT = 512  # short side under which a product in float64 costs no time worth saving
# Rounding in float64, of products and eigvalsh together, in epsilons of the largest eigenvalue. Of weights
# and random matrices it is under 1; of 11,000 made to be hard (many equal values beside many equal smaller
# ones, sides 32 to 1024) mostly under 30, and 106 where all products are equal and rounded the same way.
_DOUBLE_ERROR = 128.0
_SAFE_SQUARES = (1e-200, 1e200)  # |W|^2 outside of which squares of single weights may be lost

_Stream = Literal["in", "out", "none"]
_Values = Float[np.ndarray, "component"]


@dataclass(frozen=True)
class _MatrixSpectrum:
    """Singular values of a matrix, and its leading directions on the stream's side."""

    values: _Values  # falling, float64
    vectors: Float[np.ndarray, "top stream"] | None  # float32; none where no side faces the stream
    precision: str  # how the values were found: float32 Gram, float64 Gram, float64 QR


@dataclass(frozen=True)
class _SingularValues:
    """Singular values, and what the checks and the leading directions need."""

    values: _Values
    precision: str
    square: float  # |W|^2, from the weights themselves
    short_side: Callable[[int], Float[np.ndarray, "top short"]]  # so many leading directions


def compute_matrix_spectrum(
    matrix: Matrix, stream: _Stream, top: int, device: str = "cpu"
) -> _MatrixSpectrum:
    """All singular values, and the `top` leading directions on the stream's side, or fewer at lower rank."""
    found = _compute_gpu_values(matrix) if device == "gpu" else _compute_cpu_values(matrix)
    if (
        not _SAFE_SQUARES[0] < found.square < _SAFE_SQUARES[1]
        and (largest := _find_largest_weight(matrix)) > 0
    ):
        scale = 2.0 ** -np.floor(np.log2(largest))
        unit = compute_matrix_spectrum(_scale_matrix(matrix, scale), stream, top, device)
        return replace(unit, values=unit.values / scale)
    check_energy(matrix.name, found.values, found.square)
    if stream == "none":
        return _MatrixSpectrum(found.values, None, found.precision)
    vectors = compute_leading_directions(matrix, found.short_side, found.values, stream, top)
    return _MatrixSpectrum(found.values, vectors, found.precision)


def _compute_cpu_values(matrix: Matrix) -> _SingularValues:
    """By the cheapest way that is exact enough."""
    if _allows_float32(matrix):
        gram = compute_float_gram(matrix)
        if (values := _find_float_values(gram)) is not None:
            return _SingularValues(
                values, "float32 Gram", gram.square, partial(compute_gram_top, gram.matrix, values)
            )
    gram = compute_double_gram(matrix)
    eigenvalues = np.linalg.eigvalsh(gram.matrix) if np.isfinite(gram.square) else None
    values, precision = compute_exact_values(matrix, eigenvalues, lambda: gram.matrix)
    return _SingularValues(values, precision, gram.square, partial(compute_gram_top, gram.matrix, values))


def _allows_float32(matrix: Matrix) -> bool:
    """Whether products in float32 are worth a try."""
    short, long = sorted(matrix.shape)
    return (
        short >= MIXED_SHORT
        and long >= _MIXED_ASPECT * short
        and looks_random(next(read_finite_panels(matrix)))
    )


def _compute_gpu_values(matrix: Matrix) -> _SingularValues:
    """The Gram matrix and its eigenvalues and directions on a GPU; QR, where it is needed, here."""
    from glassformer.lens.compute.gpu import compute_gpu_eigenvalues

    eigenvalues, square, short_side, gram = compute_gpu_eigenvalues(matrix)
    values, precision = compute_exact_values(matrix, eigenvalues if np.isfinite(square) else None, gram)
    return _SingularValues(values, precision, square, short_side)


def _find_float_values(gram: Gram) -> _Values | None:
    """From products in float32; none where one of them may not be exact enough."""
    if not np.isfinite(gram.error) or not np.isfinite(gram.square):
        return None
    eigenvalues = np.linalg.eigvalsh(gram.matrix)
    off = gram.error * bound_cluster_spread(eigenvalues, gram.error) + _bound_double_error(eigenvalues)
    return _compute_falling_roots(eigenvalues) if np.all(off <= 2 * _TOLERANCE * eigenvalues) else None


def compute_exact_values(
    matrix: Matrix, eigenvalues: Float[np.ndarray, "component"] | None, gram: Callable[[], Square]
) -> tuple[_Values, str]:
    """From products in float64: as they are, with the doubtful ones found again, or all by QR."""
    if eigenvalues is None:  # the squares of the weights are no numbers
        return _compute_triangle_values(matrix), "float64 QR"
    noise = _bound_double_error(eigenvalues)
    doubtful = int(np.sum(2 * _TOLERANCE * eigenvalues < noise))
    if doubtful == 0:
        return _compute_falling_roots(eigenvalues), "float64 Gram"
    smallest = find_smallest_values(matrix, gram(), eigenvalues, doubtful, noise, _TOLERANCE)
    if smallest is None:
        return _compute_triangle_values(matrix), "float64 QR"
    return np.concatenate([_compute_falling_roots(eigenvalues[len(smallest) :]), smallest]), "float64 Gram"


def _compute_falling_roots(eigenvalues: Float[np.ndarray, "component"]) -> _Values:
    """Falling singular values; a root's relative error is half of its square's."""
    return np.asarray(np.sqrt(np.maximum(eigenvalues[::-1], 0.0)))


def _bound_double_error(eigenvalues: Float[np.ndarray, "component"]) -> float:
    """What rounding in float64 does to an eigenvalue."""
    return float(_DOUBLE_ERROR * np.finfo(np.float64).eps * eigenvalues[-1])


def _compute_triangle_values(matrix: Matrix) -> _Values:
    """By QR, a panel at a time: the triangle so far and the next panel have the next triangle."""
    short = min(matrix.shape)
    triangle = np.zeros((0, short))
    for panel in read_finite_panels(matrix, max(PANEL, short * short)):
        stacked = np.concatenate([triangle, panel])
        triangle = compute_qr_triangle(stacked) if len(stacked) > short else stacked
    return np.asarray(np.linalg.svd(triangle, compute_uv=False))


def _find_largest_weight(matrix: Matrix) -> float:
    return max(float(np.abs(panel).max()) for panel in read_finite_panels(matrix))


def _scale_matrix(matrix: Matrix, scale: float) -> Matrix:
    """The matrix in float64 with a power of two in front, which rounds nothing."""

    def read(rows: slice, columns: slice) -> Block:
        return matrix.read(rows, columns).astype(np.float64) * scale

    return replace(matrix, read=read)
