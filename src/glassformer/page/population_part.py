"""All seeds of a run: where each ended, its curve, and its weights where there is room."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.errors import UserError
from glassformer.model.model import check_params
from glassformer.page.pack import packed, packed_dict, packed_size
from glassformer.page.training_part import CURVE, metrics_of, trained_again
from glassformer.page.words import grouped
from glassformer.runs.atomic import read_arrays
from glassformer.runs.history import read_seed
from glassformer.runs.load import Loaded
from glassformer.runs.metrics import Row
from glassformer.runs.seal import require_unchanged

MOST_PARAMS, MOST_CURVES = 1_500_000, 600_000  # characters of the page
CURVE_POINT = 11  # characters of a float64 in base64
Content = dict[str, Any]


def population_part(
    loaded: Loaded, folder: Path, result: Mapping[str, Any], verdict: str | None
) -> tuple[Content | None, str]:
    """The population, or the sentence that says why there is none."""
    try:
        rows, best = metrics_of(folder), read_seed(folder)
    except UserError as error:
        return None, f"The seeds cannot be compared: {error}."
    seeds = sorted({int(row["seed"]) for row in rows})
    if not rows:
        return None, f"This run has no metrics.csv: {trained_again(folder)} trains it anew, with one."
    if len(seeds) < 2:
        many = trained_again(folder, " --seeds 16")
        return None, f"This run has one seed: {many} trains sixteen side by side."
    steps, losses = curves(rows, seeds)
    kept = thinned_steps(len(seeds), len(steps))
    params, note = weights_of_all(loaded, folder, seeds)
    verdicts = verdicts_of(result, best, verdict)
    content = {
        "rows": last_rows(rows, verdicts),
        "best_seed": best,
        "steps": [steps[place] for place in kept],
        "losses": packed(losses[:, kept]),
        "params": params,
        "note": " ".join(filter(None, [note, fewer_words(len(steps), len(kept))])),
    }
    return content, ""


def curves(rows: list[Row], seeds: list[int]) -> tuple[list[int], np.ndarray]:
    """Steps, and held-out losses, `seed step`; nan where a seed was not evaluated."""
    steps = sorted({int(row["step"]) for row in rows})
    at = {step: place for place, step in enumerate(steps)}
    of = {seed: place for place, seed in enumerate(seeds)}
    losses = np.full((len(seeds), len(steps)), np.nan)
    for row in rows:
        losses[of[int(row["seed"])], at[int(row["step"])]] = row["loss"]
    return steps, losses


def thinned_steps(seeds: int, steps: int) -> list[int]:
    """Evaluations to keep, evenly, with the first and the last."""
    room = max(2, MOST_CURVES // (seeds * CURVE_POINT))
    chosen = np.unique(np.linspace(0, steps - 1, min(room, steps)).round().astype(int))
    return [int(place) for place in chosen]


def fewer_words(every: int, kept: int) -> str:
    if every == kept:
        return ""
    return f"The curves have {grouped(kept)} of {grouped(every)} evaluations, to keep the page small."


def last_rows(rows: list[Row], verdicts: Mapping[int, str]) -> list[Content]:
    """Where each seed ended."""
    last = {int(row["seed"]): row for row in sorted(rows, key=lambda row: row["step"])}
    return [
        {"seed": seed}
        | {name: last[seed][name] for name in CURVE if name != "step"}
        | {"verdict": verdicts.get(seed)}
        for seed in sorted(last)
    ]


def verdicts_of(result: Mapping[str, Any], best: int, verdict: str | None) -> dict[int, str]:
    """What is known of each seed: those named as proved, and the chosen one."""
    measures = result.get("measures")
    proved = measures.get("proved_seeds") if isinstance(measures, dict) else None
    named = proved if isinstance(proved, list) else []
    known = {seed: "proved" for seed in named if isinstance(seed, int)}
    return known | ({best: verdict} if verdict else {})


def weights_of_all(loaded: Loaded, folder: Path, seeds: list[int]) -> tuple[Content | None, str]:
    """Every seed's weights, in the order of the seeds; or why a seed cannot be opened here."""
    path = folder / "population.safetensors"
    if not path.exists():
        return None, "The weights of the other seeds were not kept, so that they cannot be opened here."
    try:
        require_unchanged(path)
        arrays, _ = read_arrays(path)
        stored = [int(seed) for seed in arrays.pop("seed", np.zeros(0))]
        if not set(seeds) <= set(stored):
            return None, "population.safetensors lacks some seeds, so that they cannot be opened here."
        order = [stored.index(seed) for seed in seeds]
        ordered = {name: array[order] for name, array in arrays.items()}
        check_params(loaded.architecture, {name: array[0] for name, array in ordered.items()})
    except (UserError, IndexError, TypeError, ValueError) as error:
        return None, f"The other seeds cannot be opened here: {error}."
    if sum(packed_size(array) for array in ordered.values()) > MOST_PARAMS:
        return None, "The weights of the other seeds are left out to keep this page below 8 MB."
    return packed_dict(ordered), ""
