"""Fewer learned parameters, the same function: what the Jacobian's rank says is too many is fixed.

A weight that is read through q k alone may be turned: with q = 3 and k = 2 any pair with q k = 6 will do, so
that q moves to 1 and k to 6. The pair has rank 1 and one parameter too many. Here an entry is moved to 0
where the others can make up for it, else to a round value near by, and every step is corrected by least
squares, so that all logits stay what they were.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, FixedEntry
from glassformer.models.count import DEAD_TOLERANCE, PLAIN, RANK_TOLERANCE
from glassformer.models.forward import forward
from glassformer.models.ops_jax import JaxOps
from glassformer.training.flat import FlatLayout, make_flat_layout

_STEPS = 12  # of the way to another value, each corrected
_CORRECTIONS = 12  # of least squares per step, at most
_SAME = 1e-9  # of the largest logit: what counts as the same function, far below a float's rounding
_TRIES = 6  # entries that are moved towards 0 before one is fixed where it is
_DIGITS = 2  # of a value that is no zero
_MOST = 200  # learned parameters; a Jacobian of more takes long

_Vector = Float[np.ndarray, " n"]
_Logits = Float[np.ndarray, " logit"]


@dataclass(frozen=True)
class _Reduction:
    """A model with as many learned parameters as its function depends on."""

    architecture: Architecture
    params: dict[str, np.ndarray]
    dead: tuple[FixedEntry, ...]  # changed no logit
    redundant: tuple[FixedEntry, ...]  # the others could make up for them
    rank: int  # learned parameters that are left
    change: float  # of the largest logit, before rounding to the model's precision


@dataclass
class _ReductionState:
    """The vector on its way, and which of its entries are still free."""

    vector: _Vector
    free: Bool[np.ndarray, " n"]
    logits: Callable[[_Vector], _Logits]
    slopes: Callable[[_Vector], Float[np.ndarray, "logit n"]]
    goal: _Logits  # that must stay

    def miss(self, vector: _Vector) -> float:
        """The largest change of a logit, as a share of the largest logit."""
        return float(np.abs(self.logits(vector) - self.goal).max() / np.abs(self.goal).max())


def reduce_model(
    model: Architecture, params: dict[str, np.ndarray], tokens: Int[np.ndarray, "pos batch"], outputs: int
) -> _Reduction:
    """Fix dead numbers at 0, then redundant ones, until the rank is the number of those that are left."""
    flat = make_flat_layout(model)
    if flat.size > _MOST:
        raise UserError(
            f"the model has {flat.size} learned parameters; the rank is computed for at most {_MOST}"
        )
    with jax.enable_x64(True):
        work = _begin_reduction(model, flat, flat.pack(params).astype(np.float64), tokens, outputs)
        dead = _fix_dead(work)
        redundant = _fix_redundant(work)
        change = work.miss(work.vector)
    names = _list_vector_entries(flat)
    values = {at: float(work.vector[at]) for at in (*dead, *redundant)}
    made = {at: FixedEntry(*names[at], values[at]) for at in values}
    vector = work.vector.astype(model.precision)
    return _Reduction(
        replace(model, fixed=(*model.fixed, *made.values())),
        {name: np.asarray(array) for name, array in flat.unpack(vector).items()},
        tuple(made[at] for at in dead),
        tuple(made[at] for at in redundant),
        int(work.free.sum()),
        change,
    )


def _begin_reduction(
    model: Architecture, flat: FlatLayout, vector: _Vector, tokens: Int[np.ndarray, "pos batch"], outputs: int
) -> _ReductionState:
    """Logits and slopes in float64, as functions of the vector."""
    ops, contexts = JaxOps("float64"), jnp.asarray(tokens)

    def logits(vector: jax.Array, context: jax.Array) -> jax.Array:
        return jnp.ravel(forward(model, ops, flat.unpack(vector), context[:, None], last=outputs)[:, :, 0])

    value = jax.jit(jax.vmap(logits, (None, 1)), compiler_options=PLAIN)
    slope = jax.jit(jax.vmap(jax.jacrev(logits), (None, 1)), compiler_options=PLAIN)
    return _ReductionState(
        vector,
        np.ones(len(vector), bool),
        lambda v: np.ravel(value(v, contexts)),
        lambda v: np.asarray(slope(v, contexts)).reshape(-1, len(vector)),
        np.ravel(value(vector, contexts)),
    )


def _list_vector_entries(flat: FlatLayout) -> list[tuple[str, tuple[int, ...]]]:
    """The name and index of every parameter of the vector."""
    return [
        (name, tuple(int(i) for i in np.unravel_index(at, shape)) if shape else ())
        for name, shape in flat.shapes.items()
        for at in flat.free(name)
    ]


def _fix_dead(work: _ReductionState) -> list[int]:
    """Numbers without any effect; at 0 where that has none either, else where they are."""
    effects = np.linalg.norm(work.slopes(work.vector), axis=0) * _measure_move_units(work.vector)
    dead = np.flatnonzero(effects <= DEAD_TOLERANCE * effects.max())
    for at in dead:
        tried = work.vector.copy()
        tried[at] = 0.0
        if work.miss(tried) <= _SAME:
            work.vector = tried
        work.free[at] = False
    return [int(at) for at in dead]


def _fix_redundant(work: _ReductionState) -> list[int]:
    """One at a time, the cheapest first: each takes one direction away that changes nothing."""
    fixed: list[int] = []
    while len(movable := _measure_null_shares(work)):
        order = _rank_cheapest_entries(work, movable)
        found = next((at for at in order[:_TRIES] if _move_vector_entry(work, at, 0.0)), None)
        if found is None:
            found = int(np.flatnonzero(work.free)[np.argmax(movable)])
            if not _move_vector_entry(work, found, _round_digits(work.vector[found])):
                _move_vector_entry(work, found, work.vector[found])
        work.free[found] = False
        fixed.append(found)
    return fixed


def _measure_null_shares(work: _ReductionState) -> Float[np.ndarray, " free"]:
    """How far each free parameter lies in the directions without effect, 0 to 1; empty: there are none."""
    slopes = work.slopes(work.vector)[:, work.free] * _measure_move_units(work.vector)[work.free]
    lengths = np.linalg.norm(slopes, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)  # one that has died on the way changes nothing by itself
    _, values, directions = np.linalg.svd(slopes / lengths, full_matrices=False)
    null = directions[values <= RANK_TOLERANCE * values[0]]
    return np.linalg.norm(null, axis=0) if len(null) else np.zeros(0)


def _rank_cheapest_entries(work: _ReductionState, shares: Float[np.ndarray, " free"]) -> list[int]:
    """Free parameters that can move, those first that need to be moved least on the way to 0."""
    free = np.flatnonzero(work.free)
    able = shares > 1e-3
    way = np.abs(work.vector[free]) / _measure_move_units(work.vector)[free] / np.maximum(shares, 1e-3)
    return [int(at) for at in free[able][np.argsort(way[able], kind="stable")]]


def _move_vector_entry(work: _ReductionState, at: int, target: float) -> bool:
    """Bring one parameter to a value while the others keep all logits; no change where they cannot."""
    vector, others = work.vector.copy(), work.free.copy()
    others[at] = False
    for value in np.linspace(work.vector[at], target, _STEPS + 1)[1:]:
        vector[at] = value
        if not _restore_logits(work, vector, others):
            return False
    work.vector = vector
    return True


def _restore_logits(work: _ReductionState, vector: _Vector, others: Bool[np.ndarray, " n"]) -> bool:
    """Least squares on the logits, in place, with the slopes of the first try; whether they came back."""
    sizes = _measure_move_units(vector)[others]
    slopes = work.slopes(vector)[:, others] * sizes
    if not np.isfinite(slopes).all():
        return False
    back = np.linalg.pinv(slopes, rcond=RANK_TOLERANCE)
    largest = np.abs(work.goal).max()
    for _ in range(_CORRECTIONS):
        off = work.logits(vector) - work.goal
        if np.abs(off).max() <= _SAME * largest:
            return True
        if not np.abs(off).max() <= largest:  # too far, or no number
            return False
        vector[others] -= sizes * (back @ off)
    return False


def _measure_move_units(vector: _Vector) -> _Vector:
    """The unit in which a parameter moves: its own size, or 1 for a smaller one."""
    return np.asarray(np.maximum(np.abs(vector), 1.0))


def _round_digits(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
