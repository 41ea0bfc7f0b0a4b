"""Copy finished runs, thinned, for the tests of the pictures: trained weights that need no training.

    python -m tools.small_runs runs/plus_last_even runs/lucky7 ...        into tests/pictures/runs/

Of the history twelve steps are kept, the first and the last among them; of the metrics the rows of those
steps and of four seeds, the chosen one among them; of the population the weights of those seeds.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np

from glassformer.core.atomic import make_folder, read_arrays, write_arrays
from glassformer.runs.metrics import read_metrics, write_metrics

STEPS, SEEDS = 12, 4
HERE = Path(__file__).parent.parent / "tests" / "pictures" / "runs"


def shrink(folder: Path) -> None:
    target = HERE / folder.name
    make_folder(target)
    for name in ("run.toml", "params.safetensors", "result.json"):
        shutil.copy(folder / name, target / name)
    arrays, about = read_arrays(folder / "history.safetensors")
    kept = np.unique(np.linspace(0, len(arrays["step"]) - 1, STEPS).round().astype(int))
    write_arrays(target / "history.safetensors", {name: a[kept] for name, a in arrays.items()}, about)
    rows, best = (
        read_metrics(folder),
        json.loads((folder / "result.json").read_text(encoding="utf-8"))["best_seed"],
    )
    seeds = list(dict.fromkeys([best, *(row["seed"] for row in rows)]))[:SEEDS]
    steps = set(arrays["step"][kept].tolist())
    write_metrics(target, [row for row in rows if row["seed"] in seeds and row["step"] in steps])
    everyone, about = read_arrays(folder / "population.safetensors")
    of_those = np.isin(everyone["seed"], seeds)
    write_arrays(
        target / "population.safetensors", {name: a[of_those] for name, a in everyone.items()}, about
    )


if __name__ == "__main__":
    for name in sys.argv[1:]:
        shrink(Path(name))
