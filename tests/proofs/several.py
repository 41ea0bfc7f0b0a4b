"""A population of one model, right and wrong."""

import numpy as np

from glassformer.runs.load import load_model


def several():
    """glass-39 as shipped, nudged, broken, and with a number that is no longer finite."""
    model = load_model("glass-39")
    nudged = {key: part * np.float32(1 + 1e-5) for key, part in model.params.items()}
    broken = {key: part * np.float32(1.3) for key, part in model.params.items()}
    lost = {key: np.full_like(part, np.nan) for key, part in model.params.items()}
    rows = [model.params, nudged, broken, lost]
    return model, {key: np.stack([row[key] for row in rows]) for key in model.params}
