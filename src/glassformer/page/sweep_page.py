"""page.html of a sweep: the table, success rates against size with their intervals, and the proved models.

It is made from the units alone, so an unfinished sweep has a page too: `glassformer page sweeps/adders`.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.page.common_part import common_part
from glassformer.page.index import relative_link
from glassformer.page.write import html
from glassformer.runs.atomic import make_folder, remove_unfinished, write_text
from glassformer.sweep.folder import MODELS, PAGE, SWEEP, stored
from glassformer.sweep.sweep import Found, take_up

ENTRY = "sweep_main.js"
LISTED = 4  # models of a configuration that the table links; the folder has all


def sweep_html(folder: Path, at: Path) -> str:
    """The page of a sweep, for a file in the folder `at`."""
    found = take_up(folder, stored(folder))
    name = found.sweep.name
    payload = {
        "name": name,
        **common_part(),
        "seeds": found.sweep.seeds,
        "units": {"done": len(found.seeds), "all": len(found.units)},
        "rows": [
            asdict(row)
            | {
                "seconds": found.seconds_of(row.configuration),
                "models": models(folder, at, row.configuration, found),
                "about": run.about,
            }
            for row, run in zip(found.rows(), found.sweep.configurations, strict=True)
        ],
        "command": f"glassformer sweep {folder / SWEEP} --out {folder}-again",
    }
    return html(payload, f"{name}: sweep", ENTRY)


def models(folder: Path, at: Path, configuration: str, found: Found) -> list[dict[str, Any]]:
    """The first of the proved models that are saved, the widest margin first."""
    seeds = [seed for seed in found.by_configuration().get(configuration, ()) if seed["proved"]]
    widest = sorted(seeds, key=lambda seed: -(seed["margin_bound"] or 0.0))
    paths = [(seed, folder / MODELS / f"{configuration}-seed{seed['seed']}.safetensors") for seed in widest]
    return [
        {"seed": seed["seed"], "margin": seed["margin_bound"], "link": relative_link(path, at)}
        for seed, path in paths[:LISTED]
        if path.exists()
    ]


def write_sweep_page(folder: Path, out: Path | None = None) -> Path:
    """page.html in the folder, or another file."""
    path = out or folder / PAGE
    make_folder(path.parent)
    remove_unfinished(path)
    write_text(path, sweep_html(folder, path.parent))
    return path
