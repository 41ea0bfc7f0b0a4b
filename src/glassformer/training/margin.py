"""Margin maximisation: the worst position of a batch is raised, where a loss would raise the mean.

A model that writes a million sums right and one wrong has a mean loss that barely sees the one. The goal here
is a smooth maximum over every wrong digit of every position: with shortfalls -5, -5 and +1 (a wrong digit
that leads by 1) and sharpness 8 it is (1 / 8) ln(e^-40 + e^-40 + e^8) = 1.0, the worst alone.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from glassformer.models.architecture import Architecture
from glassformer.models.blocks import Blocks, to_dense
from glassformer.training.flat import FlatLayout
from glassformer.training.objective import compute_training_logits
from glassformer.training.polish import polish_vector

# Each round is steeper than the one before: first many positions pull, at last the worst few. The sharpness
# is so many over the worst position's margin, so that the same numbers fit models whose logits are 5 and 500.
_STEEPER = (3.0, 10.0, 30.0)
_LEAST = 1e-3  # of the logits' spread: a worst position nearer to a tie than that does not make it steeper


def raise_margin(
    model: Architecture,
    flat: FlatLayout,
    vector: Float[Array, " n"],
    tokens: Int[Array, "window batch"],
    outputs: int,
    steps: int,
) -> Float[Array, " n"]:
    """The vector after `steps` of L-BFGS on the margin; a round that does not raise it is undone."""
    goal = partial(measure_worst_shortfall, model, flat, tokens=tokens, outputs=outputs)
    margin = partial(measure_relative_margin, model, flat, tokens=tokens, outputs=outputs)

    def one_round(vector: Array, times: Array) -> tuple[Array, None]:
        sharpness = times / jnp.maximum(jnp.abs(margin(vector)), _LEAST)
        tried, _ = polish_vector(partial(goal, sharpness=sharpness), vector, -(-steps // len(_STEEPER)))
        return jnp.where(margin(tried) > margin(vector), tried, vector), None

    raised, _ = jax.lax.scan(one_round, vector, jnp.array(_STEEPER, vector.dtype))
    return raised


def measure_worst_shortfall(
    model: Architecture,
    flat: FlatLayout,
    vector: Float[Array, " n"],
    tokens: Int[Array, "window batch"],
    outputs: int,
    sharpness: Float[Array, ""],
) -> Float[Array, ""]:
    """How far a wrong token leads at the worst position, smoothly, in units of the logits' spread.

    Below minus the logarithm of the number of terms over the sharpness, every position is right.
    """
    lead = measure_leads(
        compute_training_logits(model, flat, vector, tokens[:-1], outputs), tokens[-outputs:]
    )
    return jax.nn.logsumexp(sharpness * lead) / sharpness


def measure_relative_margin(
    model: Architecture,
    flat: FlatLayout,
    vector: Float[Array, " n"],
    tokens: Int[Array, "window batch"],
    outputs: int,
) -> Float[Array, ""]:
    """The smallest margin of the batch in units of the logits' spread; positive: every position is right."""
    return -jnp.max(
        measure_leads(compute_training_logits(model, flat, vector, tokens[:-1], outputs), tokens[-outputs:])
    )


def measure_leads(
    logits: Float[Array, "tok pos batch"] | Blocks, targets: Int[Array, "pos batch"]
) -> Float[Array, "tok pos batch"]:
    """By how much every wrong token leads the right one; minus infinity for the right one itself.

    In units of the logits' root mean square about their mean at a position. Without units a model that is
    right would only have to multiply its head, and one that is wrong to divide it; rounding grows with the
    logits, so that the relative margin is also the one that a proof in floating point needs.
    """
    every: Array = to_dense(logits)
    is_right = targets[None] == jnp.arange(every.shape[0], dtype=targets.dtype)[:, None, None]
    spread = jnp.sqrt(jnp.mean((every - jnp.mean(every, 0)) ** 2))
    gaps = every - jnp.sum(jnp.where(is_right, every, 0), 0)
    return jnp.where(is_right, -jnp.inf, gaps / spread)
