"""One job for every seed: a row of what is given for each, compiled once.

On a CPU each thread takes a share of the rows, one after the other; on a GPU blocks of them go side by side.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import jax
import numpy as np

from glassformer.training.kernels import uses_gpu
from glassformer.training.settings import TrainSettings

GPU_LANES = 1024  # seeds side by side on a GPU, always: another number would round differently
FEW_LANES = 64  # the same where a batch is many times larger, as when polishing and evaluating
# Without this XLA's CPU compiler hands products of more than about 30 windows to a library whose calls cost
# more than the products themselves: the cliff between batch 8 and batch 64 (docs/training.md).
_CPU_OPTIONS = {"xla_cpu_experimental_ynn_fusion_type": "", "xla_cpu_multi_thread_eigen": False}


def compile_for_rows(
    job: Callable[..., Any], train: TrainSettings, gpu_lanes: int = GPU_LANES
) -> Callable[[Any, Any], Any]:
    """The job as a function of all rows, and of what they share."""
    on_gpu = uses_gpu(train)
    lanes, threads = (gpu_lanes, 1) if on_gpu else (1, train.threads or os.cpu_count() or 1)
    program = jax.jit(
        lambda rows, same: jax.lax.map(
            lambda row: job(row, *same), rows, batch_size=lanes if on_gpu else None
        ),
        compiler_options=None if on_gpu else _find_cpu_options(),
    )
    return partial(_run_over_threads, program, threads, lanes)


def _run_over_threads(
    program: Callable[[Any, Any], Any], most: int, lanes: int, rows: object, same: object
) -> Any:
    """Run one program on equal shares of the rows at once, filled up with copies to whole blocks of lanes.

    Threads share one compiled program. (Two CPU devices would compile another one, with other rounding.)
    """
    count = len(jax.tree.leaves(rows)[0])
    threads = min(most, count)
    size = -(-count // (threads * lanes)) * lanes
    padded = jax.tree.map(lambda leaf: _pad_rows(np.asarray(leaf), size * threads - count), rows)
    shares = [jax.tree.map(lambda leaf, i=i: leaf[i * size : (i + 1) * size], padded) for i in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        done = list(pool.map(lambda share: jax.tree.map(np.asarray, program(share, same)), shares))
    return jax.tree.map(lambda *parts: np.concatenate(parts)[:count], *done)


@cache
def _find_cpu_options() -> dict[str, Any] | None:
    """_CPU_OPTIONS, or none where this version of JAX no longer knows them."""
    try:
        jax.jit(lambda: 0, compiler_options=_CPU_OPTIONS)()
    except Exception:  # XLA's own error types are not part of JAX's interface
        return None
    return _CPU_OPTIONS


def _pad_rows(rows: Any, extra: int) -> Any:
    """Repeat the last row, so that the devices get equal shares; the copies are thrown away."""
    return np.concatenate([rows, np.repeat(rows[-1:], extra, 0)]) if extra else rows
