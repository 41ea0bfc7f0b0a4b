"""The matrices of one of our models as they act: turned, tied, rank-one and constant ones written out.

Each is as wide as the stream, with 0 for what a projection does not read or write.

>>> from glassformer.models.architecture import make_reference_architecture
>>> from glassformer.models.forward import list_parameters
>>> model = make_reference_architecture(vocab=12)
>>> stored = {name: np.ones(parameter.shape) for name, parameter in list_parameters(model).items()}
>>> compute_effective_weights(model, stored)["attn.q"].shape
(2, 2)
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.forward import format_layer_prefix, untie_parameters
from glassformer.models.head import LinearHead, TiedHead
from glassformer.models.norm import NoNorm, Norm
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.position import NoPosition
from glassformer.models.projection import AnyProjection, choose_dimension_range

Array = Float[np.ndarray, "..."]


@dataclass(frozen=True)
class _WeightSource:
    """What effective weights are made of: the arithmetic and the stored parameters."""

    ops: NumpyOps
    params: Mapping[str, np.ndarray]

    def placed(self, projection: AnyProjection, name: str, out: int, dims: int) -> Array:
        """The whole matrix `out dims` of a projection, 0 where it neither reads nor writes."""
        (first, stop), (lowest, highest) = (
            choose_dimension_range(name, projection.reads, dims),
            choose_dimension_range(name, projection.writes, out),
        )
        whole = np.zeros((out, dims), self.ops.dtype)
        made = projection.weight(self.ops, self.params, name, highest - lowest, stop - first)
        whole[lowest:highest, first:stop] = made
        return whole

    def biased(self, projection: AnyProjection, name: str, out: int, dims: int) -> dict[str, Array]:
        """The matrix, and its bias where it has one."""
        found = {name: self.placed(projection, name, out, dims)}
        if projection.bias:
            lowest, highest = choose_dimension_range(name, projection.writes, out)
            found[f"{name}.bias"] = np.zeros(out, self.ops.dtype)
            found[f"{name}.bias"][lowest:highest] = self.params[f"{name}.bias"]
        return found

    def gain(self, norm: Norm, name: str, dims: int) -> dict[str, Array]:
        return {} if isinstance(norm, NoNorm) else {name: norm.gain(self.ops, self.params, name, dims)}


def compute_effective_weights(model: Architecture, params: Mapping[str, np.ndarray]) -> dict[str, Array]:
    """Every matrix, bias and gain by name, in the model's own precision."""
    numbers = _WeightSource(NumpyOps(model.precision), untie_parameters(model, params))
    table = numbers.ops.array(
        model.token.table(numbers.ops, numbers.params, "token", model.vocab, model.token_dims)
    )
    found = {"token": _pad_to_stream(table, 0, model.width)}
    if not isinstance(model.position, NoPosition):
        dims = model.position_dims or model.width
        places = model.position.table(numbers.ops, numbers.params, "position", model.context, dims)
        found["position"] = _pad_to_stream(places, model.width - dims, model.width)
    for index, layer in enumerate(model.layers):
        found |= _compute_layer_arrays(numbers, layer, format_layer_prefix(model, index), model.width)
    found |= numbers.gain(model.final_norm, "final_norm", model.width)
    return found | _compute_unembedding_arrays(numbers, model, table)


def _pad_to_stream(table: Array, first: int, width: int) -> Array:
    """A table whose columns are dimensions of the stream from `first` on, as wide as the stream."""
    return np.pad(table, ((0, 0), (first, width - first - table.shape[1])))


def _compute_layer_arrays(numbers: _WeightSource, layer: Layer, name: str, width: int) -> dict[str, Array]:
    found = numbers.gain(layer.attention_norm, f"{name}attn_norm", width)
    if layer.attention:
        found |= _compute_attention_arrays(numbers, layer.attention, f"{name}attn", width)
    found |= numbers.gain(layer.feedforward_norm, f"{name}ff_norm", width)
    if feed := layer.feedforward:
        units = feed.units(width)
        found |= numbers.biased(feed.gate, f"{name}ff.gate", units, width) if feed.gate else {}
        found |= numbers.biased(feed.up, f"{name}ff.up", units, width)
        found |= numbers.biased(feed.down, f"{name}ff.down", width, units)
    return found


def _compute_attention_arrays(
    numbers: _WeightSource, attention: Attention, name: str, width: int
) -> dict[str, Array]:
    mixed = attention.heads * attention.values
    out = numbers.biased(attention.out, f"{name}.out", width, mixed) if attention.out else {}
    return (
        numbers.biased(attention.q, f"{name}.q", attention.heads * attention.head_size, width)
        | numbers.biased(attention.k, f"{name}.k", attention.groups * attention.head_size, width)
        | numbers.biased(attention.v, f"{name}.v", attention.groups * attention.values, width)
        | numbers.gain(attention.qk_norm, f"{name}.qk_norm", attention.head_size)
        | (numbers.gain(attention.k_norm, f"{name}.k_norm", attention.head_size) if attention.k_norm else {})
        | (out or {f"{name}.joined": np.eye(width, dtype=numbers.ops.dtype)})
    )


def _compute_unembedding_arrays(
    numbers: _WeightSource, model: Architecture, table: Array
) -> dict[str, Array]:
    """The unembedding, where it is a matrix of its own."""
    if isinstance(model.head, LinearHead):
        return numbers.biased(model.head.weight, "head", model.vocab, model.width)
    if isinstance(model.head, TiedHead) and model.head.weight:
        return {"head": table @ numbers.placed(model.head.weight, "head", model.token_dims, model.width)}
    return {}
