"""The Gram matrix of a matrix's short side, a panel at a time, with a bound on what rounding did to it.

>>> from glassformer.lens.matrix import Matrix
>>> weights = np.array([[3.0, 0.0], [0.0, 1.0], [4.0, 0.0]])
>>> gram = compute_double_gram(Matrix("w", (3, 2), lambda rows, columns: weights[rows, columns]))
>>> gram.matrix.tolist(), gram.square
([[25.0, 0.0], [0.0, 1.0]], 26.0)
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.lens.matrix import PANEL, Matrix

BLOCK = 512  # columns of a product: its result stays in the cache while it is added, and only half are needed
_CHUNK = 250_000  # numbers of a panel that are held in float64 at once, beside float32 products
_PROBES = 8  # columns that are also computed in float64, to see what float32 did to them

# An eigenvalue that lies alone moves by v'Ev. Rounding errors E of float32 are as good as independent of each
# other and of v, each of size e: v'Ev then has a standard deviation of sqrt(2) e, and 16 e is eleven of them.
# Of k that lie within what E can do, 2 sqrt(short) e, the outermost move like those of a random k x k matrix,
# by 2 sqrt(k) e: 70 e for an orthogonal matrix of 1,536 columns.
_FLOAT_SPREAD = 16.0
_CLUSTER_SPREAD = 3.0  # times sqrt(k) e: half more than that
# Errors that are not independent would add up along some direction: the probes' errors would then have a
# singular value well above that of noise, e (sqrt(rows) + sqrt(probes)).
_NOISE_EXCESS = 1.5
# Times what noise has, whose 16,000 correlations average within about 1% of it. Feed-forward weights of
# SmolLM2-135M and MiniLM: 1.5 to 4.3 times (medians of a type; a few matrices lie below and are tried).
_NOISE_CORRELATION = 1.1

Square = Float[np.ndarray, "short short"]


@dataclass(frozen=True)
class Gram:
    """The sum of P'P over the panels P."""

    matrix: Square  # float64
    square: float  # |W|^2, from the weights themselves
    error: float = 0.0  # bound on what float32 did to a lone eigenvalue; infinite where nothing is known


def compute_double_gram(matrix: Matrix) -> Gram:
    """All in float64."""
    total, square = _make_empty_gram(matrix), 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # seen in the square, which is not finite then
        for panel in read_finite_panels(matrix):
            exact = panel.astype(np.float64)
            square += float(np.einsum("ij,ij->", exact, exact))
            _add_panel_products(total, exact)
    _mirror_blocks(total)
    return Gram(total, square)


def compute_float_gram(matrix: Matrix) -> Gram:
    """Products in float32, sums of panels and the diagonal in float64; the error is seen on some columns."""
    total, probes = _make_empty_gram(matrix), _choose_probe_columns(min(matrix.shape))
    exact, squares = np.zeros((len(total), len(probes))), np.zeros(len(total))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for panel in read_finite_panels(matrix):
            _add_panel_products(total, panel.astype(np.float32, copy=False))
            columns, diagonal = _probe_gram(panel, probes)
            exact += columns
            squares += diagonal
        _mirror_blocks(total)
        np.fill_diagonal(total, squares)
        error = _bound_float_error(total[:, probes] - exact, probes, squares)
        is_finite = bool(np.isfinite(total.sum()))  # outside of the probes too
        return Gram(total, float(squares.sum()), error if is_finite else float("inf"))


def looks_random(panel: Float[np.ndarray, "long short"]) -> bool:
    """Whether columns correlate no more than noise: the squares of their correlations average 1 / rows.

    Where they do, as in most trained weights, the smallest eigenvalues are too small for float32; to see that
    on one panel saves products that would be thrown away.
    """
    probes = _choose_probe_columns(panel.shape[1])
    products, squares = _probe_gram(panel, probes)
    products[probes, np.arange(len(probes))] = 0.0
    norms = np.sqrt(squares)
    scales = np.outer(norms, norms[probes])
    correlations = np.divide(products, scales, out=np.zeros_like(products), where=scales > 0)
    others = correlations.size - len(probes)
    return bool(len(panel) * np.sum(correlations**2) <= _NOISE_CORRELATION * others)


def _probe_gram(
    panel: Float[np.ndarray, "long short"], probes: Int[np.ndarray, "probe"]
) -> tuple[Float[np.ndarray, "short probe"], Float[np.ndarray, "short"]]:
    """Some columns of the panel's Gram matrix, and its diagonal, in float64."""
    columns, squares = np.zeros((panel.shape[1], len(probes))), np.zeros(panel.shape[1])
    for chunk in _split_panel(panel):
        columns += chunk.T @ chunk[:, probes]
        squares += np.einsum("ij,ij->j", chunk, chunk)
    return columns, squares


def _bound_float_error(
    errors: Float[np.ndarray, "short probe"],
    probes: Int[np.ndarray, "probe"],
    squares: Float[np.ndarray, "short"],
) -> float:
    """Bound on a lone eigenvalue's error: those of the probes, relative to columns' norms, are typical."""
    errors[probes, np.arange(len(probes))] = 0.0  # the diagonal is exact
    norms = np.sqrt(squares)
    relative = np.divide(errors, np.outer(norms, norms[probes]), out=np.zeros_like(errors), where=errors != 0)
    if not np.all(np.isfinite(relative)):
        return float("inf")
    size = float(np.sqrt(np.mean(relative**2)))
    noise = size * (len(errors) ** 0.5 + len(probes) ** 0.5)
    if float(np.linalg.norm(relative, 2)) > _NOISE_EXCESS * noise:
        return float("inf")
    return _FLOAT_SPREAD * size * float(squares.max())


def bound_cluster_spread(eigenvalues: Float[np.ndarray, "short"], error: float) -> Float[np.ndarray, "short"]:
    """How many times as far off as a lone one each rising eigenvalue may be, for those that lie together.

    >>> bound_cluster_spread(np.array([1.0, 2.0, 2.0, 2.0, 2.0]), 0.1).tolist()
    [1.1875, 1.375, 1.375, 1.375, 1.375]
    """
    reach = 2 * 2 * len(eigenvalues) ** 0.5 * error / _FLOAT_SPREAD  # two may come from both sides
    first = np.searchsorted(eigenvalues, eigenvalues - reach, "left")
    behind = np.searchsorted(eigenvalues, eigenvalues + reach, "right")
    return np.asarray(1 + _CLUSTER_SPREAD * np.sqrt(behind - first) / _FLOAT_SPREAD)


def _make_empty_gram(matrix: Matrix) -> Square:
    short = min(matrix.shape)
    return np.zeros((short, short))


def _add_panel_products(total: Square, panel: Float[np.ndarray, "long short"]) -> None:
    """P'P onto the lower triangle, block by block: the work of syrk, without its matrix beside the sum."""
    short = panel.shape[1]
    for row in range(0, short, BLOCK):
        for column in range(0, row + 1, BLOCK):
            here, there = slice(row, row + BLOCK), slice(column, column + BLOCK)
            total[here, there] += panel[:, here].T @ panel[:, there]


def _mirror_blocks(total: Square) -> None:
    """The upper blocks from the lower ones."""
    for row in range(0, len(total), BLOCK):
        for column in range(0, row, BLOCK):
            here, there = slice(row, row + BLOCK), slice(column, column + BLOCK)
            total[there, here] = total[here, there].T


def _choose_probe_columns(short: int) -> Int[np.ndarray, "probe"]:
    return np.unique(np.linspace(0, short - 1, _PROBES).astype(int))


def _split_panel(panel: Float[np.ndarray, "long short"]) -> Iterator[Float[np.ndarray, "long short"]]:
    """A panel in float64, a piece at a time."""
    step = max(1, _CHUNK // panel.shape[1])
    for start in range(0, len(panel), step):
        yield panel[start : start + step].astype(np.float64)


def read_finite_panels(matrix: Matrix, numbers: int = PANEL) -> Iterator[Float[np.ndarray, "long short"]]:
    """The panels; one sentence where a number in them is not finite."""
    start = 0
    for panel in matrix.panels(numbers):
        # A sum is not finite where a number is not, and seldom otherwise: then look closer.
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = bool(np.isfinite(panel.sum()))
        if not is_finite and not np.isfinite(panel).all():
            raise _make_nonfinite_error(matrix, panel, start)
        start += len(panel)
        yield panel


def _make_nonfinite_error(matrix: Matrix, panel: Float[np.ndarray, "long short"], start: int) -> UserError:
    """Names the first row and column, counted from 0, that holds infinity or no number."""
    is_upright = matrix.shape[0] >= matrix.shape[1]
    bad = ~np.isfinite(panel) if is_upright else ~np.isfinite(panel.T)
    row, column = (int(place) for place in np.argwhere(bad)[0])
    number = panel[row, column] if is_upright else panel[column, row]
    where = (row + start, column) if is_upright else (row, column + start)
    return UserError(
        f"{matrix.name} has {number} in row {where[0]}, column {where[1]}, where a finite number was expected"
    )
