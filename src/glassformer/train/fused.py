"""The loss and its gradient in one GPU kernel, from attention's mix to the last sum.

After attention no place sees another: adding to the stream, norms, the feed-forward layer, logits and the
loss are a few hundred operations on one place of one problem. Compiled as a loop of whole arrays they go
through memory again and again. Here a program takes 256 problems of one model, walks over the places and
keeps everything in registers: forward, backward, and the sums that make each number's slope.

The parts of the model run inside as they are (`LaneOps`), and JAX differentiates them there. Attention's
scores, which all problems of a batch may share, stay with the compiler.
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

from glassformer.model.architecture import Architecture
from glassformer.model.attention import Site
from glassformer.model.blocks import whole
from glassformer.model.forward import (
    all_parameters,
    embed,
    ignore,
    parameters,
    prefix,
    read_out,
    settle,
    untie,
)
from glassformer.model.ops_lanes import LaneOps, lanes
from glassformer.model.ops_rows import RowOps
from glassformer.model.projection import fetch
from glassformer.train.flat import Flat
from glassformer.train.objective import cross_entropy_of_rows

LANES = 256  # problems that one program works on
WARPS = 4  # of 32 threads, two lanes each: the fastest of what was tried on an H200 (docs/performance.md)
MOST = 128  # numbers whose slopes a program keeps in registers; with more it would have to put them by


class Numbers(NamedTuple):
    """What a place's loss reads of a model: its token table, the places' positions, and arrays by name."""

    table: Float[Array, "tok dim"]
    places: Float[Array, "pos dim"]
    named: dict[str, Array]


@dataclass(frozen=True)
class Tail:
    """What a kernel is made for: everything of it that is known before it runs."""

    model: Architecture
    heads: tuple[int, ...]  # how many numbers each head brings
    interpret: bool = False  # run by Python, on a CPU: for tests

    @property
    def learns_places(self) -> bool:
        model = self.model
        return bool(model.position.parameters("position", model.context, model.position_dims or model.width))


def suits_kernel(model: Architecture, batch: int) -> bool:
    """One layer, in float32, few numbers, and a batch that fills the lanes."""
    if len(model.layers) != 1 or model.layers[0].attention is None or model.precision != "float32":
        return False
    size = model.vocab * model.token_dims + sum(parameters(model)[name].size for name in names(model))
    return size <= MOST and batch >= 32 and batch & (batch - 1) == 0


def fused_loss(
    model: Architecture,
    flat: Flat,
    vector: Float[Array, " n"],
    tokens: Int[Array, "pos+1 batch"],
    outputs: int,
    interpret: bool = False,
) -> Float[Array, ""]:
    """`objective.loss`, but for rounding."""
    params = untie(model, flat.unpack(vector))
    table, heads = brought(model, params, tokens[:-1], outputs)
    named = {name: params[name] for name in names(model)}
    numbers = Numbers(table, positions(model, params, len(tokens) - 1, outputs), named)
    tail = Tail(model, tuple(head.shape[0] for head in heads), interpret)
    return mean_loss(tail, numbers, jnp.concatenate(heads), tokens[-outputs - 1 : -1], tokens[-outputs:])


def brought(
    model: Architecture, params: Mapping[str, Array], tokens: Array, outputs: int
) -> tuple[Array, list[Float[Array, "value pos batch"]]]:
    """The token table, and what each head brings to the places that ask."""
    ops, layer, name = RowOps(model.precision), model.layers[0], prefix(model, 0)
    assert layer.attention is not None
    table, x = embed(model, ops, params, tokens)
    normed = layer.attention_norm(ops, params, f"{name}attn_norm", x)
    site = Site(ops, params, f"{name}attn", normed, range(x.shape[1] - outputs, x.shape[1]))
    return table, [whole(mix) for mix in layer.attention.mixes(site, ignore)]


def positions(
    model: Architecture, params: Mapping[str, Array], places: int, outputs: int
) -> Float[Array, "pos dim"]:
    """Of the places that ask."""
    dims = model.position_dims or model.width
    rows: Array = model.position.table(RowOps(model.precision), params, "position", model.context, dims)
    return rows[places - outputs : places]


def place_loss(
    tail: Tail, table: Any, place: Any, named: Mapping[str, Any], mix: Any, token: Array, target: Array
) -> Float[Array, " lane"]:
    """The loss of one place of every problem; numbers are lanes, `token` and `target` are per lane."""
    model, ops = tail.model, LaneOps()
    layer, name = model.layers[0], prefix(model, 0)
    assert layer.attention is not None
    kept = stream(model, table, place, token)
    mixes = np.split(mix[:, None, None], np.cumsum(tail.heads)[:-1])
    site = Site(ops, named, f"{name}attn", kept, range(1))
    moved = layer.attention.write(site, mixes, ignore)
    after = settle(layer, ops, named, name, kept, moved, ignore)
    logits = whole(read_out(model, ops, named, after, table, ignore))
    return cross_entropy_of_rows([lane.value for lane in logits[:, 0, 0]], target)


def stream(model: Architecture, table: Any, place: Any, token: Array) -> Any:
    """The embedded place, `dim 1 1`, as `forward.embed` joins token and position."""
    row = lanes([picked([entry.value for entry in column], token) for column in table.T])
    if model.position_dims:
        return np.concatenate([row, place])[:, None, None]
    return (row + place)[:, None, None]


def picked(entries: list[Array], token: Array) -> Array:
    """The entry of each lane's token."""
    found = entries[0]
    for number, entry in enumerate(entries[1:], start=1):
        found = jnp.where(token == number, entry, found)
    return found


@cache
def names(model: Architecture) -> tuple[str, ...]:
    """The stored arrays that a place's loss reads, directly or through a tie; sorted, as JAX sorts a dict."""
    read: set[str] = set()

    class Watched(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            read.add(name)
            return super().__getitem__(name)

    def watch(lane: Array) -> Array:
        every = {n: spread(lane, p.shape) for n, p in all_parameters(model).items()}
        tail = Tail(model, brought_sizes(model))
        table = spread(lane, (model.vocab, model.token_dims))
        place = spread(lane, (model.position_dims or model.width,))
        mix = spread(lane, (sum(tail.heads),))
        return place_loss(tail, table, place, Watched(every), mix, lane.astype(int), lane.astype(int))

    jax.eval_shape(watch, form((1,), jnp.float32))
    tied = {tie.name: tie.to.removesuffix(".T") for tie in model.ties}
    return tuple(sorted({tied.get(name, name) for name in read}))


def brought_sizes(model: Architecture) -> tuple[int, ...]:
    """How many numbers each head brings; what they are does not matter."""
    every = {name: form(p.shape, jnp.float32) for name, p in all_parameters(model).items()}
    tokens = form((1, 1), jnp.int8)
    _, heads = jax.eval_shape(lambda params, tokens: brought(model, params, tokens, 1), every, tokens)
    return tuple(head.shape[0] for head in heads)


def spread(lane: Array, shape: tuple[int, ...]) -> Any:
    return lanes([lane] * int(np.prod(shape))).reshape(shape)


def form(shape: tuple[int, ...], dtype: Any) -> Any:
    """A shape without numbers."""
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def mean_loss(
    tail: Tail,
    numbers: Numbers,
    mixes: Float[Array, "value pos batch"],
    token: Int[Array, "pos batch"],
    target: Int[Array, "pos batch"],
) -> Float[Array, ""]:
    """Mean cross-entropy over places and problems."""
    return loss_and_slopes(tail, numbers, mixes, token, target)[0]


def _forward(tail: Tail, *given: Any) -> tuple[Array, tuple[Numbers, Array]]:
    loss, numbers, mixes = loss_and_slopes(tail, *given)
    return loss, (numbers, mixes)


def _back(tail: Tail, slopes: tuple[Numbers, Array], times: Array) -> Any:
    numbers, mixes = jax.tree.map(lambda slope: slope * times, slopes)
    return numbers, mixes, None, None


mean_loss.defvjp(_forward, _back)


def loss_and_slopes(
    tail: Tail, numbers: Numbers, mixes: Array, token: Array, target: Array
) -> tuple[Array, Numbers, Array]:
    """The kernel's call: blocks of lanes, whose sums are added up afterwards."""
    places, batch = token.shape
    width = min(LANES, batch)
    flat, unflatten = jax.flatten_util.ravel_pytree((numbers.table, numbers.named))
    sizes = 1, flat.size, numbers.places.size  # of the sums: loss, slopes, slopes of the places
    own_row = [pl.BlockSpec((None, size), lambda block: (block, 0)) for size in sizes]
    call = pl.pallas_call(
        partial(kernel, tail, 1 / (places * batch)),
        grid=(batch // width,),
        in_specs=[
            *(whole_array(array.shape) for array in (flat, numbers.places)),
            *(some_lanes(array.shape, width) for array in (mixes, token, target)),
        ],
        out_specs=[*own_row, some_lanes(mixes.shape, width)],
        out_shape=[
            *(form((batch // width, size), flat.dtype) for size in sizes),
            form(mixes.shape, mixes.dtype),
        ],
        **how_to_compile(tail.interpret),
    )
    loss, slopes, place_slopes, mix_slopes = call(flat, numbers.places, mixes, token, target)
    table, named = unflatten(jnp.sum(slopes, 0))
    where = jnp.sum(place_slopes, 0).reshape(numbers.places.shape)
    return jnp.sum(loss), Numbers(table, where, named), mix_slopes


def whole_array(shape: tuple[int, ...]) -> pl.BlockSpec:
    """Every program reads all of it."""
    return pl.BlockSpec(shape, lambda block: (0,) * len(shape))


def some_lanes(shape: tuple[int, ...], width: int) -> pl.BlockSpec:
    """Each program has its part of the last axis, the batch."""
    return pl.BlockSpec((*shape[:-1], width), lambda block: (*(0,) * (len(shape) - 1), block))


def how_to_compile(interpret: bool) -> dict[str, Any]:
    if interpret:
        return {"interpret": True}
    from jax.experimental.pallas import triton

    return {"compiler_params": triton.CompilerParams(num_warps=WARPS)}


def kernel(tail: Tail, share: float, *refs: Any) -> None:
    """One program: the places one after the other, sums in registers, written out at the end."""
    numbers, positions, mixes, tokens, targets, loss, slopes, place_slopes, mix_slopes = refs
    size, (places, width) = numbers.shape[0], tokens.shape
    given = [jnp.full((width,), numbers[i]) for i in range(size)]

    def at_place(number: Array, sums: list[Array]) -> list[Array]:
        place = [jnp.full((width,), positions[number, dim]) for dim in range(positions.shape[1])]
        mix = [mixes[value, number, :] for value in range(mixes.shape[0])]
        token, target = (ref[number, :].astype(jnp.int32) for ref in (tokens, targets))

        def loss_of(given: list[Array], place: list[Array], mix: list[Array]) -> Array:
            table, named = arranged(tail.model, given)
            return place_loss(tail, table, lanes(place), named, lanes(mix), token, target)

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


def arranged(model: Architecture, given: list[Array]) -> tuple[Any, dict[str, Any]]:
    """Lanes in the order of the flat vector, as a table and as arrays by name, tied ones too."""
    shapes = [(model.vocab, model.token_dims), *(parameters(model)[name].shape for name in names(model))]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(lanes(given), ends[:-1])
    table, *arrays = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
    stored = dict(zip(names(model), arrays, strict=True))
    tied = {tie.name: fetch(stored, tie.to) for tie in model.ties if tie.to.removesuffix(".T") in stored}
    return table, stored | tied
