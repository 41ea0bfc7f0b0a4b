"""Which numbers does an adder need? Each is driven to 0, the others follow, what comes out is proved or not.

From the shipped glass-23 the entry M[2,0], -1.29, goes to 0, and 22 numbers are right on all 10^20 pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import jax
import numpy as np
from jaxtyping import Int

from glassformer.model.architecture import Architecture, Fixed
from glassformer.model.model import Model
from glassformer.proof.adder import prove_adder
from glassformer.proof.mining import hard_digits
from glassformer.tasks.addition import Addition, add
from glassformer.tasks.board import off_board
from glassformer.train.data import AdditionSource, stream
from glassformer.train.flat import Flat, flat_of
from glassformer.train.follow import follow, settle, valleys
from glassformer.train.reduce import entries_of

BATCH, MINED = 256, 512  # sums that are followed, and worst ones that join them at the end
ROUNDS = 6  # of mining, at most
SECONDS = 4.0  # of each proof


@dataclass(frozen=True)
class Need:
    """What became of one number on its way to 0."""

    entry: Fixed
    start: float  # where it came from
    reached: float  # share of the way on which the others followed; 1: it is 0
    verdict: str | None  # none: it did not get there
    margin: float | None  # no pair has less, where it was proved
    model: Model | None  # the model without it, where it was proved


def needs(model: Model, task: Addition) -> Iterator[Need]:
    """Every learned number of an adder, one after the other, each from the same start."""
    flat, source = flat_of(model.architecture), AdditionSource(task)
    start = flat.pack(dict(model.params)).astype(np.float64)
    base = np.asarray(source.held_out(stream(0, "polish"), BATCH).tokens)
    with jax.enable_x64(True):
        on_batch = valleys(model.architecture, flat, source.outputs)
        here = on_batch(base)
        for at, (name, place) in enumerate(entries_of(flat)):
            entry, free = Fixed(name, place, 0.0), np.arange(flat.size) != at
            vector, reached = follow(here, start, np.ones(flat.size, bool), at)
            if reached < 1:
                yield Need(entry, float(start[at]), reached, None, None, None)
                continue
            shape = replace(model.architecture, fixed=(*model.architecture.fixed, entry))
            worst = np.zeros((0, task.digits, 2), np.int64)
            for _ in range(ROUNDS):
                found = as_model(shape, flat, vector)
                proof = prove_adder(found, task, seconds=SECONDS, margins=False)
                if proof.verdict == "proved":
                    break
                worst = np.unique(np.concatenate([hard_digits(found, task)[:MINED], worst]), axis=0)
                vector, _ = settle(on_batch(with_worst(base, worst, task)), vector, free)
            is_proved = proof.verdict == "proved"
            yield Need(
                entry, float(start[at]), 1.0, proof.verdict, proof.margin_bound, found if is_proved else None
            )


def as_model(shape: Architecture, flat: Flat, vector: np.ndarray) -> Model:
    rounded = vector.astype(shape.precision)
    return Model(shape, {name: np.asarray(array) for name, array in flat.unpack(rounded).items()})


def with_worst(
    base: Int[np.ndarray, "pos batch"], digits: Int[np.ndarray, "pair column number"], task: Addition
) -> Int[np.ndarray, "pos more"]:
    """The batch and MINED of the worst pairs, again and again where they are fewer; none of the board's."""
    x, y = off_board(digits[:, :, 0].T, digits[:, :, 1].T)
    mined = np.asarray(task.written().encode(x, y, add(x, y)), base.dtype)
    chosen = np.linspace(0, mined.shape[1] - 1, MINED).round().astype(int)
    return np.concatenate([base, mined[:, chosen]], axis=1)
