"""Random numbers and problems for the families that are trained."""

import numpy as np

from glassformer.models.architecture import Architecture
from glassformer.models.forward import list_parameters
from glassformer.tasks import add_digits, make_layout

ANSWERS = 11


def drawn(model: Architecture, seed: int = 0) -> dict[str, np.ndarray]:
    """Every number from a standard normal, so that nothing is zero by its start."""
    random = np.random.default_rng(seed)
    return {name: random.normal(size=parameter.shape) for name, parameter in list_parameters(model).items()}


def problems(layout: str, batch: int, seed: int = 1) -> np.ndarray:
    """Random additions with their answers; the last token is never read, so it is left out."""
    x, y = np.random.default_rng(seed).integers(0, 10, (2, 10, batch))
    return make_layout(layout, 10, 10).encode(x, y, add_digits(x, y, 10))[:-1]
