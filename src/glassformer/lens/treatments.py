"""Treatments: what is done to a head's weights before its kernels are looked at.

- raw: the weights as stored.
- folded: the gains of the norms before (and after) a map multiplied into it, and those of a norm on queries
  and keys into their rows. A norm's own division depends on the token and cannot be
  folded; a LayerNorm's centring and bias are not.
- rope:N: the score between a query and the key N positions before it. Values are not turned: no OV kernel.
- folded+rope:N: both.

>>> [treatment.name for treatment in parse_treatments("rope:128, folded")]
['raw', 'rope:128', 'folded']
>>> parse_treatments("fold")
Traceback (most recent call last):
glassformer.core.errors.UserError: no treatment called 'fold'; did you mean 'folded'? (as in folded+rope:128)
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from glassformer.core.errors import UserError, make_unknown_error
from glassformer.lens.layout import HeadLayout, Map, ModelLayout, Vector
from glassformer.lens.matrix import read_map, read_vector, view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.rotations import compute_rotation

_VALID = ("raw", "folded", "rope:128")
_BOTH = "folded+rope:128"
LARGEST_OFFSET = 10_000_000  # positions: the longest contexts there are; angles are then right to 1e-8
_Rows = Float[np.ndarray, "head width"]


@dataclass(frozen=True)
class Treatment:
    """What is done, and its name in the tables."""

    is_folded: bool = False
    offset: int | None = None  # positions from the query back to the key; none: not turned

    @property
    def name(self) -> str:
        turned = [] if self.offset is None else [f"rope:{self.offset}"]
        return "+".join((["folded"] if self.is_folded else []) + turned) or "raw"


RAW = Treatment()


def parse_treatments(text: str) -> tuple[Treatment, ...]:
    """Treatments from a list with commas; raw is always there and comes first, none comes twice."""
    asked = [_parse_treatment(name.strip()) for name in text.split(",") if name.strip()]
    return tuple(dict.fromkeys([RAW, *asked]))


def _parse_treatment(text: str) -> Treatment:
    parts = text.split("+")
    if parts == ["raw"]:
        return RAW
    turned = [part for part in parts if part.split(":")[0] == "rope"]
    strange = [part for part in parts if part not in turned and part != "folded"]
    if "raw" in strange:
        raise UserError(
            f"the treatment '{text}' adds to raw, which has no treatment; expected is one like {_BOTH}"
        )
    if strange:
        raise make_unknown_error("treatment", strange[0], _VALID, hint=f"as in {_BOTH}")
    if len(turned) > 1 or parts.count("folded") > 1:
        raise UserError(f"the treatment '{text}' names a part twice; expected one like {_BOTH}")
    return Treatment("folded" in parts, _parse_offset(turned[0]) if turned else None)


def _parse_offset(text: str) -> int:
    """
    >>> _parse_offset("rope:128")
    128
    """
    digits = text.removeprefix("rope").removeprefix(":")
    is_whole = digits.isascii() and digits.isdecimal() and len(digits) < 20
    if not is_whole or int(digits) > LARGEST_OFFSET:
        raise UserError(
            f"the treatment '{text}' needs a number of positions from 0 to {LARGEST_OFFSET}, as in rope:128"
        )
    return int(digits)


def describe_unused_treatments(layout: ModelLayout, treatments: tuple[Treatment, ...]) -> tuple[str, ...]:
    """Sentences about treatments that the model has nothing for."""
    turned = [treatment.name for treatment in treatments if treatment.offset is not None]
    if not turned or not layout.attention or any(head.rope for head in layout.attention):
        return ()
    return (f"{layout.architecture} does not turn queries and keys by position: no {', '.join(turned)}.",)


def read_score_map(checkpoint: Checkpoint, stack: Map, norm: Vector | None, is_folded: bool) -> _Rows:
    """Queries or keys, with the gains of their own norm on the rows when folded."""
    rows = read_map(checkpoint, stack, is_folded)
    return rows * read_vector(checkpoint, norm)[:, None] if is_folded and norm else rows


def read_output_map(checkpoint: Checkpoint, head: HeadLayout, is_folded: bool) -> _Rows:
    """The head's part of W_O, transposed: value_dim x width."""
    return view_matrix(checkpoint, head.output, is_folded).dense().T


def compute_turn(head: HeadLayout, treatment: Treatment, size: int) -> Float[np.ndarray, "head head"] | None:
    """The matrix between query and key, A = W_Q' turn W_K, for a head of that size; none: not turned.

    A query at position i is turned by R(i) and a key at position j by R(j): the score is q' R(i)' R(j) k, and
    R(i)' R(j) = R(j - i) = R(-offset).
    """
    if treatment.offset is None or head.rope is None:
        return None
    return compute_rotation(head.rope, -treatment.offset, size)
