"""A head's kernel A = left' turn right, by problems of the head's size: A itself is never formed.

With left' = Q_l R_l and right' = Q_r R_r (Q with orthonormal columns, R as small as the head):

    singular values of A   those of R_l turn R_r'
    eigenvalues of A       those of B = turn right left', and zeros
    |A|^2                  sum(G_l * (turn G_r turn')) with G = R'R, the Gram matrix of the rows
    |A - A'|^2             2 |A|^2 - 2 tr(A A), and tr(A A) = sum(B * B')

A head of two dimensions that copies the first and turns the second of three around:

>>> both = np.eye(2, 3)
>>> kernel = compute_kernel_spectrum(both, both, np.diag([1.0, -1.0]))
>>> kernel.values.tolist(), sorted(kernel.eigenvalues.real.tolist()), kernel.asymmetry
([1.0, 1.0], [-1.0, 1.0], 0.0)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float, Inexact

from glassformer.core.errors import UserError
from glassformer.lens.compute.checks import check_eigenvalues, check_energy

# Cholesky factors of a Gram matrix lose condition^2 digits. The ratio of their diagonal is at most the
# condition, and seldom under a hundredth of it: up to a ratio of 1e3 the smallest singular value is right to
# 1e-16 * (1e3 * 1e2)^2 = 1e-6 at the worst. Beyond it, QR of the rows themselves.
_CHOLESKY_RATIO = 1e3

_NAME = "a head's kernel"

_Rows = Float[np.ndarray, "head width"]


@dataclass(frozen=True)
class KernelSide:
    """One side of a kernel with its factors: keys and values are shared by the heads of a group."""

    rows: _Rows
    gram: Float[np.ndarray, "head head"]
    root: Float[np.ndarray, "rank head"]  # root' root is the Gram matrix


@dataclass(frozen=True)
class KernelSpectrum:
    """What is known of A, which is as wide as the model and of the head's rank."""

    values: Float[np.ndarray, "component"]  # singular values, falling: those that need not be 0
    eigenvalues: Complex[np.ndarray, "component"]  # likewise, by falling magnitude
    asymmetry: float  # |A - A'| / |A|; 0 where A is 0
    frobenius: float


@dataclass(frozen=True)
class _CrossKernel:
    """What the singular values of a kernel need."""

    matrix: Float[np.ndarray, "rank rank"]  # R_l turn R_r', whose singular values are A's
    square: float  # |A|^2 by the Gram matrices
    scale: float  # |left|^2 |right|^2, which rounding in the square is relative to


@dataclass(frozen=True)
class SmallKernel:
    """All that the spectrum of a kernel needs: its rows are multiplied out, and may be let go."""

    cross: _CrossKernel
    turned: Float[np.ndarray, "head head"]  # B, whose eigenvalues are A's
    size: int  # the largest rank that A can have


def compute_kernel_spectrum(
    left: _Rows | KernelSide, right: _Rows | KernelSide, turn: Float[np.ndarray, "head head"] | None = None
) -> KernelSpectrum:
    """Singular values, eigenvalues, asymmetry and norm of A = left' turn right; checked as they are found."""
    return compute_kernel_spectra([make_small_kernel(make_kernel_side(left), make_kernel_side(right), turn)])[
        0
    ]


def make_small_kernel(
    one: KernelSide, other: KernelSide, turn: Float[np.ndarray, "head head"] | None = None
) -> SmallKernel:
    """With the product that is as long as the model is wide."""
    product = other.rows @ one.rows.T  # head head
    return SmallKernel(
        make_cross_kernel(one, other, turn), product if turn is None else turn @ product, min(one.rows.shape)
    )


def make_cross_kernel(
    one: KernelSide, other: KernelSide, turn: Float[np.ndarray, "head head"] | None = None
) -> _CrossKernel:
    far = other.root if turn is None else other.root @ turn.T  # rank head
    gram = other.gram if turn is None else turn @ other.gram @ turn.T
    scale = float(one.gram.trace() * other.gram.trace())
    return _CrossKernel(one.root @ far.T, float(np.sum(one.gram * gram)), scale)


def compute_kernel_spectra(kernels: Sequence[SmallKernel]) -> list[KernelSpectrum]:
    """The spectra of many kernels; problems of one size are solved in one call, free of Python's lock."""
    every_values = compute_kernel_values([one.cross for one in kernels])
    every_eigenvalues = _solve_batched(np.linalg.eigvals, [one.turned for one in kernels])
    found = []
    for one, values, numbers in zip(kernels, every_values, every_eigenvalues, strict=True):
        eigenvalues = _sort_by_magnitude(numbers)[: one.size]
        check_eigenvalues(_NAME, eigenvalues, one.turned)
        square = float(np.sum(values**2))
        found.append(KernelSpectrum(values, eigenvalues, _compute_asymmetry(one.turned, square), square**0.5))
    return found


def compute_kernel_values(kernels: Sequence[_CrossKernel]) -> list[Float[np.ndarray, "_component"]]:
    """Singular values alone; their squares must add up to |A|^2."""
    found = _solve_batched(
        lambda stack: np.linalg.svd(stack, compute_uv=False), [one.matrix for one in kernels]
    )
    for one, values in zip(kernels, found, strict=True):
        check_energy(_NAME, values, one.square, one.scale)
    return found


def _solve_batched(
    solve: Callable[[np.ndarray], np.ndarray], squares: Sequence[np.ndarray]
) -> list[Inexact[np.ndarray, "_component"]]:
    """`solve` of every matrix, those of one shape together."""
    found: dict[int, np.ndarray] = {}
    for shape in dict.fromkeys(square.shape for square in squares):
        places = [place for place, square in enumerate(squares) if square.shape == shape]
        found |= dict(zip(places, solve(np.stack([squares[place] for place in places])), strict=True))
    return [found[place] for place in range(len(squares))]


def make_kernel_side(rows: _Rows | KernelSide) -> KernelSide:
    """The factors of one side, once."""
    if isinstance(rows, KernelSide):
        return rows
    exact = np.asarray(rows, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        gram = exact @ exact.T
    if not np.isfinite(gram.trace()):
        raise UserError("a map of a head has numbers that are not finite, or whose squares are not")
    return KernelSide(exact, gram, factor_gram(exact, gram))


def factor_gram(rows: _Rows, gram: Float[np.ndarray, "head head"]) -> Float[np.ndarray, "rank head"]:
    """R with R'R = gram: by Cholesky, or by QR of the rows where that would lose digits or fail."""
    if rows.shape[0] <= rows.shape[1]:
        try:
            root: Float[np.ndarray, "rank head"] = np.linalg.cholesky(gram).T
        except np.linalg.LinAlgError:
            return compute_qr_triangle(rows.T)
        diagonal = np.diag(root)
        if diagonal.max() < _CHOLESKY_RATIO * diagonal.min():
            return root
    return compute_qr_triangle(rows.T)


def compute_qr_triangle(tall: Float[np.ndarray, "long short"]) -> Float[np.ndarray, "rank short"]:
    """The triangle of QR, without the orthonormal columns."""
    return np.asarray(np.linalg.qr(tall, mode="r"))


def _sort_by_magnitude(eigenvalues: np.ndarray) -> Complex[np.ndarray, "component"]:
    """Falling; of a complex pair the one above the real line first, so that the order is always the same."""
    sizes = np.abs(eigenvalues)
    order = np.lexsort((-eigenvalues.imag, -np.round(sizes / (sizes.max(initial=0.0) or 1.0), 12)))
    return np.asarray(eigenvalues[order], np.complex128)


def _compute_asymmetry(turned: Float[np.ndarray, "head head"], square: float) -> float:
    """|A - A'| / |A| from tr(A A) and |A|^2; rounding must not make a symmetric kernel's root negative."""
    if square == 0.0:
        return 0.0
    return float(np.sqrt(max(0.0, 2.0 - 2.0 * float(np.sum(turned * turned.T)) / square)))
