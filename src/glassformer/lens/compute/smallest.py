"""The smallest singular values where rounding in the Gram matrix G may have blurred them.

Its directions of smallest eigenvalues are still good; its inverse draws them out of random vectors. On them
the weights themselves are looked at, W X, whose singular values no squaring has blurred. How far these can be
off is known afterwards: with the residual R = G X - X diag(values^2) and the gap to the eigenvalues outside,
no value^2 is further from an eigenvalue than |R|^2 / gap (Kato and Temple's bound).

>>> weights = np.diag([1.0, 1.0, 1.0, 1e-5])
>>> matrix = Matrix("w", (4, 4), lambda rows, columns: weights[rows, columns])
>>> squares = np.diag(weights)[::-1] ** 2
>>> find_smallest_values(matrix, weights**2, squares, 1, noise=1e-14, tolerance=1e-6).tolist()
[1e-05]
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from glassformer.lens.compute.leading import orthonormalize_columns
from glassformer.lens.matrix import Matrix

_MOST = 32  # values that are found so; where there are more, QR costs little more
_EXTRA = 16  # vectors beyond them: the gap behind these decides how fast it goes
_CHECKED_AFTER = (2, 4, 8, 16)  # multiplications with the inverse: cheap ones, beside that inverse
_SEED = 0

_Square = Float[np.ndarray, "short short"]
_Eigenvalues = Float[np.ndarray, "short"]  # rising


def find_smallest_values(
    matrix: Matrix, gram: _Square, eigenvalues: _Eigenvalues, count: int, noise: float, tolerance: float
) -> Float[np.ndarray, "some"] | None:
    """The smallest, `count` or a few more, falling; none where they may be off by more than the tolerance.

    `noise` is what rounding may have done to the Gram matrix and its eigenvalues.
    """
    if not 0 < count <= min(_MOST, len(gram) - 1):
        return None
    wanted = _extend_to_gap(eigenvalues, count)
    gap = eigenvalues[wanted] - eigenvalues[wanted - 1] - 2 * noise
    for directions in _approach_small_directions(gram, min(wanted + _EXTRA, len(gram))):
        values, found = _compute_restricted_values(matrix, directions, wanted)
        residual = gram @ found - found * values**2
        square = float(np.sum(residual**2)) + wanted * noise**2
        if square <= tolerance * values[-1] ** 2 * gap:
            return values
    return None


def _extend_to_gap(eigenvalues: _Eigenvalues, count: int) -> int:
    """As many or a few more, so that the next eigenvalue lies as far away as can be.

    >>> _extend_to_gap(np.array([1.0, 2.0, 2.1, 5.0, 6.0]), 2)
    3
    """
    return count + int(np.argmax(np.diff(eigenvalues[count - 1 : count + _EXTRA // 2])))


def _approach_small_directions(gram: _Square, block: int) -> Iterator[Float[np.ndarray, "short block"]]:
    """Orthonormal columns that come nearer and nearer to the smallest eigenvalues' directions."""
    try:
        inverse = np.linalg.inv(gram)
    except np.linalg.LinAlgError:
        return
    directions = np.random.default_rng(_SEED).standard_normal((len(gram), block))
    for step in range(1, _CHECKED_AFTER[-1] + 1):
        directions = orthonormalize_columns(inverse @ directions)
        if not np.isfinite(directions).all():
            return
        if step in _CHECKED_AFTER:
            yield directions


def _compute_restricted_values(
    matrix: Matrix, directions: Float[np.ndarray, "short block"], wanted: int
) -> tuple[Float[np.ndarray, "wanted"], Float[np.ndarray, "short wanted"]]:
    """The smallest singular values of W X, falling, and the directions in the span of X that have them."""
    images = np.concatenate([panel.astype(np.float64) @ directions for panel in matrix.panels()])
    _, values, turn = np.linalg.svd(np.linalg.qr(images, mode="r"))
    return values[-wanted:], directions @ turn[-wanted:].T
