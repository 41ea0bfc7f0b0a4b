"""Valid run folders and configuration trees, which several kinds damage."""

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# glassformer run rope-36 --task.digits 2 --steps 60 --seeds 2 ... made the adder, once; it is wrong everywhere
FOLDERS = (ROOT / "fuzz" / "runs" / "adder", *sorted((ROOT / "tests" / "draw" / "runs").iterdir()))
# What the verbs import; a kind that runs them cannot do without
NEEDS = (
    "numpy",
    "jaxtyping",
    "safetensors",
    "jax",
    "optax",
    "flint",
    "scipy",
    "matplotlib",
    "rich",
    "tomli_w",
)
LARGEST = 70_000  # bytes of a file that is copied for a case


@cache
def run_files() -> dict[str, dict[str, bytes]]:
    """The files of every run folder by name; large histories are left out."""
    return {
        folder.name: {
            path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.stat().st_size < LARGEST
        }
        for folder in FOLDERS
    }


@cache
def configuration_trees() -> tuple[dict[str, Any], ...]:
    """Every named configuration as a plain tree, as a run.toml holds it."""
    from glassformer.runs.configurations import CONFIGURATIONS
    from glassformer.runs.tree import to_tree

    return tuple(json.loads(json.dumps(to_tree(run))) for run in CONFIGURATIONS.values())


@cache
def metadata_trees() -> tuple[dict[str, Any], ...]:
    """What weights of every named configuration say about themselves."""
    return tuple(
        {"format": 1, **{key: tree[key] for key in ("task", "data", "model")}, "seed": 0}
        for tree in configuration_trees()
    )


def shorten_counts() -> None:
    """`count` looks at 16 inputs in place of thousands: seconds of honest work that no file can change."""
    from glassformer.commands import counting

    counting.WINDOWS, counting.SUMS = (16,), (16,)  # type: ignore[assignment]
