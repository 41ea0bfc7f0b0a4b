"""A block of seeds trained into a folder: the last row and the last numbers of each seed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from glassformer.errors import UserError
from glassformer.runs.atomic import make_folder, read_arrays
from glassformer.runs.config import Run
from glassformer.runs.environment import environment
from glassformer.runs.metrics import Row, read_metrics
from glassformer.runs.training import Miner, train_into
from glassformer.train.flat import flat_of


def train_block(
    folder: Path, run: Run, tell: Callable[[int], object] | None = None
) -> tuple[list[Row], dict[str, np.ndarray]]:
    """Start or go on, to the end; a block whose seeds all diverged is a result as well."""
    make_folder(folder)

    def progress(step: int, _: list[Row]) -> None:
        if tell:
            tell(step)

    try:
        rows = train_into(folder, run, progress, miner(run)).rows
    except UserError:
        if not all_diverged(rows := last_rows(folder, run)):
            raise
    return rows[-run.train.seeds :], last_numbers(folder, run)


def miner(run: Run) -> Miner | None:
    if not run.train.mine or not run.task.is_mined:
        return None
    from glassformer.proof.mining import mine

    return mine


def last_rows(folder: Path, run: Run) -> list[Row]:
    try:
        return read_metrics(folder)[-run.train.seeds :]
    except UserError:  # there are none, since the first stretch was not reached
        return []


def all_diverged(rows: list[Row]) -> bool:
    return bool(rows) and not any(np.isfinite(row["loss"]) for row in rows)


def last_numbers(folder: Path, run: Run) -> dict[str, np.ndarray]:
    """Of the last checkpoint, by name."""
    latest = max((folder / "checkpoints").glob("*.safetensors"))
    arrays, _ = read_arrays(latest)
    unpacked = flat_of(run.architecture).unpack(arrays["vectors"])
    return {name: np.ascontiguousarray(array) for name, array in unpacked.items()}


def made_here() -> dict[str, Any]:
    """Versions and machine, for readers."""
    made = environment(0)
    made.pop("first_seed")
    device = jax.devices()[0]
    return made | {"backend": device.platform, "device": device.device_kind}
