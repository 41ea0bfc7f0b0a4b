"""Margins: the best right logit minus the best other one; below 0 the answer is wrong, 0 is a tie.

>>> logits = np.array([[1.0, 3.0], [4.0, 3.0], [3.5, 0.0]])  # tok batch
>>> measure_margins(logits, np.array([[True, True], [True, False], [False, True]]))
array([0.5, 0. ])
>>> measure_token_margins(logits, np.array([1, 2]))
array([ 0.5, -3. ])
"""

import numpy as np
from jaxtyping import Bool, Float, Int


def measure_margins(
    logits: Float[np.ndarray, "tok *batch"], is_right: Bool[np.ndarray, "tok *batch"]
) -> Float[np.ndarray, "*batch"]:
    """Where several tokens may be right; nan where both logits are the same infinity."""
    with np.errstate(invalid="ignore", over="ignore"):
        best, other = (np.where(side, logits, -np.inf).max(0) for side in (is_right, ~is_right))
        return np.asarray(best - other)


def measure_token_margins(
    logits: Float[np.ndarray, "tok *batch"], right: Int[np.ndarray, "*batch"]
) -> Float[np.ndarray, "*batch"]:
    """The same where one token is right, in float64."""
    others, index = np.array(logits, np.float64), right[None]
    with np.errstate(invalid="ignore", over="ignore"):
        ahead = np.take_along_axis(others, index, 0)[0]
        np.put_along_axis(others, index, -np.inf, 0)
        return np.asarray(ahead - others.max(0))
