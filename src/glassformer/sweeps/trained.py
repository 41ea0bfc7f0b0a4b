"""A block of seeds trained into a folder: the last row and the last parameters of each seed."""

from pathlib import Path
from typing import Any

import jax
import numpy as np

from glassformer.core.atomic import make_folder, read_arrays
from glassformer.core.errors import UserError
from glassformer.core.waiting import TellCount
from glassformer.runs.config import Run
from glassformer.runs.environment import describe_environment
from glassformer.runs.metrics import Row, read_metrics
from glassformer.runs.training import Miner, train_into_folder
from glassformer.training.flat import make_flat_layout


def train_block(
    folder: Path, run: Run, tell: TellCount | None = None
) -> tuple[list[Row], dict[str, np.ndarray]]:
    """Start or resume, to the end; a block whose seeds all diverged is a result as well."""
    make_folder(folder)

    def progress(step: int, _: list[Row]) -> None:
        if tell:
            tell(step)

    try:
        rows = train_into_folder(folder, run, progress, _choose_miner(run)).rows
    except UserError:
        if not _has_only_diverged(rows := _read_last_rows(folder, run)):
            raise
    return rows[-run.train.seeds :], _read_last_parameters(folder, run)


def _choose_miner(run: Run) -> Miner | None:
    if not run.train.mine or not run.task.is_mined:
        return None
    from glassformer.proofs.mining import mine_problems

    return mine_problems


def _read_last_rows(folder: Path, run: Run) -> list[Row]:
    try:
        return read_metrics(folder)[-run.train.seeds :]
    except UserError:  # there are none, since the first stretch was not reached
        return []


def _has_only_diverged(rows: list[Row]) -> bool:
    return bool(rows) and not any(np.isfinite(row["loss"]) for row in rows)


def _read_last_parameters(folder: Path, run: Run) -> dict[str, np.ndarray]:
    """Of the last checkpoint, by name."""
    latest = max((folder / "checkpoints").glob("*.safetensors"))
    arrays, _ = read_arrays(latest)
    unpacked = make_flat_layout(run.architecture).unpack(arrays["vectors"])
    return {name: np.ascontiguousarray(array) for name, array in unpacked.items()}


def collect_provenance() -> dict[str, Any]:
    """Versions and machine, for readers."""
    made = describe_environment(0)
    made.pop("first_seed")
    device = jax.devices()[0]
    return made | {"backend": device.platform, "device": device.device_kind}
