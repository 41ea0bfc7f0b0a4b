"""Counts of a model with its parameters, or of an architecture without any, in every convention."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture
from glassformer.models.forward import list_parameters
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import RUNS, load_model
from glassformer.runs.resolve import resolve_run
from glassformer.tasks import Task
from glassformer.training.setup import set_up_jax
from glassformer.zoo import ZOO

# Inputs over which the Jacobian's rank is taken, until it no longer grows. A sum of ten digits shows 110
# logits of a model of a hundred parameters at most, a rule's window about as many of several hundred.
_STOPS = (256, 1024, 4096)
_TRAINED, _SHIPPED, _BUILT = "trained weights", "shipped weights", "hand-built parameters"
_RANDOM = "random parameters"  # standard normal, since some initial values are zero and would hide a rank
_COLUMNS = ("stored", "unique", "nonzero", "learned", "constants", "both", "bits", "rank")
_HYBRID = "hybrid: routing given"  # nothing that tells attention where to look is learned
_UNTRAINED = "not trained"
_TOO_MANY = "not computed (too many parameters)"

_Content = dict[str, Any]


class _Counted(NamedTuple):
    """What is counted, and what its parameters are."""

    architecture: Architecture
    params: dict[str, np.ndarray]
    task: Task
    at: str


def count_zoo() -> _Content:
    """The counts of every model of the zoo, in its order."""
    return {"models": [{"id": name} | count_target(name) for name in ZOO]}


def count_target(target: str, model: str | None = None) -> _Content:
    """The counts as plain data; `at` says at which parameters they were taken."""
    set_up_jax("cpu")
    from glassformer.models.count import count_parameters

    found = _find_counted(target, model)
    stops = tuple(count // found.task.heft for count in _STOPS)
    tokens, outputs = found.task.random_inputs(found.architecture.context, max(stops))
    counts = count_parameters(found.architecture, found.params, tokens, outputs, stops)
    chosen = [one._asdict() for one in counts.chosen]
    bits = None if found.at == _RANDOM else counts.bits  # of random parameters they say nothing
    category = name_category(found.at, counts.learned, counts.routing)
    return asdict(counts) | {"chosen": chosen, "at": found.at, "bits": bits, "category": category}


def name_category(at: str, learned: int, routing: str) -> str:
    """Who chose the parameters: a person, training, or training with attention's routing given."""
    if at == _BUILT or not learned:
        return "hand-built"
    if at == _RANDOM:
        return _UNTRAINED
    return _HYBRID if routing == "given" else "trained: all"


def _find_counted(target: str, model: str | None = None) -> _Counted:
    """The model that `load` gives, or else the architecture with random parameters."""
    if _is_untrained(target):
        refuse_model(target, model)
        run = resolve_run(target)
        return _Counted(run.architecture, make_random_parameters(run.architecture), run.task, _RANDOM)
    loaded = load_model(target, model)
    comes_with_us = _BUILT if target in ZOO and ZOO[target].build else _SHIPPED
    at = comes_with_us if loaded.origin in ZOO else _TRAINED
    return _Counted(loaded.architecture, dict(loaded.params), loaded.task, at)


def refuse_model(target: str, model: str | None) -> None:
    """Only a file of weights may lack its architecture."""
    if model is not None:
        raise UserError(f"--model is for .safetensors files; {target} says its own architecture")


def _is_untrained(target: str) -> bool:
    """A configuration's file, or the name of one that has neither shipped weights nor a finished run."""
    if Path(target).suffix in (".toml", ".py"):
        return True
    ships = target in ZOO and ZOO[target].weights is not None
    has_run = (RUNS / target / "params.safetensors").exists()
    return target in CONFIGURATIONS and not (ships or has_run)


def make_random_parameters(architecture: Architecture) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    drawn = {name: random.normal(size=one.shape) for name, one in list_parameters(architecture).items()}
    for entry in architecture.fixed:
        drawn[entry.name][entry.place] = entry.value
    return drawn


def describe_counts(target: str, content: _Content) -> str:
    """One model's counts, part by part."""
    width = max(map(len, content["parts"]), default=0)
    settled = "settled" if content["rank_settled"] else "a lower bound, still growing"
    rank = f"{content['rank']} over {content['rank_contexts']:,} contexts ({settled})"
    rank = _TOO_MANY if content["rank"] is None else rank
    words = [f"{target}: {content['unique']} parameters"]
    words += [f"  {name:<{width}}  {number}" for name, number in content["parts"].items()]
    words += [f"stored, ties written out {content['stored']}"]
    words += [f"non-zero {content['nonzero']}; learned {content['learned']}"]
    words += [f"chosen constants {content['constants']}{_format_chosen(content)}"]
    bits = "" if content["bits"] is None else f"; mantissa bits as stored {content['bits']}"
    words += [f"learned and chosen together {content['both']}{bits}"]
    words += [f"category {content['category']}; rank of the Jacobian {rank}"]
    words += [f"dead: {_format_dead(content)}", f"counted at {content['at']}"]
    return "\n".join(words)


def format_zoo_table(content: _Content) -> str:
    """One line per model."""
    models = content["models"]
    width = max(len(model["id"]) for model in models)
    at_width = max(len(model["at"]) for model in models)
    kind_width = max(len(model["category"]) for model in models)
    heading = "  ".join(f"{name:>9}" for name in _COLUMNS)
    words = [f"{'model':<{width}}  {heading}  {'category':<{kind_width}}  {'at':<{at_width}}  dead"]
    for model in models:
        cells = ("" if model[name] is None else str(model[name]) for name in _COLUMNS)
        numbers = "  ".join(f"{cell:>9}" for cell in cells)
        made = f"{model['category']:<{kind_width}}  {model['at']:<{at_width}}"
        words.append(f"{model['id']:<{width}}  {numbers}  {made}  {_format_dead(model)}")
    return "\n".join(words)


def _format_chosen(content: _Content) -> str:
    """Each constant by name and value: `: norm.gain = 4, norm.eps = 1e-05`."""
    named = ", ".join(f"{one['name']} = {one['value']:.6g}" for one in content["chosen"])
    return f": {named}" if named else ""


def _format_dead(content: _Content) -> str:
    return _TOO_MANY if content["dead"] is None else ", ".join(content["dead"]) or "none"
