"""The optimiser: clipping, Grokfast, AdamW with a schedule. It works on one flat vector per model.

A flat vector makes each step a handful of fused kernels, however many parts the model has.
"""

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from glassformer.training.settings import TrainSettings


def make_optimiser(train: TrainSettings) -> optax.GradientTransformation:
    """Gradient to update, in this order: Grokfast, clipping, AdamW."""
    stages = [
        optax.adamw(
            make_rate_schedule(train), b1=train.beta1, b2=train.beta2, weight_decay=train.weight_decay
        )
    ]
    if train.clip:
        stages.insert(0, optax.clip_by_global_norm(train.clip))
    if train.grokfast_gain:
        stages.insert(0, grokfast(train.grokfast_decay, train.grokfast_gain))
    return optax.chain(*stages)


def make_rate_schedule(train: TrainSettings) -> optax.Schedule:
    """Linear rise over the warm-up, then a fall to final_rate x peak_rate at the last step."""
    peak, rise, total = train.peak_rate, train.warm_up, train.steps

    def rate(step: Array) -> Array:
        done = jnp.clip((step - rise) / max(total - rise, 1), 0, 1)
        fall = {
            "cosine": (1 + jnp.cos(jnp.pi * done)) / 2,
            "linear": 1 - done,
            "constant": jnp.ones_like(done),
        }
        level = train.final_rate + (1 - train.final_rate) * fall[train.schedule]
        return peak * jnp.minimum((step + 1) / max(rise, 1), level)

    return rate


def grokfast(decay: float, gain: float) -> optax.GradientTransformation:
    """Add `gain` times a slow moving average of the gradient to it (Lee et al. 2024, arXiv 2405.20233)."""

    def start(params: Float[Array, " n"]) -> Float[Array, " n"]:
        return jnp.zeros_like(params)

    def update(
        gradient: Float[Array, " n"], average: Float[Array, " n"], params: Float[Array, " n"] | None = None
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        average = jax.tree.map(lambda a, g: decay * a + (1 - decay) * g, average, gradient)
        return jax.tree.map(lambda g, a: g + gain * a, gradient, average), average

    return optax.GradientTransformation(start, update)
