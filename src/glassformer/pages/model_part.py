"""The model as the page knows it: its layers, every stored array, the counts, and the programs to run it."""

from dataclasses import asdict
from typing import Any

from glassformer.models.architecture import Architecture, Layer
from glassformer.models.count import ParameterCounts
from glassformer.models.forward import format_layer_prefix, list_parameters
from glassformer.models.model import Model
from glassformer.models.program import Program, trace_programs
from glassformer.models.relations import NoRelation
from glassformer.pages.counts_part import make_counts_part
from glassformer.pages.parameter_words import describe_parameter, list_own_words
from glassformer.tasks import Task


def make_model_part(model: Model, task: Task) -> dict[str, Any]:
    """Everything about the model except its parameters."""
    shape, places = model.architecture, task.positions(model.architecture.context)
    counts, programs = make_counts_part(model, task), trace_programs(model.architecture, places)
    return {
        "precision": shape.precision,
        "vocab": shape.vocab,
        "context": shape.context,
        "any_length": shape.is_any_length,
        "places": places,
        "width": shape.width,
        "layers": [make_layer_part(shape, index) for index in range(len(shape.layers))],
        "parameters": _list_parameter_parts(shape, counts, programs["forward"]),
        "counts": asdict(counts),
        "constants": _describe_constants(counts.constants),
        "programs": programs,
    }


def make_layer_part(architecture: Architecture, index: int) -> dict[str, Any]:
    layer: Layer = architecture.layers[index]
    attention, feedforward = layer.attention, layer.feedforward
    relation = attention.relation if attention else NoRelation()
    heads = attention.heads if attention else 0
    return {
        "prefix": format_layer_prefix(architecture, index),
        "attention": attention is not None,
        "heads": heads,
        "scale": attention.score_scale if attention else 1.0,
        "extra": attention.extra if attention else 0.0,
        "slopes": relation.list_slopes(heads),
        "rotation": relation.label if relation.is_rotation else "",
        "bias": relation.score_line if relation.is_bias else "",
        "feedforward": feedforward is not None,
        "hidden": feedforward.units(architecture.width) if feedforward else 0,
        "gated": bool(feedforward and feedforward.gate),
        "residual": layer.residual,
    }


def _list_parameter_parts(
    architecture: Architecture, counts: ParameterCounts, program: Program
) -> list[dict[str, Any]]:
    """Every stored array, in the order of the forward pass."""
    acts, dead = _find_dependents(program), set(counts.dead or ())
    own = list_own_words(architecture)
    return [
        {
            "name": name,
            "shape": list(parameter.shape),
            "size": parameter.size,
            "learned": parameter.learned,
            "about": describe_parameter(name, own),
            "acts": acts.get(name, []),
            "tied": [tie.name for tie in architecture.ties if tie.to.removesuffix(".T") == name],
            "dead": name in dead,
        }
        for name, parameter in list_parameters(architecture).items()
    ]


def _find_dependents(program: Program) -> dict[str, list[str]]:
    """The named intermediates that depend on each parameter, in the order of the forward pass."""
    sources: list[frozenset[str]] = []
    for operation, arguments, option, _ in program["nodes"]:
        own = frozenset([option]) if operation == "parameter" else frozenset()
        sources.append(own.union(*(sources[number] for number in arguments)))
    acts: dict[str, list[str]] = {}
    for name, number in sorted(program["names"].items(), key=lambda pair: pair[1]):
        for parameter in sources[number]:
            acts.setdefault(parameter, []).append(name)
    return acts


def _describe_constants(number: int) -> str:
    """A sentence on the constants, which no file stores."""
    if number == 0:
        return "The forward pass has no constants."
    subject = "1 constant" if number == 1 else f"{number} constants"
    verb = "is" if number == 1 else "are"
    return f"{subject} of the forward pass (scales, norms, positions) {verb} stored in no file."
