"""The least time that a model-step can take: its operations and bytes, against what the device can do.

glass-39 at a batch of 256 takes 2.2 million sums and products per step: where a device does 1e12 of them a
second, no program passes 460,000 model-steps per second. Every kind of operation has its own unit on a GPU
and they work side by side, so the floor is the longest of the terms, not their sum.

The count is of the model as `train` writes it, but for lookups, which are reads here (the trainer multiplies
by ones and zeros). What does not vary over the batch is counted once, as the trainer works it out. A cleverer
program may need less: masked positions of attention are counted, and so is every draw's whole call of
Threefry.
"""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

from benchmarks.ceilings import Ceilings
from benchmarks.operations import KINDS, Counts, bytes_of, count
from glassformer.models.architecture import Architecture
from glassformer.models.forward import compute_logit_blocks
from glassformer.models.ops_jax import JaxOps
from glassformer.tasks.sampler import Sampler
from glassformer.training.flat import FlatLayout, make_flat_layout
from glassformer.training.objective import cross_entropy
from glassformer.training.optimiser import make_optimiser
from glassformer.training.population import make_seed_state
from glassformer.training.settings import TrainSettings
from glassformer.training.streams import make_stream_key


class ReadingOps(JaxOps):
    """JaxOps in which a lookup reads its table."""

    def lookup(self, table: Any, tokens: Any) -> Any:
        return table.T.at[:, tokens].get(mode="promise_in_bounds", wrap_negative_indices=False)


@dataclass(frozen=True)
class Work:
    """What one model-step asks for."""

    learning: Counts  # forward pass, gradient, optimiser
    drawing: Counts  # of the batch
    state_bytes: int  # parameters and optimiser's memory, read and written, and the loss
    token_bytes: int  # of the batch, read once, where it is drawn outside the step

    def operations(self) -> Counts:
        return self.learning + self.drawing


@dataclass(frozen=True)
class Floor:
    """Model-steps per second that the device allows, and what sets it."""

    rate: float  # where the batch is drawn inside the step
    limit: str  # a kind of operation, or bytes
    rate_drawn_outside: float  # where tokens come from memory, and drawing costs nothing
    limit_outside: str


def work_of(model: Architecture, source: Sampler, train: TrainSettings) -> Work:
    """Counted in the traced step of one seed; nothing is run."""
    first = partial(make_seed_state, model, train)
    vector, memory = jax.eval_shape(first, jax.ShapeDtypeStruct((), jnp.int32))
    tokens = jax.eval_shape(partial(draw, source, train.batch), jax.ShapeDtypeStruct((), jnp.int32))
    learning = count(
        partial(step, model, make_flat_layout(model), source.outputs, train), vector, memory, tokens
    )
    drawing = count(partial(draw, source, train.batch), jax.ShapeDtypeStruct((), jnp.int32))
    return Work(learning, drawing, 2 * bytes_of(vector, memory) + 4, bytes_of(tokens))


def draw(source: Sampler, batch: int, number: Any) -> Any:
    """The tokens of one step."""
    return source.draw(
        source.shared(make_stream_key(0, "pool")), make_stream_key(0, "steps"), number[None], batch
    )[0]


def step(
    model: Architecture,
    flat: FlatLayout,
    outputs: int,
    train: TrainSettings,
    vector: Any,
    memory: Any,
    tokens: Any,
) -> Any:
    """As training/population.py's, with a lookup that reads."""

    def loss(vector: Any) -> Any:
        ops = ReadingOps(model.precision)
        logits = compute_logit_blocks(model, ops, flat.unpack(vector), tokens[:-1], last=outputs)
        return jnp.mean(cross_entropy(logits, tokens[-outputs:]))

    value, slope = jax.value_and_grad(loss)(vector)
    change, memory = make_optimiser(train).update(slope, memory, vector)
    return optax.apply_updates(vector, change), memory, value


def floor_of(work: Work, ceilings: Ceilings) -> Floor:
    inside = terms(work.operations(), work.state_bytes, ceilings)
    outside = terms(work.learning, work.state_bytes + work.token_bytes, ceilings)
    longest, longest_outside = max(inside, key=inside.__getitem__), max(outside, key=outside.__getitem__)
    return Floor(1 / inside[longest], longest, 1 / outside[longest_outside], longest_outside)


def terms(operations: Counts, moved: int, ceilings: Ceilings) -> dict[str, float]:
    """Seconds by what is waited for; divisions, exponentials and error functions share a unit."""
    rates = asdict(ceilings)
    seconds = {kind: operations[kind] / rates[kind] for kind in KINDS}
    special = sum(seconds.pop(kind) for kind in ("divide", "exp", "erf"))
    return {**seconds, "special": special, "bytes": moved / ceilings.bytes}
