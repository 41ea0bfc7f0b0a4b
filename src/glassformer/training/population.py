"""A population: many seeds of one model, trained by one compiled program.

The program holds everything between two evaluations: data, forward pass, gradient, optimiser, evaluation.
On a CPU each thread takes a share of the seeds and trains one after the other, which keeps a model in the
cache; on a GPU blocks of 1,024 go side by side. Either way seed i gets the same bits alone and among many.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from glassformer.models.architecture import Architecture
from glassformer.tasks.sampler import HeldOutWindows, Sampler
from glassformer.training.flat import FlatLayout, make_flat_layout, sample_first_values
from glassformer.training.kernels import choose_loss, choose_sampler, uses_gpu
from glassformer.training.margin import raise_margin
from glassformer.training.objective import HeldOutScores, score_held_out
from glassformer.training.optimiser import make_optimiser
from glassformer.training.polish import polish_vector
from glassformer.training.settings import TrainSettings
from glassformer.training.streams import make_stream_key

# Without this XLA's CPU compiler hands products of more than about 30 windows to a library whose calls cost
# more than the products themselves: the cliff between batch 8 and batch 64 (docs/training.md).
_CPU_OPTIONS = {"xla_cpu_experimental_ynn_fusion_type": "", "xla_cpu_multi_thread_eigen": False}
_GPU_LANES = 1024  # seeds side by side on a GPU, always: another number would round differently
_POLISH_LANES = 64  # the same while polishing, where a batch is many times larger
_MINE_STEPS = 150  # L-BFGS steps of a round of mining, where the recipe has no polish of its own
GROUP = 100  # steps whose data are drawn at once, so that the draws are cheap and their memory is bounded
_POOL_STEPS = 1_000  # steps that share a pool of sequences
_SHARED_SEED = 0  # of what all seeds share: held-out windows and pools of sequences


class TrainingState(NamedTuple):
    """All that training needs to resume: one row per seed."""

    vectors: Float[Array, "seed n"]
    optimiser: Any  # optax's state, one row per seed


class StretchResult(NamedTuple):
    """What one stretch of steps leaves behind."""

    state: TrainingState
    train_loss: Float[np.ndarray, " seed"]  # mean over the stretch
    scores: HeldOutScores  # one row per seed


class Population:
    """The compiled trainer of one configuration; `seeds` are numbers, not indices."""

    def __init__(
        self, model: Architecture, source: Sampler, train: TrainSettings, seeds: Int[np.ndarray, " seed"]
    ) -> None:
        self.model, self.source, self.train, self.seeds = model, source, train, np.asarray(seeds)
        self.flat = make_flat_layout(model)
        self.threads = _count_threads(train, len(self.seeds))
        self.held_out = source.held_out(make_stream_key(_SHARED_SEED, "held_out"), train.held_out)
        self.programs: dict[int, Callable[[Any, Any], Any]] = {}
        self.latest_pool: tuple[int, Any] | None = None

    def start(self) -> TrainingState:
        """Every seed's first values."""
        return TrainingState(
            *self.mapped(lambda seed: make_seed_state(self.model, self.train, seed))(self.seeds, ())
        )

    def advance(self, state: TrainingState, first: int, steps: int) -> StretchResult:
        """Train every seed for some steps and evaluate it."""
        shared = (np.int32(first), self.pool(first // _POOL_STEPS), self.held_out)
        trained, train_loss, scores = self.compiled(steps)((self.seeds, state), shared)
        return StretchResult(trained, train_loss, scores)

    def polished(
        self,
        state: TrainingState,
        places: Int[np.ndarray, " chosen"],
        mined: Int[np.ndarray, "pos batch"] | None = None,
    ) -> StretchResult:
        """The chosen seeds after L-BFGS on one large batch, the same for all; one row per chosen seed.

        `mined` problems replace as many others, of half the batch at the most, again and again.
        """
        tokens = self.source.held_out(make_stream_key(_SHARED_SEED, "polish"), self.train.polish_batch).tokens
        if mined is not None and mined.shape[1]:
            half = np.arange(tokens.shape[1] // 2)
            tokens = tokens.at[:, half].set(np.asarray(mined, tokens.dtype)[:, half % mined.shape[1]])
        steps = self.polish_steps, self.train.margin_steps
        goal = choose_loss(self.model, self.train, tokens.shape[1])
        job = partial(_polish_seed, self.model, self.flat, self.source.outputs, steps, goal)
        chosen = jax.tree.map(lambda leaf: np.asarray(leaf)[places], state)
        return StretchResult(*self.mapped(job, _POLISH_LANES)(chosen, (tokens, self.held_out)))

    @property
    def polish_steps(self) -> int:
        return self.train.polish_steps or _MINE_STEPS

    def pool(self, number: int) -> Any:
        """The data that all seeds share for a while; a new pool every _POOL_STEPS steps."""
        if self.latest_pool is None or self.latest_pool[0] != number:
            key = make_stream_key(_SHARED_SEED, "pool")
            self.latest_pool = number, _draw_shared_pool(self.source, key, np.int32(number))
        return self.latest_pool[1]

    def compiled(self, steps: int) -> Callable[[Any, Any], Any]:
        """The program for a stretch of so many steps."""
        if steps not in self.programs:
            job = partial(_train_seed, self.model, self.flat, self.source, self.train, steps)
            self.programs[steps] = self.mapped(job)
        return self.programs[steps]

    def mapped(self, job: Callable[..., Any], gpu_lanes: int = _GPU_LANES) -> Callable[[Any, Any], Any]:
        """The compiled job for all rows; what is shared goes to each of them."""
        on_gpu = uses_gpu(self.train)
        lanes = gpu_lanes if on_gpu else 1
        program = jax.jit(
            lambda rows, same: jax.lax.map(
                lambda row: job(row, *same), rows, batch_size=lanes if on_gpu else None
            ),
            compiler_options=None if on_gpu else _find_cpu_options(),
        )
        return lambda rows, same: _run_over_threads(program, self.threads, lanes, rows, same)


def _run_over_threads(
    program: Callable[[Any, Any], Any], threads: int, lanes: int, rows: object, same: object
) -> Any:
    """Run one program on equal shares of the rows at once, filled up with copies to whole blocks of lanes.

    Threads share one compiled program. (Two CPU devices would compile another one, with other rounding.)
    """
    count = len(jax.tree.leaves(rows)[0])
    size = -(-count // (threads * lanes)) * lanes
    padded = jax.tree.map(lambda leaf: _pad_rows(np.asarray(leaf), size * threads - count), rows)
    shares = [jax.tree.map(lambda leaf, i=i: leaf[i * size : (i + 1) * size], padded) for i in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        done = list(pool.map(lambda share: jax.tree.map(np.asarray, program(share, same)), shares))
    return jax.tree.map(lambda *parts: np.concatenate(parts)[:count], *done)


def make_seed_state(model: Architecture, train: TrainSettings, seed: Array) -> tuple[Array, Any]:
    vector = sample_first_values(model, make_stream_key(seed, "start"))
    return vector, make_optimiser(train).init(vector)


def _train_seed(
    model: Architecture,
    flat: FlatLayout,
    source: Sampler,
    train: TrainSettings,
    steps: int,
    row: Any,
    first: Array,
    shared: Any,
    held_out: HeldOutWindows,
) -> tuple[TrainingState, Array, HeldOutScores]:
    """One seed: draw data, take the steps, evaluate."""
    seed, state = row
    optimiser, goal = make_optimiser(train), choose_loss(model, train, train.batch)
    source = choose_sampler(source, train)

    def step(state: TrainingState, tokens: Array) -> tuple[TrainingState, Array]:
        value, slope = jax.value_and_grad(lambda v: goal(model, flat, v, tokens, source.outputs))(
            state.vectors
        )
        change, memory = optimiser.update(slope, state.optimiser, state.vectors)
        return TrainingState(optax.apply_updates(state.vectors, change), memory), value

    def group(state: TrainingState, begin: Array, size: int) -> tuple[TrainingState, Array]:
        numbers = begin + jnp.arange(size)
        windows = source.draw(
            shared, make_stream_key(seed, "steps"), numbers, train.batch
        )  # step pos+1 batch
        state, losses = jax.lax.scan(step, state, windows)
        return state, jnp.sum(losses)

    whole, rest = divmod(steps, GROUP)
    state, sums = jax.lax.scan(
        partial(group, size=GROUP), TrainingState(*state), first + GROUP * jnp.arange(whole)
    )
    total = jnp.sum(sums)
    if rest:
        state, last = group(state, first + whole * GROUP, rest)
        total = total + last
    return state, total / steps, score_held_out(model, flat, state.vectors, held_out, source.outputs)


def _polish_seed(
    model: Architecture,
    flat: FlatLayout,
    outputs: int,
    steps: tuple[int, int],
    loss: Callable[..., Array],
    row: Any,
    tokens: Array,
    held_out: HeldOutWindows,
) -> tuple[TrainingState, Array, HeldOutScores]:
    """One seed: so many steps on the loss, then so many on the margin; says the loss after both."""
    state = TrainingState(*row)

    def goal(vector: Array) -> Array:
        return loss(model, flat, vector, tokens, outputs)

    vector, value = polish_vector(goal, state.vectors, steps[0])
    if steps[1]:
        vector = raise_margin(model, flat, vector, tokens, outputs, steps[1])
        value = goal(vector)
    return (
        TrainingState(vector, state.optimiser),
        value,
        score_held_out(model, flat, vector, held_out, outputs),
    )


@partial(jax.jit, static_argnums=0)
def _draw_shared_pool(source: Sampler, key: Array, number: Array) -> Any:
    return source.shared(jax.random.fold_in(key, number))


@cache
def _find_cpu_options() -> dict[str, Any] | None:
    """_CPU_OPTIONS, or none where this version of JAX no longer knows them."""
    try:
        jax.jit(lambda: 0, compiler_options=_CPU_OPTIONS)()
    except Exception:  # XLA's own error types are not part of JAX's interface
        return None
    return _CPU_OPTIONS


def _count_threads(train: TrainSettings, rows: int) -> int:
    """As many as were asked for and have a seed to train; a GPU needs one."""
    return 1 if uses_gpu(train) else min(train.threads or os.cpu_count() or 1, rows)


def _pad_rows(rows: Any, extra: int) -> Any:
    """Repeat the last row, so that the devices get equal shares; the copies are thrown away."""
    return np.concatenate([rows, np.repeat(rows[-1:], extra, 0)]) if extra else rows
