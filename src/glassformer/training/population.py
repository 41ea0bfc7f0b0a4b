"""A population: many seeds of one model, trained by one compiled program.

The program holds everything between two evaluations: data, forward pass, gradient, optimiser.
On a CPU each thread takes a share of the seeds and trains one after the other, which keeps a model in the
cache; on a GPU blocks of 1,024 go side by side. Either way seed i gets the same bits alone and among many.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from glassformer.models.architecture import Architecture
from glassformer.tasks.sampler import Sampler
from glassformer.training.flat import FlatLayout, make_flat_layout, sample_first_values
from glassformer.training.kernels import choose_loss, choose_sampler
from glassformer.training.margin import raise_margin
from glassformer.training.objective import HeldOutScores, score_held_out
from glassformer.training.optimiser import make_optimiser
from glassformer.training.polish import polish_vector
from glassformer.training.rows import FEW_LANES, compile_for_rows
from glassformer.training.settings import TrainSettings
from glassformer.training.streams import make_stream_key

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
        self.held_out = source.held_out(make_stream_key(_SHARED_SEED, "held_out"), train.held_out)
        self.programs: dict[int, Callable[[Any, Any], Any]] = {}
        self.latest_pool: tuple[int, Any] | None = None

    def start(self) -> TrainingState:
        """Every seed's first values."""
        program = compile_for_rows(lambda seed: make_seed_state(self.model, self.train, seed), self.train)
        return TrainingState(*program(self.seeds, ()))

    def advance(self, state: TrainingState, first: int, steps: int) -> StretchResult:
        """Train every seed for some steps and evaluate it."""
        shared = (np.int32(first), self.pool(first // _POOL_STEPS))
        trained, train_loss = self.compiled(steps)((self.seeds, state), shared)
        return StretchResult(trained, train_loss, self.score(trained))

    def score(self, state: TrainingState) -> HeldOutScores:
        """Every seed on the held-out windows."""
        scores: HeldOutScores = self.scorer(state.vectors, (self.held_out,))
        return scores

    @cached_property
    def scorer(self) -> Callable[[Any, Any], Any]:
        outputs = self.source.outputs
        return compile_for_rows(
            lambda vector, held_out: score_held_out(self.model, self.flat, vector, held_out, outputs),
            self.train,
            FEW_LANES,
        )

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
        done, loss = compile_for_rows(job, self.train, FEW_LANES)(chosen, (tokens,))
        return StretchResult(done, loss, self.score(done))

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
            self.programs[steps] = compile_for_rows(job, self.train)
        return self.programs[steps]


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
) -> tuple[TrainingState, Array]:
    """One seed: draw data, take the steps; says the mean loss."""
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
    return state, total / steps


def _polish_seed(
    model: Architecture,
    flat: FlatLayout,
    outputs: int,
    steps: tuple[int, int],
    loss: Callable[..., Array],
    row: Any,
    tokens: Array,
) -> tuple[TrainingState, Array]:
    """One seed: so many steps on the loss, then so many on the margin; says the loss after both."""
    state = TrainingState(*row)

    def goal(vector: Array) -> Array:
        return loss(model, flat, vector, tokens, outputs)

    vector, value = polish_vector(goal, state.vectors, steps[0])
    if steps[1]:
        vector = raise_margin(model, flat, vector, tokens, outputs, steps[1])
        value = goal(vector)
    return TrainingState(vector, state.optimiser), value


@partial(jax.jit, static_argnums=0)
def _draw_shared_pool(source: Sampler, key: Array, number: Array) -> Any:
    return source.shared(jax.random.fold_in(key, number))
