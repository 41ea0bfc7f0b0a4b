"""The smallest adders as models, and the column that the proof looks at."""

import numpy as np

from glassformer.models.model import Model
from glassformer.zoo import ZOO
from glassformer.zoo.smallest import (
    ENTRIES,
)

LAYOUT = ENTRIES[0].task.written()
MIDDLE = 5  # a digit of the answer with all cases


def model_of(name: str, **changed: float) -> Model:
    """A shipped adder; `token_c0=21.0` changes one of its numbers."""
    arrays = {key.replace("_", "."): np.array(value) for key, value in changed.items()}
    return Model(ZOO[name].architecture, dict(ZOO[name].build()) | arrays)
