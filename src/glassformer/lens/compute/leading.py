"""The leading directions of a matrix on the residual stream's side, from its Gram matrix.

Block Krylov: a few random vectors, multiplied by the Gram matrix again and again, span a space that soon
holds the leading directions (Musco and Musco 2015). The singular values are known already, so it is seen
when they are found. Directions whose singular values lie closer together than the tolerance are found as a
space, not one by one. Where the last wanted and the next value lie so close, the space itself is not sharp:
similarities of such spaces are right to about 0.001 (seen on SmolLM2-135M: 0.0005), others to 1e-6.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from jaxtyping import Float

from glassformer.lens.matrix import Matrix

SMALL = 384  # sides up to which all directions at once cost less
_EXTRA = 8  # random vectors beyond those wanted: the gap behind them decides how fast it goes
_CHECKED_AFTER = (3, 5, 8)  # multiplications; the last is a cap, for spectra without gaps
_TOLERANCE = 1e-3  # relative, of the squared singular values that the space must show
_LOWEST = 1e-5  # of the largest singular value: under it float32 holds no direction
_SEED = 0

_Vectors = Float[np.ndarray, "top side"]


def compute_leading_directions(
    matrix: Matrix,
    short_side: Callable[[int], _Vectors],  # so many leading directions of the Gram matrix's side
    values: Float[np.ndarray, "component"],
    stream: Literal["in", "out"],
    top: int,
) -> _Vectors:
    """Orthonormal rows, by falling singular value: right singular vectors for "in", left ones for "out"."""
    count = min(top, int(np.sum(values > _LOWEST * values[0])))
    if count == 0:
        return np.zeros((0, matrix.shape[stream == "in"]), np.float32)
    is_upright = matrix.shape[0] >= matrix.shape[1]
    directions = short_side(count)
    return (
        directions
        if is_upright == (stream == "in")
        else _compute_long_directions(matrix, directions, float(values[0]))
    )


def compute_gram_top(
    gram: Float[np.ndarray, "short short"], values: Float[np.ndarray, "component"], top: int
) -> _Vectors:
    """The leading eigenvectors of a Gram matrix whose eigenvalues, values^2, are known."""
    size = float(np.trace(gram)) / len(gram)
    unit = np.multiply(gram, 1 / size, out=np.empty(gram.shape, np.float32), casting="same_kind")
    return (
        _compute_dense_top(unit, top)
        if len(gram) <= SMALL
        else _compute_krylov_top(unit, values**2 / size, top)
    )


def _compute_dense_top(gram: Float[np.ndarray, "short short"], top: int) -> _Vectors:
    directions = np.linalg.eigh(gram)[1]
    return np.ascontiguousarray(directions[:, ::-1][:, :top].T)


def _compute_krylov_top(
    gram: Float[np.ndarray, "short short"], squares: Float[np.ndarray, "component"], top: int
) -> _Vectors:
    """Leading eigenvectors, as far as `squares`, the known eigenvalues, or the cap on multiplications say."""
    random = np.random.default_rng(_SEED)
    block = orthonormalize_columns(random.standard_normal((len(squares), top + _EXTRA)).astype(np.float32))
    space, image = block, gram @ block
    for step in range(1, _CHECKED_AFTER[-1] + 1):
        if step in _CHECKED_AFTER:
            found, mixture = np.linalg.eigh(space.T @ image)
            off = np.abs(found[::-1][:top] - squares[:top]) / squares[:top]
            if off.max() <= _TOLERANCE or step == _CHECKED_AFTER[-1]:
                break
        block = _project_out_space(space, image[:, -block.shape[1] :])
        space, image = np.hstack([space, block]), np.hstack([image, gram @ block])
    return np.ascontiguousarray((space @ mixture[:, ::-1][:, :top]).T)


def _project_out_space(space: np.ndarray, block: np.ndarray) -> Float[np.ndarray, "short block"]:
    """What of a block the space does not hold yet; taken out twice, since once leaves rounding behind."""
    for _ in range(2):
        block = orthonormalize_columns(block - space @ (space.T @ block))
    return block


def orthonormalize_columns(block: np.ndarray) -> Float[np.ndarray, "short block"]:
    basis: Float[np.ndarray, "short block"] = np.linalg.qr(block)[0]
    return basis


def _compute_long_directions(
    matrix: Matrix, directions: Float[np.ndarray, "top short"], largest: float
) -> Float[np.ndarray, "top long"]:
    """Images of the short side's directions: the long side's, once they are made orthonormal.

    They are taken relative to the largest singular value: float32 ends at 1e38, and gains may go beyond it.
    """
    images = np.concatenate(
        [(panel / largest).astype(np.float32, copy=False) @ directions.T for panel in matrix.panels()]
    )
    basis, triangle = np.linalg.qr(images)
    return np.ascontiguousarray((basis * np.sign(np.diag(triangle))).T.astype(np.float32))
