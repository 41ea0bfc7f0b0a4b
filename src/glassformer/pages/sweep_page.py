"""page.html of a sweep: the table, success rates against size with their intervals, and the proved models.

It is made from the finished work units, so an unfinished sweep has a page too:
`glassformer page sweeps/adders`.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.core.atomic import make_folder, remove_unfinished, write_text
from glassformer.pages.common_part import make_common_part
from glassformer.pages.index import make_relative_link
from glassformer.pages.write import make_html
from glassformer.sweeps.folder import MODELS, PAGE, SWEEP, read_stored_sweep
from glassformer.sweeps.sweep import SweepProgress, read_sweep_progress

_ENTRY = "pages/assets/sweep_main.js"
_LISTED = 4  # models of a configuration that the table links; the folder has all


def make_sweep_html(folder: Path, at: Path) -> str:
    """The page of a sweep, for a file in the folder `at`."""
    found = read_sweep_progress(folder, read_stored_sweep(folder))
    name = found.sweep.name
    payload = {
        "name": name,
        **make_common_part(),
        "seeds": found.sweep.seeds,
        "units": {"done": len(found.seeds), "all": len(found.units)},
        "rows": [
            asdict(row)
            | {
                "seconds": found.seconds_of(row.configuration),
                "models": _list_proved_models(folder, at, row.configuration, found),
                "about": run.about,
            }
            for row, run in zip(found.rows(), found.sweep.configurations, strict=True)
        ],
        "command": f"glassformer sweep {folder / SWEEP} --out {folder}-again",
    }
    return make_html(payload, f"{name}: sweep", _ENTRY)


def _list_proved_models(
    folder: Path, at: Path, configuration: str, found: SweepProgress
) -> list[dict[str, Any]]:
    """The first few saved proved models, the largest margin first."""
    seeds = [seed for seed in found.by_configuration().get(configuration, ()) if seed["proved"]]
    widest = sorted(seeds, key=lambda seed: -(seed["margin_bound"] or 0.0))
    paths = [(seed, folder / MODELS / f"{configuration}-seed{seed['seed']}.safetensors") for seed in widest]
    return [
        {"seed": seed["seed"], "margin": seed["margin_bound"], "link": make_relative_link(path, at)}
        for seed, path in paths[:_LISTED]
        if path.exists()
    ]


def write_sweep_page(folder: Path, out: Path | None = None) -> Path:
    """page.html in the folder, or another file."""
    path = out or folder / PAGE
    make_folder(path.parent)
    remove_unfinished(path)
    write_text(path, make_sweep_html(folder, path.parent))
    return path
