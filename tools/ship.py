"""Put a run's model into the zoo, after a long test: the board's protocol, random pairs, and hard ones.

    python -m tools.ship runs/glass-39

A model with a single failure is refused, and so is a run that `glassformer run NAME` would not repeat. The
file holds the weights, and in its metadata the command that made them, the seed, and what was tested.
"""

import argparse
import json
import sys
from pathlib import Path

from glassformer.core.atomic import write_arrays
from glassformer.runs.adders import ADDERS
from glassformer.runs.folder import describe_run_difference, read_stored_run
from glassformer.runs.load import LoadedModel, load_model
from glassformer.verify.addition import measure_addition
from glassformer.zoo.entry import WEIGHTS

RANDOM_SEED = 7_000_000  # of the long test: neither the board's nor any that training or selection draws from


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000_000, help="random pairs")
    parser.add_argument("--hard", type=int, default=100_000, help="pairs of each hard distribution")
    asked = parser.parse_args()
    run, result = (
        read_stored_run(asked.folder),
        json.loads((asked.folder / "result.json").read_text(encoding="utf-8")),
    )
    if found := describe_run_difference(run, ADDERS[run.name]):
        print(f"not shipped: another run than `glassformer run {run.name}` ({found})", file=sys.stderr)
        return 1
    tested = examined(load_model(asked.folder), asked.pairs, asked.hard)
    print(run.name, json.dumps(tested))
    if any(passed < total for passed, total in tested.values()):
        print("not shipped: it fails", file=sys.stderr)
        return 1
    about = {
        "format": 1,
        "command": f"glassformer run {run.name}",
        "seed": result["best_seed"],
        "tested": tested,
    }
    about["made_with"] = json.loads((asked.folder / "env.json").read_text(encoding="utf-8"))["packages"]
    write_arrays(WEIGHTS / f"{run.name}.safetensors", dict(load_model(asked.folder).params), about)
    return 0


def examined(model: LoadedModel, pairs: int, hard: int) -> dict[str, tuple[int, int]]:
    """Passed and total of each test."""
    board = measure_addition(model, model.addition, hard=0)
    long = measure_addition(model, model.addition, RANDOM_SEED, pairs, hard)
    scores = {"board": board.protocol, "random": long.protocol} | long.distributions
    return {name: (score.passed, score.total) for name, score in scores.items()}


if __name__ == "__main__":
    sys.exit(main())
