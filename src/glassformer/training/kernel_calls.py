"""What a kernel's call says of its arrays: which part of each a program has, and how it is compiled.

A kernel's programs run side by side, each on its own problems of a batch, the last axis: its lanes.
"""

from typing import Any

import jax
from jax.experimental import pallas as pl


def choose_compiler_options(interpret: bool, warps: int) -> dict[str, Any]:
    """Of a kernel: so many warps to a program, or Python in place of a GPU."""
    if interpret:
        return {"interpret": True}
    from jax.experimental.pallas import triton

    return {"compiler_params": triton.CompilerParams(num_warps=warps)}


def make_whole_block(shape: tuple[int, ...]) -> pl.BlockSpec:
    """Every program reads all of it."""
    return pl.BlockSpec(shape, lambda block: (0,) * len(shape))


def make_lane_block(shape: tuple[int, ...], width: int) -> pl.BlockSpec:
    """Each program has its part of the last axis, the batch."""
    return pl.BlockSpec((*shape[:-1], width), lambda block: (*(0,) * (len(shape) - 1), block))


def make_own_block(shape: tuple[int, ...]) -> pl.BlockSpec:
    """Each program has one of its own."""
    return pl.BlockSpec((None, *shape), lambda block: (block, *(0,) * len(shape)))


def make_shape_struct(shape: tuple[int, ...], dtype: Any) -> Any:
    """A shape without numbers."""
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]
