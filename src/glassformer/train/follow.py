"""One number is driven to 0 and the others follow: which numbers does a function need?

In a model of twenty numbers every one holds the others in a narrow valley of the loss; a jump leaves it.
Small steps along the valley, each corrected by the Fisher matrix (Levenberg and Marquardt), stay inside, or
show where it ends: M[2,2] of glass-23, 1.34, goes all the way to 0; M[0,1] two hundredths of it.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.model.architecture import Architecture
from glassformer.model.blocks import whole
from glassformer.model.forward import forward
from glassformer.model.ops_jax import JaxOps, _powers
from glassformer.train.flat import Flat
from glassformer.train.objective import cross_entropy

CORRECTIONS = 12  # at most, after each step along the way
FIRST_STEP, LARGEST_STEP, LEAST_STEP = 0.1, 0.4, 0.004  # of the whole way
LOST = 0.2  # nats a digit: a loss above is outside the valley
DAMPING = 1e-4  # of the Fisher matrix's diagonal, at first
SETTLED = 1e-4  # a correction that gains less of the loss is the last

Vector = Float[np.ndarray, " n"]
Free = Bool[np.ndarray, " n"]


class Valley(NamedTuple):
    """The loss of one batch as a function of the vector, in float64, and its Fisher matrix."""

    loss: Callable[[Vector], float]
    fisher: Callable[[Vector], tuple[Vector, Float[np.ndarray, "n n"]]]  # slope of the loss, and the matrix


class ForwardOps(JaxOps):
    """JAX's own rules of differentiation: those of JaxOps know reverse mode alone."""

    def linear(self, weight: jax.Array, x: jax.Array, bias: jax.Array | None = None) -> jax.Array:
        y = jnp.tensordot(weight, whole(x), 1)
        return y if bias is None else y + bias.reshape(-1, *[1] * (y.ndim - 1))

    def lookup(self, table: jax.Array, tokens: jax.Array) -> jax.Array:
        return jnp.moveaxis(table[tokens], -1, 0)

    def softmax(self, scores: jax.Array, extra: float) -> jax.Array:
        powers, total = _powers(scores, extra)
        return jnp.asarray(powers / total)


def valleys(
    model: Architecture, flat: Flat, outputs: int
) -> Callable[[Int[np.ndarray, "pos+1 batch"]], Valley]:
    """A valley for every batch; call them where 64-bit numbers are enabled."""
    ops = ForwardOps("float64")

    def logits(vector: jax.Array, tokens: jax.Array) -> jax.Array:
        return jnp.asarray(forward(model, ops, flat.unpack(vector), tokens[:-1], last=outputs))

    def mean_loss(vector: jax.Array, tokens: jax.Array) -> jax.Array:
        return jnp.mean(cross_entropy(logits(vector, tokens), tokens[-outputs:]))

    def fisher(vector: jax.Array, tokens: jax.Array) -> tuple[jax.Array, jax.Array]:
        found, slopes = logits(vector, tokens), jax.jacfwd(logits)(vector, tokens)  # tok pos batch (n)
        targets = tokens[-outputs:]
        shares = jax.nn.softmax(found, 0)
        is_right = targets[None] == jnp.arange(found.shape[0])[:, None, None]
        mean = jnp.einsum("tpb,tpbn->pbn", shares, slopes)
        square = jnp.einsum("tpb,tpbn,tpbm->nm", shares, slopes, slopes)
        slope = jnp.einsum("tpb,tpbn->n", shares - is_right, slopes)
        return slope / targets.size, (square - jnp.einsum("pbn,pbm->nm", mean, mean)) / targets.size

    loss, both = jax.jit(mean_loss), jax.jit(fisher)

    def on_batch(tokens: Int[np.ndarray, "pos+1 batch"]) -> Valley:
        def slope_and_matrix(vector: Vector) -> tuple[Vector, Float[np.ndarray, "n n"]]:
            slope, matrix = both(vector, tokens)
            return np.asarray(slope), np.asarray(matrix)

        return Valley(lambda vector: float(loss(vector, tokens)), slope_and_matrix)

    return on_batch


def follow(here: Valley, vector: Vector, free: Free, at: int, target: float = 0.0) -> tuple[Vector, float]:
    """The vector with one number as far on its way to the target as the others follow; 1: all the way."""
    others, first, done, step = free.copy(), vector[at], 0.0, FIRST_STEP
    others[at] = False
    while done < 1 and step >= LEAST_STEP:
        there, tried = min(1.0, done + step), vector.copy()
        tried[at] = target if there == 1 else first + (target - first) * there
        tried, loss = settle(here, tried, others)
        if loss < LOST:
            vector, done, step = tried, there, min(1.6 * step, LARGEST_STEP)
        else:
            step /= 2.5
    return vector, done


def settle(here: Valley, vector: Vector, free: Free) -> tuple[Vector, float]:
    """Down to the floor of the valley: every correction lowers the loss, or is damped until it does."""
    loss, damping = here.loss(vector), DAMPING
    for _ in range(CORRECTIONS):
        slope, matrix = here.fisher(vector)
        unit = np.maximum(np.abs(vector), 0.1)[free]
        slope, matrix = slope[free] * unit, matrix[np.ix_(free, free)] * unit[:, None] * unit
        vector, lower, damping = damped(here, vector, free, unit, slope, matrix, loss, damping)
        if not lower < loss * (1 - SETTLED):
            return vector, min(lower, loss)
        loss = lower
    return vector, loss


def damped(
    here: Valley,
    vector: Vector,
    free: Free,
    unit: Vector,
    slope: Vector,
    matrix: Float[np.ndarray, "n n"],
    loss: float,
    damping: float,
) -> tuple[Vector, float, float]:
    """One correction that lowers the loss, its loss, and the damping to go on with."""
    diagonal = np.diag(matrix) + 1e-12 * np.trace(matrix) + 1e-14
    for _ in range(8):
        tried = vector.copy()
        tried[free] -= unit * np.linalg.solve(matrix + np.diag(damping * diagonal), slope)
        lower = here.loss(tried)
        if lower < loss:
            return tried, lower, max(damping / 5, 1e-12)
        damping *= 4
    return vector, loss, damping
