"""The loss and its gradient in one GPU kernel, from attention's mix to the last sum.

After attention no position sees another: adding to the stream, norms, the feed-forward layer, logits and the
loss are a few hundred operations on one position of one problem. Compiled as a loop of whole arrays they go
through memory again and again. Here a program takes 256 problems of one model, walks over the positions and
keeps everything in registers: forward, backward, and the sums that make each parameter's slope.

The parts of the model run inside as they are (`LaneOps`), and JAX differentiates them there. Attention's
scores stay with the compiler; its mix is a kernel of its own (`fused_mix.py`) where all problems share them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
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
    finish_layer,
    format_layer_prefix,
    ignore_record,
    list_all_parameters,
    list_parameters,
    read_out_logits,
    untie_parameters,
)
from glassformer.models.ops_lanes import LaneOps, make_lanes
from glassformer.models.ops_rows import RowOps
from glassformer.models.projection import fetch_parameter
from glassformer.training.flat import FlatLayout
from glassformer.training.fused_mix import (
    MixOps,
    choose_compiler_options,
    make_lane_block,
    make_own_block,
    make_shape_struct,
    make_whole_block,
)
from glassformer.training.objective import cross_entropy_rows

LANES = 256  # problems that one program works on
_WARPS = 4  # of 32 threads, two lanes each: the fastest of what was tried on an H200 (docs/performance.md)
_MOST = 128  # parameters whose slopes a program keeps in registers; with more it would have to put them by


class _KernelParameters(NamedTuple):
    """What the loss of a position reads: the token table, the position vectors, and arrays by name."""

    table: Float[Array, "tok dim"]
    places: Float[Array, "pos dim"]
    named: dict[str, Array]


@dataclass(frozen=True)
class _KernelSpec:
    """What a kernel is made for: everything of it that is known before it runs."""

    model: Architecture
    heads: tuple[int, ...]  # how many numbers each head brings
    interpret: bool = False  # run by Python, on a CPU: for tests

    @property
    def learns_places(self) -> bool:
        model = self.model
        return bool(model.position.parameters("position", model.context, model.position_dims or model.width))


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
    tail = _KernelSpec(model, tuple(head.shape[0] for head in heads), interpret)
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


def _compute_position_loss(
    tail: _KernelSpec, table: Any, place: Any, named: Mapping[str, Any], mix: Any, token: Array, target: Array
) -> Float[Array, " lane"]:
    """The loss of one position of every problem; numbers are lanes, `token` and `target` are per lane."""
    model, ops = tail.model, LaneOps()
    layer, name = model.layers[0], format_layer_prefix(model, 0)
    assert layer.attention is not None
    kept = _embed_lanes(model, table, place, token)
    mixes = np.split(mix[:, None, None], np.cumsum(tail.heads)[:-1])
    site = AttentionSite(ops, named, f"{name}attn", kept, range(1))
    moved = layer.attention.write(site, mixes, ignore_record)
    after = finish_layer(layer, ops, named, name, kept, moved, ignore_record)
    logits = to_dense(read_out_logits(model, ops, named, after, table, ignore_record))
    return cross_entropy_rows([lane.value for lane in logits[:, 0, 0]], target)


def _embed_lanes(model: Architecture, table: Any, place: Any, token: Array) -> Any:
    """The embedded position, `dim 1 1`, as `forward.embed_tokens` joins token and position."""
    row = make_lanes([_pick_token_entry([entry.value for entry in column], token) for column in table.T])
    if model.position_dims:
        return np.concatenate([row, place])[:, None, None]
    return (row + place)[:, None, None]


def _pick_token_entry(entries: list[Array], token: Array) -> Array:
    """The entry of each lane's token."""
    found = entries[0]
    for number, entry in enumerate(entries[1:], start=1):
        found = jnp.where(token == number, entry, found)
    return found


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
        tail = _KernelSpec(model, _measure_head_sizes(model))
        table = _repeat_lane(lane, (model.vocab, model.token_dims))
        place = _repeat_lane(lane, (model.position_dims or model.width,))
        mix = _repeat_lane(lane, (sum(tail.heads),))
        return _compute_position_loss(
            tail, table, place, Watched(every), mix, lane.astype(int), lane.astype(int)
        )

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
    tail: _KernelSpec,
    numbers: _KernelParameters,
    mixes: Float[Array, "value pos batch"],
    window: Int[Array, "window batch"],
) -> Float[Array, ""]:
    """Mean cross-entropy over positions and problems; the last positions of the window ask."""
    return _compute_loss_slopes(tail, numbers, mixes, window)[0]


def _forward(tail: _KernelSpec, *given: Any) -> tuple[Array, tuple[_KernelParameters, Array]]:
    loss, numbers, mixes = _compute_loss_slopes(tail, *given)
    return loss, (numbers, mixes)


def _back(tail: _KernelSpec, slopes: tuple[_KernelParameters, Array], times: Array) -> Any:
    numbers, mixes = jax.tree.map(lambda slope: slope * times, slopes)
    return numbers, mixes, None


_compute_kernel_loss.defvjp(_forward, _back)


def _compute_loss_slopes(
    tail: _KernelSpec, numbers: _KernelParameters, mixes: Array, window: Array
) -> tuple[Array, _KernelParameters, Array]:
    """The kernel's call: blocks of lanes, whose sums are added up afterwards."""
    places, batch = mixes.shape[1:]
    width = min(LANES, batch)
    flat, unflatten = jax.flatten_util.ravel_pytree((numbers.table, numbers.named))
    sizes = 1, flat.size, numbers.places.size  # of the sums: loss, slopes, slopes of the positions
    call = pl.pallas_call(
        partial(_run_kernel, tail, 1 / (places * batch)),
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
        **choose_compiler_options(tail.interpret, _WARPS),
    )
    loss, slopes, place_slopes, mix_slopes = call(flat, numbers.places, mixes, window)
    table, named = unflatten(jnp.sum(slopes, 0))
    where = jnp.sum(place_slopes, 0).reshape(numbers.places.shape)
    return jnp.sum(loss), _KernelParameters(table, where, named), mix_slopes


def _run_kernel(tail: _KernelSpec, share: float, *refs: Any) -> None:
    """One program: the positions one after the other, sums in registers, written out at the end."""
    numbers, positions, mixes, window, loss, slopes, place_slopes, mix_slopes = refs
    size, (places, width) = numbers.shape[0], mixes.shape[1:]
    first = window.shape[0] - 1 - places  # of the positions that ask
    given = [jnp.full((width,), numbers[i]) for i in range(size)]

    def at_place(number: Array, sums: list[Array]) -> list[Array]:
        place = [jnp.full((width,), positions[number, dim]) for dim in range(positions.shape[1])]
        mix = [mixes[value, number, :] for value in range(mixes.shape[0])]
        token, target = (window[first + number + after, :].astype(jnp.int32) for after in (0, 1))

        def loss_of(given: list[Array], place: list[Array], mix: list[Array]) -> Array:
            table, named = _arrange_lanes(tail.model, given)
            return _compute_position_loss(
                tail, table, make_lanes(place), named, make_lanes(mix), token, target
            )

        value, back = jax.vjp(loss_of, given, place, mix)
        slope, place_slope, mix_slope = back(jnp.full((width,), share))
        for row, lane in enumerate(mix_slope):
            mix_slopes[row, number, :] = lane
        for dim, lane in enumerate(place_slope):
            place_slopes[number * len(place) + dim] = jnp.sum(lane) if tail.learns_places else 0.0
        return [total + more for total, more in zip(sums, [value * share, *slope], strict=True)]

    nothing = [jnp.zeros((width,))] * (size + 1)
    total, *sums = jax.lax.fori_loop(0, places, at_place, nothing)
    loss[0] = jnp.sum(total)
    for number, lane in enumerate(sums):
        slopes[number] = jnp.sum(lane)


def _arrange_lanes(model: Architecture, given: list[Array]) -> tuple[Any, dict[str, Any]]:
    """Lanes in the order of the flat vector, as a table and as arrays by name, tied ones too."""
    shapes = [
        (model.vocab, model.token_dims),
        *(list_parameters(model)[name].shape for name in list_read_parameters(model)),
    ]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(make_lanes(given), ends[:-1])
    table, *arrays = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
    stored = dict(zip(list_read_parameters(model), arrays, strict=True))
    tied = {
        tie.name: fetch_parameter(stored, tie.to) for tie in model.ties if tie.to.removesuffix(".T") in stored
    }
    return table, stored | tied
