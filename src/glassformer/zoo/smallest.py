"""Hand-built adders of 10, 8, 6, 5 and 4 numbers, layout lsb24, right on every pair of numbers.

Attention brings the column and the one before it, and the place itself holds the digit just written. So
T = 10 (x_k + y_k) + (x_{k-1} + y_{k-1} - z_{k-1}) is ten times the column's total with its carry, or 1 less:

    57 + 68, tens: 5 + 6 = 11, and before it 7 + 8 wrote 5: T = 110 + 15 - 5 = 120, so 12: write 2, carry 1.

Hinges take 100 off where T says ten or more; the tied head scores each digit by a parabola about the rest.
docs/smallest-adders.md derives every number, and `verify.two_columns` runs all cases.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from glassformer.model.architecture import Architecture, Layer, Tie
from glassformer.model.attention import Attention
from glassformer.model.feedforward import FeedForward
from glassformer.model.head import TiedHead
from glassformer.model.position import NoPosition, Rope
from glassformer.model.projection import Direction, Identity, Pattern
from glassformer.model.token import Quadratic
from glassformer.tasks import Addition
from glassformer.zoo.entry import Entry

TASK = Addition(layout="lsb24")
CONTEXT = 34  # 24 tokens of the problem and ten of the eleven answer digits
PERIOD = 12  # places from a digit of the first number to the same digit of the second
TURN = 2 * math.pi / PERIOD  # radians a place; the one constant
NEAR = 10  # places back to the column's digit of the second number; 22 to that of the first
LEVEL, DIGIT = (0, 1), (1, 2)  # dimensions of the stream: almost constant c0, and minus the digit
SAFE = 0.25  # of T, from a hinge to the nearest value; digits move their own weights, and so T, by 0.03
LEVEL_IS_GAIN, LEVEL_IS_ANGLE = Tie("attn.out.gain", "token.c0"), Tie("attn.q.angle", "token.c0")

# A key is the level alone, turned by its place, so that scores see distances and no content.
KEY = Identity(reads=LEVEL, writes=LEVEL)


def adder(attention: Attention, feedforward: FeedForward, *ties: Tie) -> Architecture:
    """One layer of width two in float64: e(d) = (c0 - c1 d^2, -d), no norm; the head is the table itself."""
    return Architecture(
        vocab=10,
        context=CONTEXT,
        width=2,
        token=Quadratic(),
        position=NoPosition(),
        layers=(Layer(attention, feedforward),),
        head=TiedHead(),
        ties=ties,
        precision="float64",
    )


def two_heads(*ties: Tie) -> Architecture:
    """One head a column, each sharp; three hinges turn the line over and take the ten off.

    The peaks lie 10 and 11 places back, 60 and 30 degrees short of a full turn: two numbers serve both.
    """
    attention = Attention(
        heads=2,
        kv_heads=1,
        value_size=1,
        q=Pattern(reads=LEVEL, entries=("even", "odd", "odd", "even")),
        k=KEY,
        v=Identity(reads=DIGIT),
        out=Pattern(writes=DIGIT, entries=("-now -before",)),
        relation=Rope((TURN,)),
        scale=1.0,
    )
    feedforward = FeedForward(
        hidden=3,
        up=Pattern(entries=("0 1", "-low 1", "-high 1")),
        down=Pattern(writes=DIGIT, entries=("-flip rise -rise",)),
    )
    return adder(attention, feedforward, *ties)


def one_head(*ties: Tie) -> Architecture:
    """One head whose peak lies between the columns, so that it mixes them 10 : 1; two hinges."""
    attention = Attention(
        value_size=1,
        q=Direction(reads=LEVEL),
        k=KEY,
        v=Pattern(entries=("lift 1",)),
        out=Pattern(writes=DIGIT, entries=("-gain",)),
        relation=Rope((TURN,)),
        scale=1.0,
    )
    feedforward = FeedForward(
        hidden=2,
        up=Pattern(entries=("-gap -1", "0 1")),
        down=Pattern(writes=DIGIT, entries=("slope -slope",)),
    )
    return adder(attention, feedforward, *ties)


def one_head_with_scratch(*ties: Tie) -> Architecture:
    """A third dimension receives the level times the gain, -386; the gap is read off that."""
    plain = one_head().layers[0]
    assert plain.attention and plain.feedforward
    attention = replace(
        plain.attention,
        value_size=2,
        v=Pattern(reads=(0, 2), entries=("lift 1", "1 0")),
        out=Pattern(writes=(1, 3), entries=("-gain 0", "0 -gain")),
    )
    up = Pattern(reads=(1, 3), entries=("-1 gap", "1 0"))
    return replace(adder(attention, replace(plain.feedforward, up=up), *ties), width=3)


def ten() -> dict[str, float]:
    """Every number of the two-headed adder by its name."""
    level, sharp = 2500.0, 100.0  # sharp: the score at the peak; 13.4 less at a neighbour
    return {
        "token.c0": level,
        "token.c1": 0.002,  # 2 c0 c1 = 10: the head reads off the tenth of minus the digit dimension
        "attn.q.even": sharp * math.cos(math.pi / 3) / level**2,
        "attn.q.odd": sharp * math.sin(math.pi / 3) / level**2,
        "attn.out.now": 20.0,  # ten times the two digits, of which a head brings the mean
        "attn.out.before": 2.0,  # once the two digits before
        "ff.up.low": 92 / level,  # T is at most 90 below ten,
        "ff.up.high": 97 / level,  # and at least 99 from ten on
        "ff.down.flip": 2.0,  # T - 2 T = -T, the sign of a digit in the table
        "ff.down.rise": 20.0,  # times the 5 from low to high: the 100 of ten digits
    }


def eight() -> dict[str, float]:
    """The same numbers; `flip` is `before` and `rise` is `now`, so that two are not stored."""
    return {name: value for name, value in ten().items() if name not in ("ff.down.flip", "ff.down.rise")}


def six() -> dict[str, float]:
    """The numbers of the one-headed adder; its level is 22, the gain of a mix of 10 : 10 : 1 : 1."""
    return one_headed(level=22.0)


def five() -> dict[str, float]:
    """The level is the query's angle too, four whole turns less 5.487: about 19.646."""
    level = 20.0
    for _ in range(8):  # each round brings the level a thousand times nearer to the fixed point
        level = between(level**2, ratio_of(level)) + 4 * 2 * math.pi
    return {name: value for name, value in one_headed(level).items() if name != "attn.q.angle"}


def four() -> dict[str, float]:
    """The gap is c1: times the gain, 19.6, it is nearly the 20 c1 of ten digits, 0.18 of a digit short."""
    return {name: value for name, value in five().items() if name != "ff.up.gap"}


def one_headed(level: float) -> dict[str, float]:
    """Everything else follows from the level c0 and from c1, which only has to be small."""
    bend = 2.5e-7
    ratio, step = ratio_of(level), 2 * level * bend  # step: of the digit dimension from one digit to the next
    lowest = 10 * ratio - 1  # the smallest T of a total of ten
    return {
        "token.c0": level,
        "token.c1": bend,
        "attn.q.angle": between(level**2, ratio),
        "attn.v.lift": (lowest - SAFE) / level**2,  # T less this: below 0 up to nine, above from ten on
        "ff.up.gap": 10 * step / level,  # ten digits
        "ff.down.slope": 1 + step / ratio,  # turns the line over and leaves a millionth of it
    }


def ratio_of(gain: float) -> float:
    """The column's weight over that of the one before, for which the latter, times the gain, is 1."""
    return gain / 2 - 1


def between(sharp: float, ratio: float) -> float:
    """The query's angle that weighs 10 places back `ratio` times as much as 11 places back.

    The scores are sharp cos(angle + TURN places). With the peak half-way they are equal; they differ by
    ln ratio = 2 sharp sin(TURN / 2) sin(angle + 10.5 TURN).
    """
    middle = (NEAR + 0.5) * TURN
    return math.asin(math.log(ratio) / (2 * sharp * math.sin(TURN / 2))) - middle


def built(numbers: Callable[[], Mapping[str, float]]) -> Callable[[], dict[str, np.ndarray]]:
    """The numbers as the arrays that a model holds."""
    return lambda: {name: np.array(value, np.float64) for name, value in numbers().items()}


ENTRIES: tuple[Entry, ...] = (
    Entry("hand-10", "two sharp heads, three hinges, every number stored", TASK, two_heads(), built(ten)),
    Entry(
        "hand-8",
        "hand-10 with the two pairs of equal numbers tied",
        TASK,
        two_heads(Tie("ff.down.flip", "attn.out.before"), Tie("ff.down.rise", "attn.out.now")),
        built(eight),
    ),
    Entry(
        "hand-6",
        "one head between the columns, two hinges, the level of the digits as the gain",
        TASK,
        one_head(LEVEL_IS_GAIN),
        built(six),
    ),
    Entry(
        "hand-5",
        "hand-6 with the level as the angle too",
        TASK,
        one_head(LEVEL_IS_GAIN, LEVEL_IS_ANGLE),
        built(five),
    ),
    Entry(
        "hand-4",
        "hand-5 with a third dimension, in which the curvature of the digits serves as the gap",
        TASK,
        one_head_with_scratch(LEVEL_IS_GAIN, LEVEL_IS_ANGLE, Tie("ff.up.gap", "token.c1")),
        built(four),
    ),
)
