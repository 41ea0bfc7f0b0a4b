"""How the chosen seed was trained: its weights at every saved step, and its curve."""

from pathlib import Path
from typing import Any

import numpy as np

from glassformer.errors import UserError
from glassformer.model.model import check_params
from glassformer.page.pack import packed_dict, packed_size
from glassformer.page.words import grouped, typed
from glassformer.runs.history import History, read_history, read_seed
from glassformer.runs.load import Loaded
from glassformer.runs.metrics import Row, read_metrics

CURVE = (
    *("step", "train_loss", "loss", "argmax_accuracy", "right_probability"),
    *("whole_accuracy", "smallest_margin"),
)
MOST = 4_000_000  # characters of the page for checkpoints


def training_part(loaded: Loaded, folder: Path, floor: float | None) -> tuple[dict[str, Any] | None, str]:
    """The training, or the sentence that says why there is none."""
    try:
        history = read_history(folder)
        seed, rows = read_seed(folder), metrics_of(folder)
        if history is None:
            return None, f"This run has no checkpoints: {trained_again(folder)} trains it anew, with them."
        check_params(loaded.architecture, history.at(0))
    except UserError as error:
        return None, f"The training cannot be shown: {error}."
    kept = thinned(history)
    own = [{name: row[name] for name in CURVE} for row in rows if row["seed"] == seed]
    content = {
        "steps": kept.steps.tolist(),
        "params": packed_dict(kept.params),
        "best_seed": seed,
        "rows": own,
        "floor": floor,
        "note": thinned_words(len(history.steps), len(kept.steps)),
    }
    return content, ""


def trained_again(folder: Path, more: str = "") -> str:
    """The command for the same run beside this one, as it can be typed where the page was asked for.

    >>> trained_again(Path("runs/my run"), " --seeds 16")
    "`glassformer run 'runs/my run/run.toml' --seeds 16 --out 'runs/my run-again'`"
    """
    whole = folder.resolve()  # "." has no name
    beside = whole.with_name(f"{whole.name}-again")
    return f"`glassformer run {typed(folder / 'run.toml')}{more} --out {typed(beside)}`"


def metrics_of(folder: Path) -> list[Row]:
    return read_metrics(folder) if (folder / "metrics.csv").exists() else []


def thinned(history: History) -> History:
    """As many steps as there is room for, evenly, with the first and the last."""
    size = sum(packed_size(array) for array in history.params.values())
    count = len(history.steps)
    room = max(2, int(count * MOST / size)) if size > MOST else count
    keep = np.unique(np.linspace(0, count - 1, min(room, count)).round().astype(int))
    return History(history.steps[keep], {name: array[keep] for name, array in history.params.items()})


def thinned_words(every: int, kept: int) -> str:
    if every == kept:
        return ""
    return f"{grouped(kept)} of {grouped(every)} checkpoints are here, evenly, to keep the page small."
