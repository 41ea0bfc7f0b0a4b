"""Fewer learned numbers, the same function: what the Jacobian's rank says is too many is fixed.

A weight that is read through q k alone may be turned: with q = 3 and k = 2 any pair with q k = 6 will do, so
that q moves to 1 and k to 6. The pair has rank 1 and one number too many. Here an entry is moved to 0 where
the others can make up for it, else to a round value near by, and every step is corrected by least squares, so
that all logits stay what they were.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.errors import UserError
from glassformer.model.architecture import Architecture, Fixed
from glassformer.model.count import DEAD_TOLERANCE, PLAIN, RANK_TOLERANCE
from glassformer.model.forward import forward
from glassformer.model.ops_jax import JaxOps
from glassformer.train.flat import Flat, flat_of

STEPS = 12  # of the way to another value, each corrected
CORRECTIONS = 12  # of least squares a step, at most
SAME = 1e-9  # of the largest logit: what counts as the same function, far below a float's rounding
TRIES = 6  # entries that are moved towards 0 before one is fixed where it is
DIGITS = 2  # of a value that is no zero
MOST = 200  # learned numbers; a Jacobian of more takes long

Vector = Float[np.ndarray, " n"]


@dataclass(frozen=True)
class Reduction:
    """A model with as many learned numbers as its function depends on."""

    architecture: Architecture
    params: dict[str, np.ndarray]
    dead: tuple[Fixed, ...]  # changed no logit
    redundant: tuple[Fixed, ...]  # the others could make up for them
    rank: int  # learned numbers that are left
    change: float  # of the largest logit, before rounding to the model's precision


@dataclass
class Work:
    """The vector on its way, and which of its entries are still free."""

    vector: Vector
    free: Bool[np.ndarray, " n"]
    logits: Callable[[Vector], Vector]
    slopes: Callable[[Vector], Float[np.ndarray, "logit n"]]
    goal: Vector  # the logits that must stay

    def miss(self, vector: Vector) -> float:
        """The largest change of a logit, as a share of the largest logit."""
        return float(np.abs(self.logits(vector) - self.goal).max() / np.abs(self.goal).max())


def reduce_model(
    model: Architecture, params: dict[str, np.ndarray], tokens: Int[np.ndarray, "pos batch"], outputs: int
) -> Reduction:
    """Fix dead numbers at 0, then redundant ones, until the rank is the number of those that are left."""
    flat = flat_of(model)
    if flat.size > MOST:
        raise UserError(f"the model has {flat.size} learned numbers; a rank is taken of {MOST} at most")
    with jax.enable_x64(True):
        work = begin(model, flat, flat.pack(params).astype(np.float64), tokens, outputs)
        dead = fix_dead(work)
        redundant = fix_redundant(work)
        change = work.miss(work.vector)
    names = entries_of(flat)
    values = {at: float(work.vector[at]) for at in (*dead, *redundant)}
    made = {at: Fixed(*names[at], values[at]) for at in values}
    vector = work.vector.astype(model.precision)
    return Reduction(
        replace(model, fixed=(*model.fixed, *made.values())),
        {name: np.asarray(array) for name, array in flat.unpack(vector).items()},
        tuple(made[at] for at in dead),
        tuple(made[at] for at in redundant),
        int(work.free.sum()),
        change,
    )


def begin(
    model: Architecture, flat: Flat, vector: Vector, tokens: Int[np.ndarray, "pos batch"], outputs: int
) -> Work:
    """Logits and slopes in float64, as functions of the vector."""
    ops, contexts = JaxOps("float64"), jnp.asarray(tokens)

    def logits(vector: jax.Array, context: jax.Array) -> jax.Array:
        return jnp.ravel(forward(model, ops, flat.unpack(vector), context[:, None], last=outputs)[:, :, 0])

    value = jax.jit(jax.vmap(logits, (None, 1)), compiler_options=PLAIN)
    slope = jax.jit(jax.vmap(jax.jacrev(logits), (None, 1)), compiler_options=PLAIN)
    return Work(
        vector,
        np.ones(len(vector), bool),
        lambda v: np.ravel(value(v, contexts)),
        lambda v: np.asarray(slope(v, contexts)).reshape(-1, len(vector)),
        np.ravel(value(vector, contexts)),
    )


def entries_of(flat: Flat) -> list[tuple[str, tuple[int, ...]]]:
    """The name and place of every number of the vector."""
    return [
        (name, tuple(int(i) for i in np.unravel_index(at, shape)) if shape else ())
        for name, shape in flat.shapes.items()
        for at in flat.free(name)
    ]


def fix_dead(work: Work) -> list[int]:
    """Numbers without any effect; at 0 where that has none either, else where they are."""
    effects = np.linalg.norm(work.slopes(work.vector), axis=0) * sizes_of(work.vector)
    dead = np.flatnonzero(effects <= DEAD_TOLERANCE * effects.max())
    for at in dead:
        tried = work.vector.copy()
        tried[at] = 0.0
        if work.miss(tried) <= SAME:
            work.vector = tried
        work.free[at] = False
    return [int(at) for at in dead]


def fix_redundant(work: Work) -> list[int]:
    """One at a time, the cheapest first: each takes one direction away that changes nothing."""
    fixed: list[int] = []
    while len(movable := null_shares(work)):
        order = cheapest(work, movable)
        found = next((at for at in order[:TRIES] if move(work, at, 0.0)), None)
        if found is None:
            found = int(np.flatnonzero(work.free)[np.argmax(movable)])
            if not move(work, found, rounded(work.vector[found])):
                move(work, found, work.vector[found])
        work.free[found] = False
        fixed.append(found)
    return fixed


def null_shares(work: Work) -> Float[np.ndarray, " free"]:
    """How far each free number lies in the directions that change nothing, 0 to 1; empty: there are none."""
    slopes = work.slopes(work.vector)[:, work.free] * sizes_of(work.vector)[work.free]
    lengths = np.linalg.norm(slopes, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)  # one that has died on the way changes nothing by itself
    _, values, directions = np.linalg.svd(slopes / lengths, full_matrices=False)
    null = directions[values <= RANK_TOLERANCE * values[0]]
    return np.linalg.norm(null, axis=0) if len(null) else np.zeros(0)


def cheapest(work: Work, shares: Float[np.ndarray, " free"]) -> list[int]:
    """Free numbers that can move, those first that need to be moved least on the way to 0."""
    free = np.flatnonzero(work.free)
    able = shares > 1e-3
    way = np.abs(work.vector[free]) / sizes_of(work.vector)[free] / np.maximum(shares, 1e-3)
    return [int(at) for at in free[able][np.argsort(way[able], kind="stable")]]


def move(work: Work, at: int, target: float) -> bool:
    """Bring one number to a value while the others keep all logits; nothing is changed where they cannot."""
    vector, others = work.vector.copy(), work.free.copy()
    others[at] = False
    for value in np.linspace(work.vector[at], target, STEPS + 1)[1:]:
        vector[at] = value
        if not correct(work, vector, others):
            return False
    work.vector = vector
    return True


def correct(work: Work, vector: Vector, others: Bool[np.ndarray, " n"]) -> bool:
    """Least squares on the logits, in place, with the slopes of the first try; whether they came back."""
    sizes = sizes_of(vector)[others]
    slopes = work.slopes(vector)[:, others] * sizes
    if not np.isfinite(slopes).all():
        return False
    back = np.linalg.pinv(slopes, rcond=RANK_TOLERANCE)
    largest = np.abs(work.goal).max()
    for _ in range(CORRECTIONS):
        off = work.logits(vector) - work.goal
        if np.abs(off).max() <= SAME * largest:
            return True
        if not np.abs(off).max() <= largest:  # too far, or no number
            return False
        vector[others] -= sizes * (back @ off)
    return False


def sizes_of(vector: Vector) -> Vector:
    """The unit in which a number moves: its own size, or 1 for a smaller one."""
    return np.asarray(np.maximum(np.abs(vector), 1.0))


def rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
