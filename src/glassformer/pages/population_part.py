"""All seeds of a run: final measures, loss curves, and weights where there is room."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.core.atomic import read_arrays
from glassformer.core.errors import UserError
from glassformer.models.model import check_params
from glassformer.pages.pack import measure_packed_size, pack_array, pack_arrays
from glassformer.pages.training_part import CURVE, format_retrain_command
from glassformer.pages.words import group_digits
from glassformer.runs.history import read_seed
from glassformer.runs.load import LoadedModel
from glassformer.runs.metrics import Row, find_metrics
from glassformer.runs.seal import require_unchanged

_MOST_PARAMS, _MOST_CURVES = 1_500_000, 600_000  # characters of the page
_CURVE_POINT = 11  # characters of a float64 in base64
_Content = dict[str, Any]


def make_population_part(
    loaded: LoadedModel, folder: Path, result: Mapping[str, object], verdict: str | None
) -> tuple[_Content | None, str]:
    """The population, or the sentence that says why there is none."""
    try:
        rows, best = find_metrics(folder), read_seed(folder)
    except UserError as error:
        return None, f"The seeds cannot be compared: {error}."
    seeds = sorted({int(row["seed"]) for row in rows})
    if not rows:
        return (
            None,
            f"This run has no metrics.csv: {format_retrain_command(folder)} trains it with one.",
        )
    if len(seeds) < 2:
        many = format_retrain_command(folder, " --seeds 16")
        return None, f"This run has one seed: {many} trains 16 seeds in parallel."
    steps, losses = _make_loss_curves(rows, seeds)
    kept = _choose_curve_steps(len(seeds), len(steps))
    params, note = _pack_population_weights(loaded, folder, seeds)
    verdicts = _list_seed_verdicts(result, best, verdict)
    content = {
        "rows": _list_final_rows(rows, verdicts),
        "best_seed": best,
        "steps": [steps[place] for place in kept],
        "losses": pack_array(losses[:, kept]),
        "params": params,
        "note": " ".join(filter(None, [note, _describe_thinned_curves(len(steps), len(kept))])),
    }
    return content, ""


def _make_loss_curves(rows: list[Row], seeds: list[int]) -> tuple[list[int], np.ndarray]:
    """Steps, and held-out losses, `seed step`; nan where a seed was not evaluated."""
    steps = sorted({int(row["step"]) for row in rows})
    at = {step: place for place, step in enumerate(steps)}
    of = {seed: place for place, seed in enumerate(seeds)}
    losses = np.full((len(seeds), len(steps)), np.nan)
    for row in rows:
        losses[of[int(row["seed"])], at[int(row["step"])]] = row["loss"]
    return steps, losses


def _choose_curve_steps(seeds: int, steps: int) -> list[int]:
    """Evaluations to keep, evenly, with the first and the last."""
    room = max(2, _MOST_CURVES // (seeds * _CURVE_POINT))
    chosen = np.unique(np.linspace(0, steps - 1, min(room, steps)).round().astype(int))
    return [int(place) for place in chosen]


def _describe_thinned_curves(every: int, kept: int) -> str:
    if every == kept:
        return ""
    return (
        f"The curves show {group_digits(kept)} of {group_digits(every)} evaluations, to keep the page small."
    )


def _list_final_rows(rows: list[Row], verdicts: Mapping[int, str]) -> list[_Content]:
    """The final measures of each seed."""
    last = {int(row["seed"]): row for row in sorted(rows, key=lambda row: row["step"])}
    return [
        {"seed": seed}
        | {name: last[seed][name] for name in CURVE if name != "step"}
        | {"verdict": verdicts.get(seed)}
        for seed in sorted(last)
    ]


def _list_seed_verdicts(result: Mapping[str, object], best: int, verdict: str | None) -> dict[int, str]:
    """The verdicts that are known: of the proved seeds and of the best seed."""
    measures = result.get("measures")
    proved = measures.get("proved_seeds") if isinstance(measures, dict) else None
    named = proved if isinstance(proved, list) else []
    known = {seed: "proved" for seed in named if isinstance(seed, int)}
    return known | ({best: verdict} if verdict else {})


def _pack_population_weights(
    loaded: LoadedModel, folder: Path, seeds: list[int]
) -> tuple[_Content | None, str]:
    """Every seed's weights, in the order of the seeds; or why the page cannot switch to another seed."""
    path = folder / "population.safetensors"
    if not path.exists():
        return None, "The weights of the other seeds were not saved, so this page cannot switch to them."
    try:
        require_unchanged(path)
        arrays, _ = read_arrays(path)
        stored = [int(seed) for seed in arrays.pop("seed", np.zeros(0))]
        if not set(seeds) <= set(stored):
            return None, "population.safetensors lacks some seeds, so this page cannot switch to them."
        order = [stored.index(seed) for seed in seeds]
        ordered = {name: array[order] for name, array in arrays.items()}
        check_params(loaded.architecture, {name: array[0] for name, array in ordered.items()})
    except (UserError, IndexError, TypeError, ValueError) as error:
        return None, f"This page cannot switch to other seeds: {error}."
    if sum(measure_packed_size(array) for array in ordered.values()) > _MOST_PARAMS:
        return None, "The weights of the other seeds are left out to keep this page below 8 MB."
    return pack_arrays(ordered), ""
