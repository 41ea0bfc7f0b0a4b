"""TinyAdder: a hand-built adder of 95 non-zero parameters, as published and repaired. Layout msb, float64.

57 + 68 is read <bos> 57 + 68 = (both numbers to ten digits) and written 125, highest digit first. It does not
carry. It holds the whole rest R = a + b - (what is written so far), and writes the digit c whose stretch of
length U = 10^k, from c U to (c + 1) U, has R in it. With n tokens read so far:

    layer 0   dim 3 is 10^-d at the d-th digit of a number, -10^(1-d) at that of the answer (d = 0 at `=`)
              dim 4 is 1 / (n + 1) from `=` on
    units     dim 15 = 10 digit x 10^10 x dim 3, ten times what the digit is worth
              dim 5 + c = -1000 (c + 1/2) U / (n + 1), the middle of the stretch of c
    layer 1   (1000 R + 15 n) / (n + 1) is added to all 16 dimensions
    units     dim c += M |dim 5 + c|, M = gate x up; the lowest of dims 0 to 9 is the answer

So dim 5 + c becomes v - (c + 1/2) U, in units of 1000 / (n + 1), with v = R + 0.015 n: the 15 lifts a rest
that sits on an edge into its stretch. The published M = 10^4 x 100 has a flaw, since dims 0 to 9 are not
empty. Dim 5 already holds the middle for 0, dim 6 that for 1, and so on: 5 starts U / 2 lower than 4, and
each answer above it U lower than the one before. The edge below 5 moves down by U / 4M, those above it by
U / 2M, and a rest that ends in nines gets across. With U = 10^9 that is 250 and 500: 5999999999 + 0 gives
6000000000.

The repair changes one parameter, up from 100 to 10^10. Every pair is right, since v stays inside its stretch:

- n is 23 to 33, so v is 0.345 to 0.495 above R, and R is a whole number from c U to (c + 1) U - 1.
- A mark leaks into the next number, 11 positions on: b counts 1 + 10^-11 times, the answer and the middles
  1 - 10^-12 times. Together that lifts v by at most 0.13 against the middles.
- M = 10^14 moves an edge down by at most 5e-6. Rounding is below 2e-3: exp(-114) to 2e-14, times at most
  6 x 10^10 of digits and middles.

What is left to the nearest edge is at least 0.34.

In another base b, and for numbers of other lengths, 10 is b where it is a power's base or counts digits, and
the middles move on: dims 5 to 4 + b hold them, and dim 5 + b a digit's worth. `make_repaired_entry` builds
such an adder.
"""

from functools import partial

import numpy as np

from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.elementary import compute_one, exp, take_logarithm
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import LowestHead
from glassformer.models.position import NoPosition
from glassformer.models.projection import (
    ConstantProjection,
    IdentityProjection,
    SparseProjection,
    SpreadProjection,
)
from glassformer.models.relations import AlibiRelation
from glassformer.models.token import SparseTable
from glassformer.tasks import Addition, Layout, make_layout
from glassformer.zoo.entry import ZooEntry

# Dimensions of the stream; the middles begin at _MIDDLE, one per digit, and a digit's worth is behind them.
_IS_EQUALS, _IS_MARK, _DIGIT, _POWER, _SHARE, _MIDDLE = range(6)
_DIGITS, _BASE = 10, 10
_ON_MARK, _OFF_MARK = -40.0, -1000.0  # keys; exp(-40) leaves the softmax's denominator at 1, exp(-1000) is 0
_PUBLISHED, _REPAIRED = 1e2, 1e10  # up of the last units: M / 10^4


def _make_tinyadder(digits: int = _DIGITS, base: int = _BASE) -> Architecture:
    """Five heads of size 1 that write a dimension each, then one head that writes all; gated ReLU units."""
    layout, weaker = make_layout("msb", digits, base), take_logarithm(float(base))  # a mark, per position
    places = Attention(
        heads=5,
        head_size=1,
        q=ConstantProjection(),
        k=SparseProjection(places=((0, _IS_MARK),), writes=(_POWER, _POWER + 1), bias=True),
        v=SparseProjection(places=((_POWER, _IS_MARK), (_POWER, _IS_EQUALS), (_SHARE, _IS_EQUALS))),
        out=IdentityProjection(writes=(0, 5)),
        relation=AlibiRelation(slopes=tuple(weaker * (head == _POWER) for head in range(5))),
        softmax="softmax1",
    )
    rest = Attention(
        head_size=1,
        q=ConstantProjection(),
        k=ConstantProjection(),
        v=SparseProjection(places=((0, _MIDDLE + base),), bias=True),
        out=SpreadProjection(),
        softmax="softmax1",
    )
    return Architecture(
        vocab=len(layout.labels),
        context=layout.length - 1,
        width=_MIDDLE + base + 1,
        token=SparseTable(places=_list_token_entries(layout)),
        position=NoPosition(),
        layers=(Layer(places, _make_product_units(base)), Layer(rest, _make_distance_units(base))),
        head=LowestHead(tokens=base),
        precision="float64",
    )


def _list_token_entries(layout: Layout) -> tuple[tuple[int, int], ...]:
    """(token, dimension) of the embedding's parameters, 13 in base ten: `=`, the marks, digits from 1."""
    equals, bos, plus = (layout.labels.index(mark) for mark in ("=", "<bos>", "+"))
    marks = ((equals, _IS_EQUALS), (equals, _IS_MARK), (bos, _IS_MARK), (plus, _IS_MARK))
    return (*marks, *((digit, _DIGIT) for digit in range(1, layout.base)))


def _make_product_units(base: int) -> FeedForward:
    """A unit per digit makes the middle of its stretch, one more makes a digit's worth."""
    units = range(base + 1)
    return FeedForward(
        hidden=base + 1,
        gate=SparseProjection(places=(*((c, _SHARE) for c in range(base)), (base, _DIGIT))),
        up=SparseProjection(places=tuple((unit, _POWER) for unit in units)),
        down=SparseProjection(places=tuple((_MIDDLE + unit, unit) for unit in units)),
    )


def _make_distance_units(base: int) -> FeedForward:
    """Two units per candidate, one for each sign, make the distance from its middle."""
    units = range(2 * base)
    return FeedForward(
        hidden=2 * base,
        gate=SparseProjection(places=tuple((unit, _MIDDLE + unit % base) for unit in units)),
        up=ConstantProjection(),
        down=SparseProjection(places=tuple((unit % base, unit) for unit in units)),
    )


def _make_tinyadder_parameters(up: float, digits: int = _DIGITS, base: int = _BASE) -> dict[str, np.ndarray]:
    """The stored parameters, in base ten 97; two of them, the query and the key of layer 1, are 0."""
    one_back = compute_one(
        exp, _ON_MARK - take_logarithm(float(base))
    )  # attention of a digit to the mark right before it
    values: dict[str, object] = {
        "token.values": [1, 1, 1, 1, *(10 * digit for digit in range(1, base))],
        "layer0.attn.q.bias": 1,
        "layer0.attn.k.values": [_ON_MARK - _OFF_MARK],
        "layer0.attn.k.bias": [_OFF_MARK],
        "layer0.attn.v.values": [1 / base / one_back, -(base + 1) / base / one_back, 1],
        "layer0.ff.gate.values": [1] * (base + 1),
        "layer0.ff.up.values": [
            *((c + 0.5) * 1000 * base ** (digits - 1) for c in range(base)),
            base**digits,
        ],
        "layer0.ff.down.values": [1] * (base + 1),
        "layer1.attn.q.bias": 0,
        "layer1.attn.k.bias": 0,
        "layer1.attn.v.values": [100],
        "layer1.attn.v.bias": [15],
        "layer1.ff.gate.values": [1e4] * base + [-1e4] * base,
        "layer1.ff.up.bias": up,
        "layer1.ff.down.values": [1] * (2 * base),
    }
    return {name: np.asarray(value, np.float64) for name, value in values.items()}


def make_repaired_entry(digits: int, base: int) -> ZooEntry:
    """The repaired adder for numbers of other lengths and in other bases."""
    return ZooEntry(
        f"tinyadder-repaired-{digits}-digits-base-{base}",
        f"tinyadder-95-repaired for {digits} digits in base {base}",
        Addition(digits=digits, base=base, layout="msb"),
        _make_tinyadder(digits, base),
        partial(_make_tinyadder_parameters, _REPAIRED, digits, base),
    )


ENTRIES: tuple[ZooEntry, ...] = (
    ZooEntry(
        "tinyadder-95",
        "hand-built, as published: passes the board's test, yet 5999999999 + 0 gives 6000000000",
        Addition(layout="msb"),
        _make_tinyadder(),
        partial(_make_tinyadder_parameters, _PUBLISHED),
    ),
    ZooEntry(
        "tinyadder-95-repaired",
        "tinyadder-95 with one parameter changed: right on every pair",
        Addition(layout="msb"),
        _make_tinyadder(),
        partial(_make_tinyadder_parameters, _REPAIRED),
        partial(make_repaired_entry, base=_BASE),
    ),
)
