"""The model as the page knows it: its layers, every stored array, the counts, and the programs to run it."""

from dataclasses import asdict
from typing import Any

from glassformer.model.architecture import Architecture, Layer
from glassformer.model.count import Counts
from glassformer.model.forward import parameters, prefix
from glassformer.model.model import Model
from glassformer.model.position import Alibi, Rope
from glassformer.model.program import Program, trace_programs
from glassformer.page.counts_part import counts_part
from glassformer.page.parameter_words import parameter_words
from glassformer.tasks import Task


def model_part(model: Model, task: Task) -> dict[str, Any]:
    """Everything about the model but its numbers."""
    shape, places = model.architecture, task.places(model.architecture.context)
    counts, programs = counts_part(model, task), trace_programs(model.architecture, places)
    return {
        "precision": shape.precision,
        "vocab": shape.vocab,
        "context": shape.context,
        "places": places,
        "width": shape.width,
        "layers": [layer_part(shape, index) for index in range(len(shape.layers))],
        "parameters": parameter_parts(shape, counts, programs["forward"]),
        "counts": asdict(counts),
        "constants": constants_words(counts.constants),
        "programs": programs,
    }


def layer_part(architecture: Architecture, index: int) -> dict[str, Any]:
    layer: Layer = architecture.layers[index]
    attention, feedforward = layer.attention, layer.feedforward
    relation = attention.relation if attention else None
    heads = attention.heads if attention else 0
    slopes = [relation.slope(head, heads) for head in range(heads)] if isinstance(relation, Alibi) else []
    return {
        "prefix": prefix(architecture, index),
        "attention": attention is not None,
        "heads": heads,
        "scale": attention.score_scale if attention else 1.0,
        "extra": attention.extra if attention else 0.0,
        "slopes": slopes,
        "rope": isinstance(relation, Rope),
        "feedforward": feedforward is not None,
        "hidden": feedforward.units(architecture.width) if feedforward else 0,
        "gated": bool(feedforward and feedforward.gate),
        "residual": layer.residual,
    }


def parameter_parts(architecture: Architecture, counts: Counts, program: Program) -> list[dict[str, Any]]:
    """Every stored array, in the order of the pass."""
    acts, dead = reached(program), set(counts.dead or ())
    return [
        {
            "name": name,
            "shape": list(parameter.shape),
            "size": parameter.size,
            "learned": parameter.learned,
            "about": parameter_words(name),
            "acts": acts.get(name, []),
            "tied": [tie.name for tie in architecture.ties if tie.to.removesuffix(".T") == name],
            "dead": name in dead,
        }
        for name, parameter in parameters(architecture).items()
    ]


def reached(program: Program) -> dict[str, list[str]]:
    """The named intermediates that depend on each parameter, in the order of the pass."""
    sources: list[frozenset[str]] = []
    for operation, arguments, option, _ in program["nodes"]:
        own = frozenset([option]) if operation == "parameter" else frozenset()
        sources.append(own.union(*(sources[number] for number in arguments)))
    acts: dict[str, list[str]] = {}
    for name, number in sorted(program["names"].items(), key=lambda pair: pair[1]):
        for parameter in sources[number]:
            acts.setdefault(parameter, []).append(name)
    return acts


def constants_words(number: int) -> str:
    """A sentence on the numbers that no file holds."""
    if number == 0:
        return "The formulas of the pass have no number of their own."
    subject = "One number stands" if number == 1 else f"{number} numbers stand"
    return f"{subject} in the formulas of the pass (scales, norms, positions) and in no file."
