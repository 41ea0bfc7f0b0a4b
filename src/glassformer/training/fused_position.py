"""Inside the kernel of `fused.py`: one position after the other, forward and backward, on lanes.

A lane is a problem of the batch. A program's sums, one for each number that the loss reads, stay in registers
from the first position to the last.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jaxtyping import Array, Float

from glassformer.models.architecture import Architecture
from glassformer.models.attention import AttentionSite
from glassformer.models.blocks import to_dense
from glassformer.models.forward import (
    finish_layer,
    format_layer_prefix,
    ignore_record,
    list_parameters,
    read_out_logits,
)
from glassformer.models.ops_lanes import LaneOps, make_lanes
from glassformer.models.projection import fetch_parameter
from glassformer.training.objective import cross_entropy_rows

# One warp a program, and two lanes at a time for each of its threads: a GPU holds a program for every model
# of a block, no warp waits for another, and a sum over lanes is made once for all problems of a program.
WARPS = 1
_AT_ONCE = 64


@dataclass(frozen=True)
class PositionLoss:
    """The loss of one position of every problem, from attention's mix on: what is known before it runs."""

    model: Architecture
    heads: tuple[int, ...]  # how many numbers each head brings
    reads: tuple[str, ...] = ()  # the stored arrays that it reads, directly or by a tie
    interpret: bool = False  # run by Python, on a CPU: for tests

    @property
    def learns_places(self) -> bool:
        model = self.model
        return bool(model.position.parameters("position", model.context, model.position_dims or model.width))

    def compute(
        self, table: Any, place: Any, named: Mapping[str, Any], mix: Any, token: Array, target: Array
    ) -> Float[Array, " lane"]:
        """Numbers are lanes; `token` and `target` are per lane."""
        model, ops = self.model, LaneOps()
        layer, name = model.layers[0], format_layer_prefix(model, 0)
        assert layer.attention is not None
        kept = _embed_lanes(model, table, place, token)
        mixes = np.split(mix[:, None, None], np.cumsum(self.heads)[:-1])
        site = AttentionSite(ops, named, f"{name}attn", kept, range(1))
        moved = layer.attention.write(site, mixes, ignore_record)
        after = finish_layer(layer, ops, named, name, kept, moved, ignore_record)
        logits = to_dense(read_out_logits(model, ops, named, after, table, ignore_record))
        return cross_entropy_rows([lane.value for lane in logits[:, 0, 0]], target)

    def arrange(self, given: list[Array]) -> tuple[Any, dict[str, Any]]:
        """Lanes in the order of the flat vector, as a table and as arrays by name, tied ones too."""
        model, stored = self.model, list_parameters(self.model)
        shapes = [(model.vocab, model.token_dims), *(stored[name].shape for name in self.reads)]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = np.split(make_lanes(given), ends[:-1])
        table, *arrays = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        named = dict(zip(self.reads, arrays, strict=True))
        ties = (tie for tie in model.ties if tie.to.removesuffix(".T") in named)
        return table, named | {tie.name: fetch_parameter(named, tie.to) for tie in ties}


def _embed_lanes(model: Architecture, table: Any, place: Any, token: Array) -> Any:
    """The embedded position, `dim 1 1`, as `forward.embed_tokens` joins token and position."""
    is_token = make_lanes([(token == number).astype(jnp.float32) for number in range(len(table))])
    row = np.array([reduce(add, map(mul, column, is_token)) for column in table.T], dtype=object)
    if model.position_dims:
        return np.concatenate([row, place])[:, None, None]
    return (row + place)[:, None, None]


def _differentiate(tail: PositionLoss, share: float, tokens: list[Array], lanes: Any) -> tuple[Array, Any]:
    """A share of the loss of one position, and its slopes by the numbers, the position and the mix."""
    token, target = (row.astype(jnp.int32) for row in tokens)

    def compute(given: list[Array], place: list[Array], mix: list[Array]) -> Array:
        table, named = tail.arrange(given)
        return tail.compute(table, make_lanes(place), named, make_lanes(mix), token, target)

    value, back = jax.vjp(compute, *lanes)
    return value * share, back(jnp.full(token.shape, share))


def run_positions(tail: PositionLoss, share: float, *refs: Any) -> None:
    """One program: the loss of its problems times `share`, and all slopes; sums are written at the end."""
    numbers, positions, mixes, window, loss, slopes, place_slopes, mix_slopes = refs
    size, (values, places, problems) = numbers.shape[0], mixes.shape
    width = min(_AT_ONCE, problems)
    parts = problems // width
    first = window.shape[0] - 1 - places  # of the positions that ask
    given = [jnp.full((width,), numbers[i]) for i in range(size)]

    def find(step: Array) -> tuple[Array, Any]:
        """Position and lanes of a step."""
        return jax.lax.div(step, parts), pl.ds(jax.lax.rem(step, parts) * width, width)

    def read(step: Array) -> tuple[list[Array], list[Array]]:
        """What is read of its problems: the mix, the token and the one to predict."""
        number, here = find(step)
        mix = [mixes[value, number, here] for value in range(values)]
        return mix, [window[first + number + after, here] for after in (0, 1)]

    def at_step(step: Array, state: tuple[Any, list[Array]]) -> tuple[Any, list[Array]]:
        (mix, tokens), sums = state
        number, here = find(step)
        following = read(jnp.minimum(step + 1, places * parts - 1))  # on its way while this one is done
        place = [jnp.full((width,), positions[number, dim]) for dim in range(positions.shape[1])]
        value, (slope, place_slope, mix_slope) = _differentiate(tail, share, tokens, (given, place, mix))
        for row, lane in enumerate(mix_slope):
            mix_slopes[row, number, here] = lane
        for dim, lane in enumerate(place_slope if tail.learns_places else []):
            place_slopes[number * len(place) + dim] += jnp.sum(lane)
        return following, [total + more for total, more in zip(sums, [value, *slope], strict=True)]

    for entry in range(positions.size):
        place_slopes[entry] = 0.0
    nothing = [jnp.zeros((width,))] * (size + 1)
    _, (total, *sums) = jax.lax.fori_loop(0, places * parts, at_step, (read(jnp.int32(0)), nothing))
    loss[0] = jnp.sum(total)
    for number, lane in enumerate(sums):
        slopes[number] = jnp.sum(lane)
