"""`glassformer count`: a model with its numbers, or an architecture without any, in every convention."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from glassformer.errors import UserError
from glassformer.model.architecture import Architecture
from glassformer.model.forward import parameters
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import RUNS, load
from glassformer.runs.resolve import resolve
from glassformer.tasks import Task
from glassformer.train.setup import set_up_jax
from glassformer.zoo import ZOO

# Inputs over which the Jacobian's rank is taken, until it no longer grows. A sum of ten digits shows 110
# logits of a model of a hundred numbers at most, a rule's window about as many of several hundred.
STOPS = (256, 1024, 4096)
TRAINED, SHIPPED, BUILT = "trained weights", "shipped weights", "hand-built numbers"
RANDOM = "random numbers"  # all from a standard normal: first values are zero here and there, and hide a rank
WHOLE_ZOO = "zoo"
COLUMNS = ("stored", "unique", "nonzero", "learned", "constants", "rank")
TOO_MANY = "not computed (too many parameters)"

Content = dict[str, Any]


class Counted(NamedTuple):
    """What is counted, and what its numbers are."""

    architecture: Architecture
    params: dict[str, np.ndarray]
    task: Task
    at: str


def count_zoo() -> Content:
    """The counts of every model of the zoo, in its order."""
    return {"models": [{"id": name} | count_target(name) for name in ZOO]}


def count_target(target: str, model: str | None = None) -> Content:
    """The counts as plain data; `at` says at which numbers they were taken."""
    set_up_jax("cpu")
    from glassformer.model.count import count

    found = find(target, model)
    stops = tuple(count // found.task.heft for count in STOPS)
    tokens, outputs = found.task.random_inputs(found.architecture.context, max(stops))
    return asdict(count(found.architecture, found.params, tokens, outputs, stops)) | {"at": found.at}


def find(target: str, model: str | None = None) -> Counted:
    """The model that `load` gives, or else the architecture with random numbers."""
    if is_untrained(target):
        refuse_model(target, model)
        run = resolve(target)
        return Counted(run.architecture, random_numbers(run.architecture), run.task, RANDOM)
    loaded = load(target, model)
    comes_with_us = BUILT if target in ZOO and ZOO[target].build else SHIPPED
    at = comes_with_us if loaded.origin in ZOO else TRAINED
    return Counted(loaded.architecture, dict(loaded.params), loaded.task, at)


def refuse_model(target: str, model: str | None) -> None:
    """Only a file of weights may lack its architecture."""
    if model is not None:
        raise UserError(f"--model is for .safetensors files; {target} says its own architecture")


def is_untrained(target: str) -> bool:
    """A configuration's file, or the name of one that has neither shipped weights nor a finished run."""
    if Path(target).suffix in (".toml", ".py"):
        return True
    ships = target in ZOO and ZOO[target].weights is not None
    has_run = (RUNS / target / "params.safetensors").exists()
    return target in CONFIGURATIONS and not (ships or has_run)


def random_numbers(architecture: Architecture) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    drawn = {name: random.normal(size=one.shape) for name, one in parameters(architecture).items()}
    for entry in architecture.fixed:
        drawn[entry.name][entry.place] = entry.value
    return drawn


def count_words(target: str, content: Content) -> str:
    """One model's counts, part by part."""
    width = max(map(len, content["parts"]), default=0)
    settled = "settled" if content["rank_settled"] else "a lower bound, still growing"
    rank = f"{content['rank']} over {content['rank_contexts']:,} contexts ({settled})"
    rank = TOO_MANY if content["rank"] is None else rank
    words = [f"{target}: {content['unique']} parameters"]
    words += [f"  {name:<{width}}  {number}" for name, number in content["parts"].items()]
    words += [f"stored, ties written out {content['stored']}"]
    words += [f"non-zero {content['nonzero']}; learned {content['learned']}"]
    words += [f"constants in the forward pass {content['constants']}; rank of the Jacobian {rank}"]
    words += [f"dead: {dead_words(content)}", f"counted at {content['at']}"]
    return "\n".join(words)


def table_words(content: Content) -> str:
    """One line a model."""
    models = content["models"]
    width = max(len(model["id"]) for model in models)
    at_width = max(len(model["at"]) for model in models)
    words = [f"{'model':<{width}}  {'  '.join(f'{name:>9}' for name in COLUMNS)}  {'at':<{at_width}}  dead"]
    for model in models:
        numbers = "  ".join(f"{model[name]!s:>9}" for name in COLUMNS)
        words.append(f"{model['id']:<{width}}  {numbers}  {model['at']:<{at_width}}  {dead_words(model)}")
    return "\n".join(words)


def dead_words(content: Content) -> str:
    return TOO_MANY if content["dead"] is None else ", ".join(content["dead"]) or "none"
