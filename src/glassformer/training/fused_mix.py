"""Attention's mix on a GPU, where all problems of a batch share the weights and values are looked up.

Where scores depend on positions alone (and the arc has one length) a head's weights are one small matrix for
the whole batch, and its values a row of a table for each token. As products of whole arrays the values of
all positions would go through memory again and again. Here a program takes 256 problems of one model and
reads no more than the matrix, the table and the tokens; so does another for the slopes.

>>> weights, table = jnp.array([[0.25, 0.75]]), jnp.array([[2.0], [4.0]])  # of one query and two keys
>>> tokens = jnp.array([[0, 1], [1, 1]], jnp.int8)  # key lane: two problems
>>> mix_looked_up(True, weights, table, tokens).tolist()
[[[3.5, 4.0]]]
"""

from functools import partial, reduce
from operator import add, mul
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jaxtyping import Array, Float, Int

from glassformer.models.blocks import find_lone_lookup
from glassformer.models.ops_rows import RowOps
from glassformer.training.kernel_calls import (
    choose_compiler_options,
    make_lane_block,
    make_own_block,
    make_shape_struct,
    make_whole_block,
)

Value = Any
_LANES = 256  # problems that one program works on
# One warp, with eight lanes for each of its threads: a weight is read once for all of them, and a sum over
# lanes needs no barrier.
_WARPS = 1
_MOST_SUMS = 16  # lanes of sums that a program keeps in registers, eight to a thread


class MixOps(RowOps):
    """RowOps whose shared mixes are kernels; the tokens of all keys are the first ones of a window."""

    def __init__(self, precision: str, window: Int[Array, "window batch"], interpret: bool) -> None:
        super().__init__(precision)
        self.window = window  # whole, so that no copy of a part has to be made
        self.interpret = interpret  # run by Python, on a CPU: for tests

    def mix(self, weights: Value, values: Value) -> Value:
        found = find_lone_lookup(values)
        if found is None or weights.shape[2] > 1 or not _fits_registers(weights.shape[0], found.table.shape):
            return super().mix(weights, values)
        shared = weights[:, :, 0]
        if found.factor is not None:
            shared = shared * found.factor[:, 0]
        return mix_looked_up(self.interpret, shared, found.table, self.window)


def _fits_registers(queries: int, table: tuple[int, int]) -> bool:
    tokens, rows = table
    return rows * max(queries, tokens) <= _MOST_SUMS


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def mix_looked_up(
    interpret: bool,
    weights: Float[Array, "query key"],
    table: Float[Array, "tok value"],
    window: Int[Array, "window batch"],
) -> Float[Array, "value query batch"]:
    """For every query the sum over its keys of weight times the row of the key's token; keys come first."""
    batch, (queries, _), rows = window.shape[1], weights.shape, table.shape[1]
    width = min(_LANES, batch)
    call = pl.pallas_call(
        _run_mix,
        grid=(batch // width,),
        in_specs=_specify_inputs(width, weights, table, window),
        out_specs=make_lane_block((rows, queries, batch), width),
        out_shape=make_shape_struct((rows, queries, batch), weights.dtype),
        **choose_compiler_options(interpret, _WARPS),
    )
    found: Array = call(weights, table, window)
    return found


def _mix_forward(interpret: bool, *given: Array) -> tuple[Array, tuple[Array, ...]]:
    return mix_looked_up(interpret, *given), given


def _mix_back(interpret: bool, given: tuple[Array, Array, Array], slopes: Array) -> tuple[Array, Array, None]:
    """The slopes of weights and table; each program's own, added up."""
    weights, table, window = given
    batch, shapes = window.shape[1], (weights.shape, table.shape)
    width = min(_LANES, batch)
    call = pl.pallas_call(
        _run_mix_slopes,
        grid=(batch // width,),
        in_specs=[*_specify_inputs(width, *given), make_lane_block(slopes.shape, width)],
        out_specs=[make_own_block(shape) for shape in shapes],
        out_shape=[make_shape_struct((batch // width, *shape), weights.dtype) for shape in shapes],
        **choose_compiler_options(interpret, _WARPS),
    )
    by_weight, by_value = (jnp.sum(part, 0) for part in call(weights, table, window, slopes))
    return by_weight, by_value, None


mix_looked_up.defvjp(_mix_forward, _mix_back)


def _specify_inputs(width: int, weights: Array, table: Array, window: Array) -> list[pl.BlockSpec]:
    whole = [make_whole_block(array.shape) for array in (weights, table)]
    return [*whole, make_lane_block(window.shape, width)]


def _run_mix(weights: Any, table: Any, window: Any, mixes: Any) -> None:
    """One program: key after key, with a sum for every query and dimension."""
    (queries, keys), rows = weights.shape, table.shape[1]

    def at_key(key: Array, sums: list[Array]) -> list[Array]:
        here = window[key, :].astype(jnp.int32)
        shares = [weights[query, key] for query in range(queries)]
        found = [table[here, row] for row in range(rows)]
        more = (share * value for value in found for share in shares)
        return [total + one for total, one in zip(sums, more, strict=True)]

    nothing = [jnp.zeros(window.shape[1], jnp.float32)] * (rows * queries)
    for place, total in enumerate(jax.lax.fori_loop(0, keys, at_key, nothing)):
        row, query = divmod(place, queries)
        mixes[row, query, :] = total


def _run_mix_slopes(
    weights: Any, table: Any, window: Any, slopes: Any, by_weight: Any, by_value: Any
) -> None:
    """One program: the slopes of weights and values, key after key."""
    (queries, keys), (count, rows) = weights.shape, table.shape
    given = [[slopes[row, query, :] for query in range(queries)] for row in range(rows)]

    def at_key(key: Array, sums: list[Array]) -> list[Array]:
        here = window[key, :].astype(jnp.int32)
        found = [table[here, row] for row in range(rows)]
        for query in range(queries):
            products = (given[row][query] * value for row, value in enumerate(found))
            by_weight[query, key] = jnp.sum(reduce(add, products))
        shares = [weights[query, key] for query in range(queries)]
        backs = [reduce(add, map(mul, shares, given[row])) for row in range(rows)]
        is_token = [(here == token).astype(jnp.float32) for token in range(count)]
        more = (hit * back for back in backs for hit in is_token)
        return [total + one for total, one in zip(sums, more, strict=True)]

    nothing = [jnp.zeros(window.shape[1], jnp.float32)] * (rows * count)
    for place, total in enumerate(jax.lax.fori_loop(0, keys, at_key, nothing)):
        row, token = divmod(place, count)
        by_value[token, row] = jnp.sum(total)
