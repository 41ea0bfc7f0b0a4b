"""The loss and its gradient in one GPU kernel, from attention's mix to the last sum.

After attention no position sees another: adding to the stream, norms, the feed-forward layer, logits and the
loss are a few hundred operations on one position of one problem. Compiled as a loop of whole arrays they go
through memory again and again. Here a program takes 256 problems of one model, walks over the positions and
keeps everything in registers: forward, backward, and the sums that make each parameter's slope.

The parts of the model run inside as they are (`LaneOps`), and JAX differentiates them there. Attention's
scores stay with the compiler; its mix is a kernel of its own (`fused_mix.py`) where all problems share them.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jaxtyping import Array, Float, Int

from glassformer.models.architecture import Architecture
from glassformer.models.attention import AttentionSite
from glassformer.models.blocks import to_dense
from glassformer.models.forward import (
    embed_tokens,
    format_layer_prefix,
    ignore_record,
    list_all_parameters,
    list_parameters,
    untie_parameters,
)
from glassformer.models.ops_lanes import make_lanes
from glassformer.models.ops_rows import RowOps
from glassformer.training.flat import FlatLayout
from glassformer.training.fused_mix import MixOps
from glassformer.training.fused_position import WARPS, PositionLoss, run_positions
from glassformer.training.kernel_calls import (
    choose_compiler_options,
    make_lane_block,
    make_own_block,
    make_shape_struct,
    make_whole_block,
)

LANES = 256  # problems that one program works on
_MOST = 128  # parameters whose slopes a program keeps in registers; with more it would have to put them by


class _KernelParameters(NamedTuple):
    """What the loss of a position reads: the token table, the position vectors, and arrays by name."""

    table: Float[Array, "tok dim"]
    places: Float[Array, "pos dim"]
    named: dict[str, Array]


def fits_kernel(model: Architecture, batch: int) -> bool:
    """One layer, in float32, few parameters, and a batch that fills the lanes."""
    if len(model.layers) != 1 or model.layers[0].attention is None or model.precision != "float32":
        return False
    size = model.vocab * model.token_dims + sum(
        list_parameters(model)[name].size for name in list_read_parameters(model)
    )
    return size <= _MOST and batch >= 32 and batch & (batch - 1) == 0


def compute_fused_loss(
    model: Architecture,
    flat: FlatLayout,
    vector: Float[Array, " n"],
    tokens: Int[Array, "window batch"],
    outputs: int,
    interpret: bool = False,
) -> Float[Array, ""]:
    """`objective.loss`, but for rounding."""
    params = untie_parameters(model, flat.unpack(vector))
    table, heads = _compute_head_mixes(model, params, tokens, outputs, interpret)
    named = {name: params[name] for name in list_read_parameters(model)}
    numbers = _KernelParameters(
        table, _compute_query_positions(model, params, len(tokens) - 1, outputs), named
    )
    sizes = tuple(head.shape[0] for head in heads)
    tail = PositionLoss(model, sizes, list_read_parameters(model), interpret)
    return _compute_kernel_loss(tail, numbers, jnp.concatenate(heads), tokens)


def _compute_head_mixes(
    model: Architecture, params: Mapping[str, Array], window: Array, outputs: int, interpret: bool = False
) -> tuple[Array, list[Float[Array, "value pos batch"]]]:
    """The token table, and what each head brings to the positions that ask."""
    ops, layer = MixOps(model.precision, window, interpret), model.layers[0]
    name = format_layer_prefix(model, 0)
    assert layer.attention is not None
    table, x = embed_tokens(model, ops, params, window[:-1])
    normed = layer.attention_norm(ops, params, f"{name}attn_norm", x)
    site = AttentionSite(ops, params, f"{name}attn", normed, range(x.shape[1] - outputs, x.shape[1]))
    return table, [to_dense(mix) for mix in layer.attention.mixes(site, ignore_record)]


def _compute_query_positions(
    model: Architecture, params: Mapping[str, Array], places: int, outputs: int
) -> Float[Array, "pos dim"]:
    """Of the positions that ask."""
    dims = model.position_dims or model.width
    rows: Array = model.position.table(RowOps(model.precision), params, "position", model.context, dims)
    return rows[places - outputs : places]


@cache
def list_read_parameters(model: Architecture) -> tuple[str, ...]:
    """The stored arrays that a position's loss reads, directly or by a tie; sorted, as JAX sorts a dict."""
    read: set[str] = set()

    class Watched(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            read.add(name)
            return super().__getitem__(name)

    def watch(lane: Array) -> Array:
        every = {n: _repeat_lane(lane, p.shape) for n, p in list_all_parameters(model).items()}
        tail = PositionLoss(model, _measure_head_sizes(model))
        table = _repeat_lane(lane, (model.vocab, model.token_dims))
        place = _repeat_lane(lane, (model.position_dims or model.width,))
        mix = _repeat_lane(lane, (sum(tail.heads),))
        return tail.compute(table, place, Watched(every), mix, lane.astype(int), lane.astype(int))

    jax.eval_shape(watch, make_shape_struct((1,), jnp.float32))
    tied = {tie.name: tie.to.removesuffix(".T") for tie in model.ties}
    return tuple(sorted({tied.get(name, name) for name in read}))


def _measure_head_sizes(model: Architecture) -> tuple[int, ...]:
    """How many numbers each head brings; what they are does not matter."""
    every = {name: make_shape_struct(p.shape, jnp.float32) for name, p in list_all_parameters(model).items()}
    tokens = make_shape_struct((2, 1), jnp.int8)
    _, heads = jax.eval_shape(
        lambda params, tokens: _compute_head_mixes(model, params, tokens, 1), every, tokens
    )
    return tuple(head.shape[0] for head in heads)


def _repeat_lane(lane: Array, shape: tuple[int, ...]) -> Any:
    return make_lanes([lane] * int(np.prod(shape))).reshape(shape)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _compute_kernel_loss(
    tail: PositionLoss,
    numbers: _KernelParameters,
    mixes: Float[Array, "value pos batch"],
    window: Int[Array, "window batch"],
) -> Float[Array, ""]:
    """Mean cross-entropy over positions and problems; the last positions of the window ask."""
    return _compute_loss_slopes(tail, numbers, mixes, window)[0]


def _forward(tail: PositionLoss, *given: Any) -> tuple[Array, tuple[_KernelParameters, Array]]:
    loss, numbers, mixes = _compute_loss_slopes(tail, *given)
    return loss, (numbers, mixes)


def _back(tail: PositionLoss, slopes: tuple[_KernelParameters, Array], times: Array) -> Any:
    numbers, mixes = jax.tree.map(lambda slope: slope * times, slopes)
    return numbers, mixes, None


_compute_kernel_loss.defvjp(_forward, _back)


def _compute_loss_slopes(
    tail: PositionLoss, numbers: _KernelParameters, mixes: Array, window: Array
) -> tuple[Array, _KernelParameters, Array]:
    """The kernel's call: blocks of lanes, whose sums are added up afterwards."""
    places, batch = mixes.shape[1:]
    width = min(LANES, batch)
    flat, unflatten = jax.flatten_util.ravel_pytree((numbers.table, numbers.named))
    sizes = 1, flat.size, numbers.places.size  # of the sums: loss, slopes, slopes of the positions
    call = pl.pallas_call(
        partial(run_positions, tail, 1 / (places * batch)),
        grid=(batch // width,),
        in_specs=[
            *(make_whole_block(array.shape) for array in (flat, numbers.places)),
            *(make_lane_block(array.shape, width) for array in (mixes, window)),
        ],
        out_specs=[*(make_own_block((size,)) for size in sizes), make_lane_block(mixes.shape, width)],
        out_shape=[
            *(make_shape_struct((batch // width, size), flat.dtype) for size in sizes),
            make_shape_struct(mixes.shape, mixes.dtype),
        ],
        **choose_compiler_options(tail.interpret, WARPS),
    )
    loss, slopes, place_slopes, mix_slopes = call(flat, numbers.places, mixes, window)
    table, named = unflatten(jnp.sum(slopes, 0))
    where = jnp.sum(place_slopes, 0).reshape(numbers.places.shape)
    return jnp.sum(loss), _KernelParameters(table, where, named), mix_slopes
