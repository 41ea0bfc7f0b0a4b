"""A true view of three dimensions on paper: turned about the vertical axis, then seen from above."""

import math

import numpy as np
from jaxtyping import Float

_TURN, _RISE = math.radians(-62), math.radians(38)  # where the eye stands

VIEW: Float[np.ndarray, "2 3"] = np.array(
    [
        [-math.sin(_TURN), math.cos(_TURN), 0.0],
        [-math.sin(_RISE) * math.cos(_TURN), -math.sin(_RISE) * math.sin(_TURN), math.cos(_RISE)],
    ]
)


def project_points(points: Float[np.ndarray, "*point 3"]) -> Float[np.ndarray, "*point 2"]:
    """Where points appear; lengths along the page are true: the two rows of the view are orthonormal."""
    return np.asarray(np.asarray(points, np.float64) @ VIEW.T)
