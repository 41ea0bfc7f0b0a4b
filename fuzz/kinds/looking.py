"""What is done with a checkpoint: every header is read, small tensors whole, now and then all is analysed."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np

from fuzz.kinds.runs import NEEDS

WHOLE = 100_000  # numbers up to which a tensor is read whole
MOST = 40  # tensors that are looked at
ANALYSED = 0.01  # of the cases: a tenth of a second each


@cache
def can_analyse() -> bool:
    """Whether all that an analysis imports is installed."""
    return all(find_spec(name) for name in NEEDS)


def look(path: Path, random: Random) -> int | None:
    """Open the checkpoint and read it; the status of `glassformer spectra` where that was chosen."""
    if random.random() < ANALYSED and can_analyse():
        from glassformer.cli.program import main

        words = ["--out", "out", "--format", "none", "--workers", "1", "--json"]
        return main(
            ["spectra", str(path), *words, *random.choice((["--heads"], ["--relations", "none"], []))]
        )
    from glassformer.lens.read.open import open_checkpoint

    with np.errstate(all="ignore"):
        for tensor in list(open_checkpoint(path).tensors.values())[:MOST]:
            rows, columns = tensor.matrix_shape
            if rows * columns <= WHOLE:
                tensor.vector()
            else:
                tensor.block(slice(0, 2), slice(0, 2))
                tensor.block(slice(rows - 1, rows), slice(columns - 1, columns))
            tensor.forget()
    return None
