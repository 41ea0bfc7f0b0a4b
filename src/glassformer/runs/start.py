"""What would make a run fail before its first step, found before a folder is made."""

from pathlib import Path

import numpy as np

from glassformer.core.atomic import read_arrays
from glassformer.core.errors import UserError
from glassformer.models.model import Model
from glassformer.runs.config import Run


def require_startable(run: Run) -> None:
    """One sentence where settings do not go together, or the file to start from does not fit."""
    refuse_margins(run)
    if run.train.mine and not run.task.is_mined:
        raise UserError(f"{run.name}: train.mine is for adders; a {run.task.words.model} has no miner")
    if run.train.start_from:
        read_start_parameters(run)


def refuse_margins(run: Run) -> None:
    if run.train.margin_steps and not run.task.has_one_answer:
        raise UserError("train.margin_steps is for adders; a rule allows several tokens at a position")


def read_start_parameters(run: Run) -> dict[str, np.ndarray]:
    """The parameters of the file that every seed starts from."""
    path = Path(run.train.start_from)
    if not path.is_file():
        raise UserError(f"train.start_from names {path}, which is no file")
    params, _ = read_arrays(path)
    try:
        return dict(Model(run.architecture, params).params)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
