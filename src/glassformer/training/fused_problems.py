"""Problems as tokens, written in one GPU kernel from the digits of their numbers.

As arrays a problem is some fifteen rows joined to one, and the compiler joins bytes one by one: half of the
time of drawing (docs/performance.md). Here a program takes 256 problems, runs the columns and writes every
token where it belongs. The digits are drawn as ever: a seed sees the same problems with and without it.

>>> from glassformer.training.streams import make_stream_key
>>> task = Addition(digits=2, digit_stages=(), carry_mix=0.0)
>>> given = (), make_stream_key(0, "steps"), jnp.array([5]), 32
>>> bool((KernelSumSampler(task, interpret=True).draw(*given) == SumSampler(task).draw(*given)).all())
True
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jaxtyping import Array, Int, PRNGKeyArray

from glassformer.tasks.addition import Addition
from glassformer.tasks.pairs import draw_training_pairs
from glassformer.tasks.sampler import SumSampler
from glassformer.training.kernel_calls import choose_compiler_options, make_lane_block, make_shape_struct

_LANES = 256  # problems that one program works on
_WARPS = 2  # of 32 threads, four lanes each: a thread writes four bytes at once
_MOST_DIGITS = 32  # of a number: the program is written out column by column


def fits_writer(addition: Addition, batch: int) -> bool:
    """Numbers that are not long, and a batch that fills the lanes."""
    return addition.digits <= _MOST_DIGITS and batch >= 32 and batch & (batch - 1) == 0


@dataclass(frozen=True)
class KernelSumSampler(SumSampler):
    """The same problems, written by the kernel."""

    interpret: bool = False  # run by Python, on a CPU: for tests

    def draw(
        self, shared: Any, key: PRNGKeyArray, steps: Int[Array, " step"], batch: int
    ) -> Int[Array, "step window batch"]:
        x, y = draw_training_pairs(key, steps, batch, self.addition)
        return self._write_steps(x, y)

    def _write_steps(
        self, x: Int[Array, "step digit batch"], y: Int[Array, "step digit batch"]
    ) -> Int[Array, "step window batch"]:
        """Where seeds go side by side, steps come first in memory: the trainer takes one after the other."""
        write = jax.vmap(partial(_write_problems, self.addition, interpret=self.interpret))
        write_here = jax.custom_batching.custom_vmap(write)

        @write_here.def_vmap
        def write_all(seeds: int, is_batched: Any, *pair: Array) -> tuple[Array, bool]:
            tokens = jax.vmap(write)(*(jnp.moveaxis(digits, 0, 1) for digits in pair))
            return jnp.moveaxis(tokens, 1, 0), True

        found: Array = write_here(x, y)
        return found


def _write_problems(
    addition: Addition,
    x: Int[Array, "digit batch"],
    y: Int[Array, "digit batch"],
    interpret: bool = False,
) -> Int[Array, "window batch"]:
    """The tokens of problems with their answers, a byte each."""
    shape, width = (addition.written().length, x.shape[1]), min(_LANES, x.shape[1])
    call = pl.pallas_call(
        partial(_run_writer, addition),
        grid=(x.shape[1] // width,),
        in_specs=[make_lane_block(x.shape, width)] * 2,
        out_specs=make_lane_block(shape, width),
        out_shape=make_shape_struct(shape, jnp.int8),
        **choose_compiler_options(interpret, _WARPS),
    )
    tokens: Array = call(x, y)
    return tokens


def _run_writer(addition: Addition, x: Any, y: Any, tokens: Any) -> None:
    """One program: the marks, then column after column."""
    layout, does = addition.written(), addition.does
    for position, mark in _list_marks(addition):
        tokens[position, :] = jnp.full(tokens.shape[1:], mark, jnp.int8)
    carry = jnp.full(tokens.shape[1:], does.start)
    for k in range(addition.digits):
        digits = x[k, :].astype(jnp.int32), y[k, :].astype(jnp.int32)
        written, carry = does.run_column(*digits, carry, addition.base)
        tokens[layout.x_positions[k], :] = digits[0].astype(jnp.int8)
        if does.has_second:
            tokens[layout.y_positions[k], :] = digits[1].astype(jnp.int8)
        tokens[layout.z_positions[k], :] = written.astype(jnp.int8)
    last = (carry + does.find_top(addition.base)) % addition.base
    tokens[layout.z_positions[addition.digits], :] = last.astype(jnp.int8)


def _list_marks(addition: Addition) -> Iterator[tuple[int, int]]:
    """Position and token of everything that is no digit of a number."""
    layout, nothing = addition.written(), np.zeros((addition.digits, 1), np.int8)
    digits = {*layout.x_positions, *layout.y_positions, *layout.z_positions}
    every = layout.prompt(nothing, nothing)[:, 0].tolist()
    return ((position, mark) for position, mark in enumerate(every) if position not in digits)
