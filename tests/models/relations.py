"""Relations that ship with nothing: what a new class beside RoPE and ALiBi has to say, and no more."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.parameter import make_constant_parameter
from glassformer.models.relation import BiasRelation, RotationRelation


@dataclass(frozen=True)
class WindowRelation(BiasRelation):
    """Keys further back than `reach` lose 3, twice that in the second head."""

    kind: ClassVar[str] = "window"
    label: ClassVar[str] = "window"
    formula: ClassVar[str] = "minus 3 outside the window"
    reach: int = 2

    def list_constants(self, dims):
        return {"loss": -3.0, "reach": float(self.reach)}

    def bias(self, head, heads, distance):
        return -3.0 * (head + 1) * (distance > self.reach)


@dataclass(frozen=True)
class BowlRelation(BiasRelation):
    """-c (d - mu)^2 with c and mu learned."""

    kind: ClassVar[str] = "bowl"
    label: ClassVar[str] = "bowl"
    formula: ClassVar[str] = "minus c (distance - mu)^2"

    def parameters(self, name, heads):
        return {f"{name}.c": make_constant_parameter((), 0.5), f"{name}.mu": make_constant_parameter((), 1.5)}

    def parameter_words(self):
        return {"c": "how fast scores fall beside mu"}

    def learned_bias(self, ops, params, name, head, heads, distances):
        apart = ops.array(distances) - params[f"{name}.mu"]
        return apart * apart * (params[f"{name}.c"] * -1.0)


@dataclass(frozen=True)
class SpinRelation(RotationRelation):
    """Every pair by the same angle."""

    kind: ClassVar[str] = "spin"
    label: ClassVar[str] = "spin"

    def list_constants(self, dims):
        return {"rate": 0.3}

    def rates(self, size):
        return (0.3,) * (size // 2)


def with_relation(model, relation):
    """The same model with another relation in every layer, whose parameters are as they start."""
    shape = model.architecture
    layers = [
        replace(layer, attention=layer.attention and replace(layer.attention, relation=relation))
        for layer in shape.layers
    ]
    changed = replace(shape, layers=tuple(layers))
    first = {name: np.full(one.shape, one.scale) for name, one in list_parameters(changed).items()}
    return Model(changed, first | dict(model.params))
