"""What training lowers, and what evaluation counts."""

from functools import reduce
from operator import add
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from glassformer.models.architecture import Architecture
from glassformer.models.blocks import Blocks, to_dense
from glassformer.models.forward import compute_logit_blocks
from glassformer.models.ops_jax import JaxOps
from glassformer.models.ops_rows import RowOps, split_dimensions
from glassformer.tasks.sampler import HeldOutWindows
from glassformer.training.flat import FlatLayout


class HeldOutScores(NamedTuple):
    """One model on the held-out windows."""

    loss: Float[Array, ""]  # mean cross-entropy of all predicted tokens, nats
    argmax_accuracy: Float[Array, ""]  # share of counted positions whose largest logit is an allowed token
    right_probability: Float[Array, ""]  # mean probability of the allowed tokens at counted positions
    whole_accuracy: Float[Array, ""]  # share of windows with every counted position right
    smallest_margin: Float[Array, ""]  # of counted positions: best allowed logit minus best other one


def compute_training_logits(
    model: Architecture, flat: FlatLayout, vector: Float[Array, " n"], tokens: Array, outputs: int
) -> Array:
    """`tok pos batch` for the last `outputs` positions, or its rows."""
    ops = JaxOps(model.precision) if jax.default_backend() == "cpu" else RowOps(model.precision)
    logits: Array = compute_logit_blocks(model, ops, flat.unpack(vector), tokens, last=outputs)
    return logits


def cross_entropy(
    logits: Float[Array, "tok pos batch"] | Blocks, targets: Int[Array, "pos batch"]
) -> Float[Array, "pos batch"]:
    if isinstance(logits, Blocks):
        return cross_entropy_rows(split_dimensions(logits), targets)
    top = lax.stop_gradient(jnp.max(logits, 0))
    total = jnp.log(jnp.sum(jnp.exp(logits - top), 0)) + top
    ids = jnp.arange(logits.shape[0], dtype=targets.dtype)[:, None, None]
    return total - jnp.sum(jnp.where(targets[None] == ids, logits, 0), 0)


def cross_entropy_rows(
    rows: list[Float[Array, "*place"]], targets: Int[Array, "*place"]
) -> Float[Array, "*place"]:
    """The same, one token after the other: the logits are never put together in memory."""
    top = lax.stop_gradient(reduce(jnp.maximum, rows))
    total = reduce(add, (jnp.exp(row - top) for row in rows))
    right = reduce(add, (jnp.where(targets == token, row, 0) for token, row in enumerate(rows)))
    return jnp.log(total) + top - right


def compute_window_loss(
    model: Architecture,
    flat: FlatLayout,
    vector: Float[Array, " n"],
    tokens: Int[Array, "window batch"],
    outputs: int,
) -> Float[Array, ""]:
    """Mean cross-entropy, in nats, of the last `outputs` tokens of each window."""
    logits = compute_training_logits(model, flat, vector, tokens[:-1], outputs)
    return jnp.mean(cross_entropy(logits, tokens[-outputs:]))


def score_held_out(
    model: Architecture, flat: FlatLayout, vector: Float[Array, " n"], held_out: HeldOutWindows, outputs: int
) -> HeldOutScores:
    """All measures of one model in one pass."""
    logits = to_dense(compute_training_logits(model, flat, vector, held_out.tokens[:-1], outputs))
    allowed, counted = held_out.allowed[:, -outputs:], held_out.counted[-outputs:]
    powers = jnp.exp(logits - jnp.max(logits, 0))
    mass = jnp.sum(jnp.where(allowed, powers, 0), 0) / jnp.sum(powers, 0)
    margin = measure_allowed_margins(logits, allowed)
    right = margin > 0  # a tie with a token that is not allowed is a failure
    number, whole_right = jnp.maximum(jnp.sum(counted), 1), jnp.all(right | ~counted, 0)
    return HeldOutScores(
        jnp.mean(cross_entropy(logits, held_out.tokens[-outputs:])),
        jnp.sum(right & counted) / number,
        jnp.sum(jnp.where(counted, mass, 0)) / number,
        jnp.where(jnp.all(whole_right), 1.0, jnp.mean(whole_right)),  # 121 x (1 / 121) rounds below 1
        jnp.min(jnp.where(counted, margin, jnp.inf)),
    )


def measure_allowed_margins(
    logits: Float[Array, "tok pos batch"], allowed: Bool[Array, "tok pos batch"]
) -> Float[Array, "pos batch"]:
    """The largest logit of the allowed tokens minus the largest of the others."""
    best = jnp.max(jnp.where(allowed, logits, -jnp.inf), 0)
    return best - jnp.max(jnp.where(allowed, -jnp.inf, logits), 0)
