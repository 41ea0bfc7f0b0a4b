"""`glassformer count`: a trained model, or an untrained configuration, in every convention."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.runs.config import Task
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import RUNS, load, untrained
from glassformer.tasks import Rule
from glassformer.train.setup import set_up_jax

CONTEXTS = 256  # inputs over which the Jacobian's rank is taken; it no longer grows with more


def count_target(target: str) -> dict[str, Any]:
    """The counts as plain data. A name without a run is counted with its first seed's first values."""
    set_up_jax("cpu")
    from glassformer.model.count import count

    if is_untrained(target):
        architecture, params, task = untrained(target)
    else:
        loaded = load(target)
        architecture, params, task = loaded.architecture, dict(loaded.params), loaded.task
    tokens, outputs = contexts(task, architecture.context)
    return asdict(count(architecture, params, tokens, outputs))


def is_untrained(target: str) -> bool:
    """A configuration's file, or the name of one that has no finished run."""
    if Path(target).suffix in (".toml", ".py"):
        return True
    return target in CONFIGURATIONS and not (RUNS / target / "params.safetensors").exists()


def contexts(task: Task, size: int) -> tuple[np.ndarray, int]:
    """Inputs of the task, and how many of the last places are outputs."""
    random = np.random.default_rng(0)
    if isinstance(task, Rule):
        return random.integers(0, len(task.tokens()), (size, CONTEXTS)), size
    from glassformer.tasks import add

    x, y = random.integers(0, 10, (2, task.digits, CONTEXTS))
    return task.written().encode(x, y, add(x, y))[:-1], task.digits + 1
