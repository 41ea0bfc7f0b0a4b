"""Hand-built adders of 10, 8, 6, 5 and 4 parameters, layout lsb24, right on every pair of numbers.

Attention brings the column and the one before it, and the position itself holds the digit just written. So
T = 10 (x_k + y_k) + (x_{k-1} + y_{k-1} - z_{k-1}) is ten times the column's total with its carry, or that
minus 1:

    57 + 68, tens: 5 + 6 = 11, and before it 7 + 8 wrote 5: T = 110 + 15 - 5 = 120, so 12: write 2, carry 1.

Hinges take 100 off where T says ten or more; the tied head scores each digit by a parabola about the rest.
With one head this works for numbers of any length in any base b, with b for ten and b^2 for the hundred:
`make_one_head_entry` builds them. The ties of the others hold in base ten alone.

docs/smallest-adders.md derives every parameter, and `verify.two_columns` runs all cases.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from glassformer.models.architecture import Architecture, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.elementary import compute_one, cos, find_arcsine, sin, take_logarithm
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import TiedHead
from glassformer.models.position import NoPosition
from glassformer.models.projection import DirectionProjection, IdentityProjection, PatternProjection
from glassformer.models.relations import RopeRelation
from glassformer.models.token import QuadraticTable
from glassformer.tasks import Addition
from glassformer.zoo.entry import ZooEntry

_TASK = Addition(layout="lsb24")
_DIGITS, _BASE = 10, 10
NEAR = _DIGITS  # positions back to the column's digit of the second number; 22 to that of the first
PERIOD = NEAR + 2  # positions from a digit of the first number to the same digit of the second
_LEVEL, _DIGIT = (0, 1), (1, 2)  # dimensions of the stream: almost constant c0, and minus the digit
_SAFE = 0.25  # of T, from a hinge to the nearest value; digits move their own weights, and so T, by 0.03
_LEVEL_IS_GAIN, _LEVEL_IS_ANGLE = Tie("attn.out.gain", "token.c0"), Tie("attn.q.angle", "token.c0")

# A key is the level alone, rotated by its position, so that scores see distances and no content.
_KEY = IdentityProjection(reads=_LEVEL, writes=_LEVEL)


def _make_small_adder(
    attention: Attention, feedforward: FeedForward, *ties: Tie, task: Addition = _TASK
) -> Architecture:
    """One layer of width two in float64: e(d) = (c0 - c1 d^2, -d), no norm; the head is the table itself."""
    return Architecture(
        vocab=len(task.tokens()),
        context=task.written().length - 1,
        width=2,
        token=QuadraticTable(),
        position=NoPosition(),
        layers=(Layer(attention, feedforward),),
        head=TiedHead(),
        ties=ties,
        precision="float64",
    )


def _make_two_heads(*ties: Tie) -> Architecture:
    """One head per column, each sharp; three hinges turn the line over and take the ten off.

    The peaks lie 10 and 11 positions back, 60 and 30 degrees short of a full turn: two parameters serve both.
    """
    attention = Attention(
        heads=2,
        kv_heads=1,
        value_size=1,
        q=PatternProjection(reads=_LEVEL, entries=("even", "odd", "odd", "even")),
        k=_KEY,
        v=IdentityProjection(reads=_DIGIT),
        out=PatternProjection(writes=_DIGIT, entries=("-now -before",)),
        relation=RopeRelation((_find_turn(_DIGITS),)),
        scale=1.0,
    )
    feedforward = FeedForward(
        hidden=3,
        up=PatternProjection(entries=("0 1", "-low 1", "-high 1")),
        down=PatternProjection(writes=_DIGIT, entries=("-flip rise -rise",)),
    )
    return _make_small_adder(attention, feedforward, *ties)


def _make_one_head(*ties: Tie, task: Addition = _TASK) -> Architecture:
    """One head whose peak lies between the columns, so that it mixes them 10 : 1; two hinges."""
    attention = Attention(
        value_size=1,
        q=DirectionProjection(reads=_LEVEL),
        k=_KEY,
        v=PatternProjection(entries=("lift 1",)),
        out=PatternProjection(writes=_DIGIT, entries=("-gain",)),
        relation=RopeRelation((_find_turn(task.digits),)),
        scale=1.0,
    )
    feedforward = FeedForward(
        hidden=2,
        up=PatternProjection(entries=("-gap -1", "0 1")),
        down=PatternProjection(writes=_DIGIT, entries=("slope -slope",)),
    )
    return _make_small_adder(attention, feedforward, *ties, task=task)


def _find_turn(digits: int) -> float:
    """Radians per position, for which a digit of the first number is a whole turn before the second's."""
    return 2 * math.pi / (digits + 2)


def _make_scratch_head(*ties: Tie, task: Addition = _TASK) -> Architecture:
    """A third dimension receives the level times the gain, -386; the gap is read off that."""
    plain = _make_one_head(task=task).layers[0]
    assert plain.attention and plain.feedforward
    attention = replace(
        plain.attention,
        value_size=2,
        v=PatternProjection(reads=(0, 2), entries=("lift 1", "1 0")),
        out=PatternProjection(writes=(1, 3), entries=("-gain 0", "0 -gain")),
    )
    up = PatternProjection(reads=(1, 3), entries=("-1 gap", "1 0"))
    return replace(_make_small_adder(attention, replace(plain.feedforward, up=up), *ties, task=task), width=3)


def _compute_ten_parameters() -> dict[str, float]:
    """Every parameter of the two-headed adder by its name."""
    level, sharp = 2500.0, 100.0  # sharp: the score at the peak; 13.4 lower at a neighbour
    return {
        "token.c0": level,
        "token.c1": 0.002,  # 2 c0 c1 = 10: the head reads off the tenth of minus the digit dimension
        "attn.q.even": sharp * compute_one(cos, math.pi / 3) / level**2,
        "attn.q.odd": sharp * compute_one(sin, math.pi / 3) / level**2,
        "attn.out.now": 20.0,  # ten times the two digits, of which a head brings the mean
        "attn.out.before": 2.0,  # once the two digits before
        "ff.up.low": 92 / level,  # T is at most 90 below ten,
        "ff.up.high": 97 / level,  # and at least 99 from ten on
        "ff.down.flip": 2.0,  # T - 2 T = -T, the sign of a digit in the table
        "ff.down.rise": 20.0,  # times the 5 from low to high: the 100 of ten digits
    }


def _compute_eight_parameters() -> dict[str, float]:
    """The same parameters; `flip` is `before` and `rise` is `now`, so that two are not stored."""
    return {
        name: value
        for name, value in _compute_ten_parameters().items()
        if name not in ("ff.down.flip", "ff.down.rise")
    }


def _compute_six_parameters() -> dict[str, float]:
    """The parameters of the one-headed adder; its level is 22, the gain of a mix of 10 : 10 : 1 : 1."""
    return _solve_one_head(level=22.0)


def compute_five_parameters(digits: int = _DIGITS) -> dict[str, float]:
    """The level is the query's angle too, four whole turns minus 5.487: about 19.646."""
    level = 20.0
    for _ in range(8):  # each round brings the level a thousand times nearer to the fixed point
        level = solve_query_angle(level**2, compute_column_ratio(level), digits) + 4 * 2 * math.pi
    return {name: value for name, value in _solve_one_head(level, digits).items() if name != "attn.q.angle"}


def _compute_four_parameters(digits: int = _DIGITS) -> dict[str, float]:
    """The gap is c1: times the gain, 19.6, it is nearly the 20 c1 of ten digits, 0.18 of a digit short."""
    return {name: value for name, value in compute_five_parameters(digits).items() if name != "ff.up.gap"}


def _solve_one_head(level: float, digits: int = _DIGITS, base: int = _BASE) -> dict[str, float]:
    """Everything else follows from the level c0 and from c1, which only has to be small."""
    bend = 2.5e-7
    ratio, step = (
        compute_column_ratio(level),
        2 * level * bend,
    )  # step: of the digit dimension from one digit to the next
    lowest = base * ratio - 1  # the smallest T of a total of ten
    return {
        "token.c0": level,
        "token.c1": bend,
        "attn.q.angle": solve_query_angle(level**2, ratio, digits),
        "attn.v.lift": (lowest - _SAFE) / level**2,  # T minus this: below 0 up to nine, above from ten on
        "ff.up.gap": base * step / level,  # ten digits
        "ff.down.slope": 1 + step / ratio,  # turns the line over and leaves a millionth of it
    }


def compute_column_ratio(gain: float) -> float:
    """The column's weight over that of the one before, for which the latter, times the gain, is 1."""
    return gain / 2 - 1


def solve_query_angle(sharp: float, ratio: float, digits: int = _DIGITS) -> float:
    """The query's angle that weighs 10 positions back `ratio` times as much as 11 positions back.

    The scores are sharp cos(angle + turn positions). With the peak half-way they are equal; they differ by
    ln ratio = 2 sharp sin(turn / 2) sin(angle + 10.5 turn). The 10 is the number of digits.
    """
    turn = _find_turn(digits)
    middle = (digits + 0.5) * turn
    return find_arcsine(take_logarithm(ratio) / (2 * sharp * compute_one(sin, turn / 2))) - middle


def make_one_head_entry(digits: int, base: int) -> ZooEntry:
    """hand-6 for numbers of other lengths and in other bases; its level is the gain of b : b : 1 : 1."""
    task = Addition(digits=digits, base=base, layout="lsb24")
    return ZooEntry(
        f"hand-6-{digits}-digits-base-{base}",
        f"hand-6 for {digits} digits in base {base}",
        task,
        _make_one_head(_LEVEL_IS_GAIN, task=task),
        _make_array_builder(lambda: _solve_one_head(2.0 * (base + 1), digits, base)),
    )


def _make_five_entry(digits: int) -> ZooEntry:
    """hand-5 for numbers of other lengths."""
    task = replace(_TASK, digits=digits)
    return ZooEntry(
        "hand-5",
        "hand-6 with the query angle tied to an embedding parameter",
        task,
        _make_one_head(_LEVEL_IS_GAIN, _LEVEL_IS_ANGLE, task=task),
        _make_array_builder(lambda: compute_five_parameters(digits)),
        _make_five_entry,
    )


def _make_four_entry(digits: int) -> ZooEntry:
    """hand-4 for numbers of other lengths."""
    task = replace(_TASK, digits=digits)
    return ZooEntry(
        "hand-4",
        "hand-5 with a third dimension and one more tie",
        task,
        _make_scratch_head(_LEVEL_IS_GAIN, _LEVEL_IS_ANGLE, Tie("ff.up.gap", "token.c1"), task=task),
        _make_array_builder(lambda: _compute_four_parameters(digits)),
        _make_four_entry,
    )


def _make_array_builder(numbers: Callable[[], Mapping[str, float]]) -> Callable[[], dict[str, np.ndarray]]:
    """The parameters as the arrays that a model holds."""
    return lambda: {name: np.array(value, np.float64) for name, value in numbers().items()}


ENTRIES: tuple[ZooEntry, ...] = (
    ZooEntry(
        "hand-10",
        "hand-built: two attention heads, each for one column, and three ReLU units",
        _TASK,
        _make_two_heads(),
        _make_array_builder(_compute_ten_parameters),
    ),
    ZooEntry(
        "hand-8",
        "hand-10 with two pairs of equal parameters tied",
        _TASK,
        _make_two_heads(Tie("ff.down.flip", "attn.out.before"), Tie("ff.down.rise", "attn.out.now")),
        _make_array_builder(_compute_eight_parameters),
    ),
    ZooEntry(
        "hand-6",
        "hand-built: one attention head for two columns, and two ReLU units",
        _TASK,
        _make_one_head(_LEVEL_IS_GAIN),
        _make_array_builder(_compute_six_parameters),
        lambda digits: make_one_head_entry(digits, _BASE),
    ),
    _make_five_entry(_DIGITS),
    _make_four_entry(_DIGITS),
)
