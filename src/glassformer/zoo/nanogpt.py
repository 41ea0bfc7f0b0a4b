"""nanoGPT-58: a hand-built adder of 58 parameters, as published and repaired. Layout nanogpt.

57 + 68 is read 57 + 68 = (both numbers to ten digits) and written 5 2 1, units first. Positions go round a
circle of 11, so digit k of both numbers, at positions 9 - k and 20 - k, has one and the same key. Write s_k
for the sum of column k, z_k for the digit written there, c_k for the carry into it. The query of position 21
+ k is mirrored onto column k by head 0, which brings s_k into dimension 3, and onto column k - 1 by head 1,
which brings s_{k-1} into dimension 1. Dimension 0 holds z_{k-1}, so that the column before says whether it
carried:

    r = s_{k-1} - z_{k-1} = 10 c_k - c_{k-1}: 0 or -1 without a carry, 10 or 9 with one

Dimension 1 also keeps the position's own sine, w. Four hinges make two steps, both in dimension 3, y:

    y + 1   as r + w goes from 0.5 to 1.5                   the carry
    y - 10  as 1000 s_k + 10 (r + w) goes from T to T + 10  the column overflows

and the parabola picks the digit nearest to y. Published T is 9005. But a column of 9 without a carry is at
9000 + 10 w, and w is above 0.5 for k = 2 to 5: a part of the 10 is then taken off a 9. In 5388742030 +
746297626 the 9 of column 3 becomes a 5. Repaired T is 9045, and every pair is right:

- The other positions score lower by at least 1122 than the two of the column. Their exponentials are 0 in
  float32,
  and the two keys are equal, so the weights are 1/2 and 1/2 and s_k and s_{k-1} are exact.
- A column of 9 is at most at 9000 + 9.9 without a carry and at least at 9000 + 80 with one; 8 and 10 are
  hundreds away. So the second step is 0 or 10, with 25 to spare, and y is the answer, plus w - 0.5 where r
  is 0 and w above 0.5. That is at most 0.49: the logits' gap is at least 2 (1 - sin(6 pi / 11)) = 0.0204.
- For k = 0 the position's sine is -54.1, no carry, and T is between 9000 - 541 and 10000 - 541.

The same works for numbers of any length, on a circle of one position more than a digit, and in any base b,
with b for 10 and b - 1 for 9: T is 1005 (b - 1), and the overflow step takes b off. A small base moves r by
too little to tell it from w, and where a position is at a quarter of the circle, w is 1. There the answer's
circle is an eighth as wide, and the carry step, from 0.4 to 0.6, five times as steep. Below five digits the
sine of `=` is near -1; a quieter prompt keeps it away from column 0. `make_repaired_entry` builds them.

Where sines are computed in float32, the two keys differ in their last bits, the weights by some 1e-4, and the
published model's score wanders (9,203 of the board's 10,010 pairs instead of 9,295). `CirclePosition`
avoids that.
"""

import math
from functools import partial
from typing import Literal

import numpy as np

from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import ParabolicHead
from glassformer.models.position import CirclePosition
from glassformer.models.projection import (
    FullProjection,
    MirroredProjection,
    RankOneProjection,
    RepeatedProjection,
    SparseProjection,
)
from glassformer.models.token import RankOneTable
from glassformer.tasks import Addition
from glassformer.zoo.entry import ZooEntry

_CIRCLE = (1, 3)  # dimensions of the position
_DIGIT, _COLUMN_BEFORE, _COLUMN = 0, 1, 3  # dimensions: z_{k-1}; w, then w + s_{k-1}; s_k, then the answer
_PUBLISHED, _REPAIRED = 5.0, 45.0  # T - 9000, where the overflow step begins
_DIGITS, _BASE = 10, 10
_FEW, _SMALL = 5, 5  # fewer digits need a quieter prompt, a smaller base a narrower circle


def _make_nanogpt(
    precision: Literal["float32", "float64"] = "float32",
    digits: int = _DIGITS,
    base: int = _BASE,
    narrow: bool = False,
) -> Architecture:
    """Width 4, two heads of size 2, one layer, four hinges, no norm."""
    prompt = 2 * digits + 2  # positions up to and including `=`
    circle = CirclePosition(
        period=digits + 1,  # positions from a digit of the first number to that of the second
        amplitude=0.125 if narrow else 1.0,
        at=_CIRCLE[0],
        loud=prompt,
        loud_amplitude=100.0 if digits >= _FEW else 50.0,
    )
    attention = Attention(
        heads=2,
        head_size=2,
        q=MirroredProjection(reads=_CIRCLE),
        k=FullProjection(reads=_CIRCLE),
        v=RankOneProjection(),
        out=SparseProjection(places=((_COLUMN, 0), (_COLUMN_BEFORE, 2))),
    )
    feedforward = FeedForward(hidden=4, up=RepeatedProjection(bias=True), down=RankOneProjection())
    return Architecture(
        vocab=base,
        context=prompt + digits,  # the last digit is predicted, not read
        width=4,
        token=RankOneTable(),
        position=circle,
        layers=(Layer(attention, feedforward),),
        head=ParabolicHead(reads=_COLUMN),
        precision=precision,
    )


def _make_nanogpt_parameters(
    overflow: float,
    dtype: str = "float32",
    digits: int = _DIGITS,
    base: int = _BASE,
    narrow: bool = False,
) -> dict[str, np.ndarray]:
    """The 58 parameters, with the overflow step from `overflow` above 1000 (base - 1) on."""
    step, first = 2 * math.pi / (digits + 1), 1000 * (base - 1) + overflow
    sharp, steep = (800, 5) if narrow else (100, 1)
    middle = 50 if narrow else 100  # of the carry step, in hundredths
    values: dict[str, object] = {
        "token.value": range(base),
        "token.direction": [1, 0, 0, 0],
        # Of ten digits 8 - p is position 9 - k of p = 21 + k, all modulo 11.
        "attn.q.angle": [(digits - 2) * step, (digits - 1) * step],
        "attn.q.scale": sharp,
        "attn.k.weight": [[1, 0], [0, 1], [1, 0], [0, 1]],
        "attn.v.read": [1, 0, 0, 0],
        "attn.v.write": [1, 0, 1, 0],
        "attn.out.values": [2, 2],  # a head's mix is the mean of two digits
        "ff.up.weight": [[-100 * steep, 100 * steep, 0, 0], [-10, 10, 0, 1000]],
        "ff.up.bias": [50 - middle * steep, -50 - middle * steep, -first, -first - base],
        "ff.down.read": [0.01, -0.01, -1, 1],
        "ff.down.write": [0, 0, 0, 1],
        "head.slope": 2,
        "head.bend": -1,
        "head.read": 1,
    }
    return {name: np.asarray(value, dtype) for name, value in values.items()}


def make_repaired_entry(digits: int, base: int) -> ZooEntry:
    """The repaired adder for numbers of other lengths and in other bases."""
    overflow = _REPAIRED * (base - 1) / (_BASE - 1)
    narrow = base < _SMALL or (digits + 1) % 4 == 0
    return ZooEntry(
        f"nanogpt-repaired-{digits}-digits-base-{base}",
        f"nanogpt-58-repaired for {digits} digits in base {base}",
        Addition(digits=digits, base=base, layout="nanogpt"),
        _make_nanogpt("float64", digits, base, narrow),
        partial(_make_nanogpt_parameters, overflow, "float64", digits, base, narrow),
    )


ENTRIES: tuple[ZooEntry, ...] = (
    ZooEntry(
        "nanogpt-58",
        "hand-built, as published: wrong on 7% of all pairs, 5388742030 + 746297626 among them",
        Addition(layout="nanogpt"),
        _make_nanogpt(),
        partial(_make_nanogpt_parameters, _PUBLISHED),
    ),
    ZooEntry(
        "nanogpt-58-repaired",
        "nanogpt-58 with two biases changed, in float64: right on every pair",
        Addition(layout="nanogpt"),
        _make_nanogpt("float64"),
        partial(_make_nanogpt_parameters, _REPAIRED),
        partial(make_repaired_entry, base=_BASE),
    ),
)
