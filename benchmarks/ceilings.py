"""What the device at hand can do at the most, measured: bytes copied and operations done per second.

Every rate is the best of a few goes of a program made for it: eight independent chains of one operation, long
enough that reading and writing the array does not count. `plain` is counted as the manufacturer does, two
operations a fused multiply-add; it is the better of such chains and of a product of matrices.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import jax
import jax.numpy as jnp

GOES = 5
CHAINS = 8  # side by side, so that none waits for the one before
CPU_NUMBERS, GPU_NUMBERS = 1 << 15, 1 << 24  # of a chain's array
CPU_COPY, GPU_COPY = 1 << 28, 1 << 31  # bytes, beyond any cache
CPU_SIDE, GPU_SIDE = 1024, 8192  # of the matrices


@dataclass(frozen=True)
class Ceilings:
    """Rates per second, of one device."""

    device: str
    bytes: float  # read and written
    plain: float  # float32 sums and products
    divide: float  # float32 divisions
    exp: float
    erf: float
    integer: float  # 32-bit sums and exclusive ors


def measure() -> Ceilings:
    on_cpu = jax.default_backend() == "cpu"
    numbers, copied, side = (CPU_NUMBERS, CPU_COPY, CPU_SIDE) if on_cpu else (GPU_NUMBERS, GPU_COPY, GPU_SIDE)

    def rate(
        step: Callable[[Any, Any, Any], Any], length: int, each: int = 1, kind: Any = jnp.float32
    ) -> float:
        return each * chain_rate(step, length, numbers, kind)

    return Ceilings(
        jax.devices()[0].device_kind,
        copy_rate(copied),
        max(rate(lambda x, a, b: x * a + b, 64, 2), product_rate(side)),
        rate(lambda x, a, b: a / (x + b), 16),
        rate(lambda x, a, b: jnp.exp(-x), 8),
        rate(lambda x, a, b: jax.lax.erf(x + b), 4),
        rate(lambda x, a, b: (x ^ a) + b, 64, 2, jnp.uint32),
    )


def chain_rate(step: Callable[[Any, Any, Any], Any], length: int, numbers: int, kind: Any) -> float:
    """Steps per second over all numbers and chains."""

    def run(x: Any, a: Any, b: Any) -> Any:
        return reduce(add, (chain(x + jnp.asarray(i, kind), a, b) for i in range(CHAINS)))

    def chain(x: Any, a: Any, b: Any) -> Any:
        for _ in range(length):
            x = step(x, a, b)
        return x

    a, b = jnp.asarray(0.75 if kind == jnp.float32 else 77, kind), jnp.asarray(1, kind)
    return CHAINS * length * numbers / seconds_of(jax.jit(run), jnp.ones(numbers, kind), a, b)


def copy_rate(size: int) -> float:
    """An array read and written in place, so that no time goes into new memory."""
    array = jax.jit(lambda: jnp.ones(size // 4, jnp.float32))()
    program = jax.jit(lambda x: x + 1, donate_argnums=0)
    best = math.inf
    for _ in range(GOES + 1):
        began = time.perf_counter()
        array = jax.block_until_ready(program(array))
        best = min(best, time.perf_counter() - began)
    return 2 * size / best


def product_rate(side: int) -> float:
    square = jnp.ones((side, side), jnp.float32)
    return 2 * side**3 / seconds_of(jax.jit(lambda x: jnp.matmul(x, x, precision="highest")), square)


def seconds_of(program: Callable[..., Any], *inputs: Any, least: float = 0.05) -> float:
    """Of one call: the best of a few goes, each of as many calls as take a while."""
    jax.block_until_ready(program(*inputs))
    once = timed(program, inputs, 1)
    calls = max(1, math.ceil(least / once))
    return min(timed(program, inputs, calls) for _ in range(GOES)) / calls


def timed(program: Callable[..., Any], inputs: tuple[Any, ...], calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        result = program(*inputs)
    jax.block_until_ready(result)
    return time.perf_counter() - began
