"""A loss on logits times a factor: greedy decoding is the same at every factor, cross-entropy is not.

A model whose logits stay small, because none of its parameters scales them, is trained on larger ones: in
other models a radius grows from 2 to 60 while they train. The factor is the loss's alone: the model that is
stored, measured and proved does not have it. A head with the logits 1 and 2 is asked with 10 and 20:

>>> from glassformer.models.head import TiedHead
>>> from glassformer.models.ops_numpy import NumpyOps
>>> import numpy as np
>>> head = _SharpHead(TiedHead(), 10.0)
>>> table, x = np.array([[1.0], [2.0]], np.float32), np.ones((1, 1, 1), np.float32)  # tok dim, dim pos batch
>>> head(NumpyOps("float32"), {}, "head", x, table).ravel().tolist()
[10.0, 20.0]
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from jaxtyping import Array

from glassformer.models.architecture import Architecture
from glassformer.models.head import Head
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import Parameter, Parameters
from glassformer.models.part import Part


@dataclass(frozen=True)
class _SharpHead(Part):
    """Another head's logits, times a factor."""

    kind: ClassVar[str] = "sharp"
    head: Head
    factor: float

    def parameters(self, name: str, vocab: int, width: int, token_dims: int) -> dict[str, Parameter]:
        return self.head.parameters(name, vocab, width, token_dims)

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, table: Value) -> Value:
        return self.head(ops, params, name, x, table) * self.factor


def sharpen_loss(loss: Callable[..., Array], factor: float) -> Callable[..., Array]:
    """The same loss of a model whose logits are multiplied; at 1 it is the loss itself."""
    if factor == 1:
        return loss

    def compute_sharp_loss(model: Architecture, *rest: Any) -> Array:
        twin: Any = _SharpHead(model.head, factor)
        return loss(replace(model, head=twin), *rest)

    return compute_sharp_loss
