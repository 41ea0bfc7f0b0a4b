"""A true view of three dimensions on paper: turned about the vertical axis, then seen from above."""

import math

import numpy as np
from jaxtyping import Float

TURN, RISE = math.radians(-62), math.radians(38)  # where the eye stands

VIEW: Float[np.ndarray, "2 3"] = np.array(
    [
        [-math.sin(TURN), math.cos(TURN), 0.0],
        [-math.sin(RISE) * math.cos(TURN), -math.sin(RISE) * math.sin(TURN), math.cos(RISE)],
    ]
)


def seen(points: Float[np.ndarray, "*point 3"]) -> Float[np.ndarray, "*point 2"]:
    """Where points appear; lengths along the page are true, for the two rows of the view are orthonormal."""
    return np.asarray(np.asarray(points, np.float64) @ VIEW.T)
