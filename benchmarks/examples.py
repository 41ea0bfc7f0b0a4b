"""A run to measure on: plus_last_even, four seeds, 2,000 steps, some twenty checkpoints."""

from pathlib import Path

import glassformer


def short_run(folder: Path) -> Path:
    """Trained into folder/plus_last_even."""
    options = {"train.steps": 2000, "train.seeds": 4, "draw.figures": "none", "draw.page": False}
    glassformer.run("plus_last_even", out=folder / "plus_last_even", options=options)
    return folder / "plus_last_even"
