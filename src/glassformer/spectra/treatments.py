"""Treatments: what is done to a head's weights before its kernels are looked at.

- raw: the weights as stored.
- folded: the gains of the norms before (and after) a map multiplied into it, and those of a norm on queries
  and keys into their rows. A norm's own division depends on the token and cannot be
  folded; a LayerNorm's centring and bias are not.
- rope:N: the score between a query and the key N places before it. Values are not turned: no OV kernel.
- folded+rope:N: both.

>>> [treatment.name for treatment in parse_treatments("rope:128, folded")]
['raw', 'rope:128', 'folded']
>>> parse_treatments("foldet")
Traceback (most recent call last):
glassformer.errors.UserError: no treatment called 'foldet'; did you mean 'folded'? (as in folded+rope:128)
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from glassformer.errors import UserError, unknown
from glassformer.spectra.layout import Head, Layout, Map, Vector
from glassformer.spectra.matrix import map_matrix, vector, view_matrix
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.rotations import rotation

VALID = ("raw", "folded", "rope:128")
BOTH = "folded+rope:128"
LARGEST_OFFSET = 10_000_000  # places: the longest contexts there are; angles are then right to 1e-8
Rows = Float[np.ndarray, "head width"]


@dataclass(frozen=True)
class Treatment:
    """What is done, and its name in the tables."""

    is_folded: bool = False
    offset: int | None = None  # places from the query back to the key; none: not turned

    @property
    def name(self) -> str:
        turned = [] if self.offset is None else [f"rope:{self.offset}"]
        return "+".join((["folded"] if self.is_folded else []) + turned) or "raw"


RAW = Treatment()


def parse_treatments(text: str) -> tuple[Treatment, ...]:
    """Treatments from a list with commas; raw is always there and comes first, none comes twice."""
    asked = [parse_treatment(name.strip()) for name in text.split(",") if name.strip()]
    return tuple(dict.fromkeys([RAW, *asked]))


def parse_treatment(text: str) -> Treatment:
    parts = text.split("+")
    if parts == ["raw"]:
        return RAW
    turned = [part for part in parts if part.split(":")[0] == "rope"]
    strange = [part for part in parts if part not in turned and part != "folded"]
    if "raw" in strange:
        raise UserError(
            f"the treatment '{text}' adds to raw, which nothing is done to; expected is one like {BOTH}"
        )
    if strange:
        raise unknown("treatment", strange[0], VALID, hint=f"as in {BOTH}")
    if len(turned) > 1 or parts.count("folded") > 1:
        raise UserError(f"the treatment '{text}' names a part twice; expected one like {BOTH}")
    return Treatment("folded" in parts, parse_offset(turned[0]) if turned else None)


def parse_offset(text: str) -> int:
    """
    >>> parse_offset("rope:128")
    128
    """
    digits = text.removeprefix("rope").removeprefix(":")
    is_whole = digits.isascii() and digits.isdecimal() and len(digits) < 20
    if not is_whole or int(digits) > LARGEST_OFFSET:
        raise UserError(
            f"the treatment '{text}' needs a number of places from 0 to {LARGEST_OFFSET}, as in rope:128"
        )
    return int(digits)


def treatment_notes(layout: Layout, treatments: tuple[Treatment, ...]) -> tuple[str, ...]:
    """Sentences about treatments that the model has nothing for."""
    turned = [treatment.name for treatment in treatments if treatment.offset is not None]
    if not turned or not layout.attention or any(head.rope for head in layout.attention):
        return ()
    return (f"{layout.architecture} does not turn queries and keys by position: no {', '.join(turned)}.",)


def score_map(checkpoint: Checkpoint, stack: Map, norm: Vector | None, is_folded: bool) -> Rows:
    """Queries or keys, with the gains of their own norm on the rows when folded."""
    rows = map_matrix(checkpoint, stack, is_folded)
    return rows * vector(checkpoint, norm)[:, None] if is_folded and norm else rows


def output_map(checkpoint: Checkpoint, head: Head, is_folded: bool) -> Rows:
    """The head's part of W_O, transposed: value_dim x width."""
    return view_matrix(checkpoint, head.output, is_folded).dense().T


def turn(head: Head, treatment: Treatment, size: int) -> Float[np.ndarray, "head head"] | None:
    """The matrix between query and key, A = W_Q' turn W_K, for a head of that size; none: not turned.

    A query at place i is turned by R(i) and a key at place j by R(j): the score is q' R(i)' R(j) k, and
    R(i)' R(j) = R(j - i) = R(-offset).
    """
    if treatment.offset is None or head.rope is None:
        return None
    return rotation(head.rope, -treatment.offset, size)
