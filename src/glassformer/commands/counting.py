"""`glassformer count`: a trained model, or an untrained configuration, in every convention."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.runs.config import Task
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import RUNS, load, untrained
from glassformer.tasks import Rule, add
from glassformer.train.setup import set_up_jax

CONTEXTS = (256, 1024, 4096)  # inputs over which the Jacobian's rank is taken, until it no longer grows


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
    before: int | None = -1
    for number in CONTEXTS:
        counts = count(architecture, params, tokens[:, :number], outputs)
        is_settled = counts.rank == before
        if is_settled or counts.rank is None:
            break
        before = counts.rank
    return asdict(counts) | {"rank_contexts": number, "rank_settled": is_settled}


def is_untrained(target: str) -> bool:
    """A configuration's file, or the name of one that has no finished run."""
    if Path(target).suffix in (".toml", ".py"):
        return True
    return target in CONFIGURATIONS and not (RUNS / target / "params.safetensors").exists()


def contexts(task: Task, size: int) -> tuple[np.ndarray, int]:
    """Inputs of the task, and how many of the last places are outputs."""
    random, most = np.random.default_rng(0), max(CONTEXTS)
    if isinstance(task, Rule):
        return random.integers(0, len(task.tokens()), (size, most)), size
    x, y = random.integers(0, 10, (2, task.digits, most))
    return task.written().encode(x, y, add(x, y))[:-1], task.digits + 1
