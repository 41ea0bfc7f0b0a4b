"""The training of the best seed: its weights at every checkpoint, and its curve."""

from pathlib import Path
from typing import Any

import numpy as np

from glassformer.core.errors import UserError
from glassformer.models.model import check_params
from glassformer.pages.pack import measure_packed_size, pack_arrays
from glassformer.pages.paths import quote_path
from glassformer.pages.words import group_digits
from glassformer.runs.history import History, read_history, read_seed
from glassformer.runs.load import LoadedModel
from glassformer.runs.metrics import find_metrics

CURVE = (
    *("step", "train_loss", "loss", "argmax_accuracy", "right_probability"),
    *("whole_accuracy", "smallest_margin"),
)
_MOST = 4_000_000  # characters of the page for checkpoints


def make_training_part(
    loaded: LoadedModel, folder: Path, floor: float | None
) -> tuple[dict[str, Any] | None, str]:
    """The training, or the sentence that says why there is none."""
    try:
        history = read_history(folder)
        seed, rows = read_seed(folder), find_metrics(folder)
        if history is None:
            return (
                None,
                f"This run has no checkpoints: {format_retrain_command(folder)} trains it with them.",
            )
        check_params(loaded.architecture, history.at(0))
    except UserError as error:
        return None, f"The training cannot be shown: {error}."
    kept = thin_history(history)
    own = [{name: row[name] for name in CURVE} for row in rows if row["seed"] == seed]
    content = {
        "steps": kept.steps.tolist(),
        "params": pack_arrays(kept.params),
        "best_seed": seed,
        "rows": own,
        "floor": floor,
        "note": _describe_thinned_history(len(history.steps), len(kept.steps)),
    }
    return content, ""


def format_retrain_command(folder: Path, more: str = "") -> str:
    """The command for the same run in a folder beside this one.

    >>> format_retrain_command(Path("runs/my run"), " --seeds 16")
    "`glassformer run 'runs/my run/run.toml' --seeds 16 --out 'runs/my run-again'`"
    """
    whole = folder.resolve()  # "." has no name
    beside = whole.with_name(f"{whole.name}-again")
    return f"`glassformer run {quote_path(folder / 'run.toml')}{more} --out {quote_path(beside)}`"


def thin_history(history: History) -> History:
    """As many checkpoints as there is room for, evenly spaced, with the first and the last."""
    size = sum(measure_packed_size(array) for array in history.params.values())
    count = len(history.steps)
    room = max(2, int(count * _MOST / size)) if size > _MOST else count
    keep = np.unique(np.linspace(0, count - 1, min(room, count)).round().astype(int))
    return History(history.steps[keep], {name: array[keep] for name, array in history.params.items()})


def _describe_thinned_history(every: int, kept: int) -> str:
    if every == kept:
        return ""
    return f"{group_digits(kept)} of {group_digits(every)} checkpoints are kept, to keep the page small."
