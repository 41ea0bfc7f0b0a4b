"""Identities that every spectrum must fulfil; one that does not is an error, not a number in a table.

>>> check_energy("w", np.array([3.0, 4.0]), 25.0)
>>> check_energy("w", np.array([1.0, 2.0]), 6.0)
Traceback (most recent call last):
glassformer.core.errors.UserError: the spectrum of w is wrong: its squares add up to 5, but its weights' to 6
"""

import numpy as np
from jaxtyping import Complex, Float

from glassformer.core.errors import UserError

# Both sides are sums of at most 1e9 rounded products of float64. Their errors are relative to sums of
# magnitudes and grow like the root of the number of terms: 1e-16 * sqrt(1e9) = 3e-12 at the worst.
_ENERGY_TOLERANCE = 1e-9
_ROUNDING = 1e-14  # of a sum whose terms cancel: two sides of a head that never meet have a kernel of 0
_TRACE_TOLERANCE = 1e-9  # relative to |B| * root of the size, which no trace exceeds


def check_energy(
    name: str, values: Float[np.ndarray, "component"], square: float, scale: float = 0.0
) -> None:
    """The sum of sigma^2 is |W|^2; `scale` is what the terms of that sum add up to without their signs."""
    total = float(np.sum(values**2))
    if not abs(total - square) <= _ENERGY_TOLERANCE * abs(square) + _ROUNDING * scale:
        raise UserError(
            f"the spectrum of {name} is wrong: its squares add up to {total:.12g}, "
            f"but its weights' to {square:.12g}"
        )


def check_eigenvalues(
    name: str, eigenvalues: Complex[np.ndarray, "component"], small: Float[np.ndarray, "head head"]
) -> None:
    """The eigenvalues add up to the trace of B, whose eigenvalues they are."""
    total, trace = complex(np.sum(eigenvalues)), float(np.trace(small))
    if not abs(total - trace) <= _TRACE_TOLERANCE * float(np.linalg.norm(small)) * len(small) ** 0.5:
        raise UserError(
            f"the eigenvalues of {name} are wrong: they add up to {total:.12g}, but the trace is {trace:.12g}"
        )
