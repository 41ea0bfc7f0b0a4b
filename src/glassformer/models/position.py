"""Positions: tables `pos dim` that join the token embedding, and three that act inside attention.

Joined: `LearnedPosition`, `SpiralPosition`, `CirclePosition`, `SinusoidalPosition`, `NoPosition`. Inside
attention: `RopeRelation` turns queries and keys, `AlibiRelation` lowers the score of a key by its distance,
`ColumnRelation` by its distance from one column.
All that the rest of the package asks of those is in `models/relation.py`.
"""

import math
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import mul
from typing import Any, ClassVar

from glassformer.core.errors import require_value
from glassformer.core.values import LATER
from glassformer.models.elementary import compute_one, cos, raise_number, sin
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import (
    Parameter,
    Parameters,
    make_constant_parameter,
    make_normal_parameter,
    make_uniform_parameter,
)
from glassformer.models.part import Part
from glassformer.models.relation import MASKED, BiasRelation, Distances, RelationPart, RotationRelation

_SMALLEST, _LARGEST = 1e-6, 1e12  # of a base or a period: beyond, sines of positions are no numbers any more
_MOST_COLUMNS = 2**24  # up to which float32 counts every one
_SAME = 1e-12  # relative: of two ways to compute one frequency
_LAST_SLOPE = 2.0**-8  # of ALiBi's formula: 2 ** (-8 (h + 1) / heads) at the last head
_CURVE_WORDS = {
    "amplitude": "radius of the spiral",
    "phase": "angle of the first position",
    "slope": "rise of the spiral per position",
    "offset": "height of the first position",
}


@dataclass(frozen=True)
class NoPosition(Part):
    """Nothing; attention is then blind to order, but for its mask."""

    kind: ClassVar[str] = "none"

    def parameters(self, name: str, context: int, dims: int) -> dict[str, Parameter]:
        return {}

    def parameter_words(self) -> dict[str, str]:
        return {}

    def table(self, ops: Ops, params: Parameters, name: str, context: int, dims: int) -> Value:
        return ops.array([[0.0] * dims] * context)


@dataclass(frozen=True)
class LearnedPosition(Part):
    """One free row per position."""

    kind: ClassVar[str] = "learned"
    deviation: float = 1.0  # of the first values

    def parameters(self, name: str, context: int, dims: int) -> dict[str, Parameter]:
        return {f"{name}.weight": make_normal_parameter((context, dims), self.deviation)}

    def parameter_words(self) -> dict[str, str]:
        return {"weight": "one row per position"}

    def table(self, ops: Ops, params: Parameters, name: str, context: int, dims: int) -> Value:
        return params[f"{name}.weight"]


@dataclass(frozen=True)
class SinusoidalPosition(Part):
    """Sines and cosines of falling frequency, a fixed formula."""

    kind: ClassVar[str] = "sinusoidal"
    base: float = 10_000.0  # wavelength ratio of the last pair to the first

    def __post_init__(self) -> None:
        require_value(_SMALLEST <= self.base <= _LARGEST, "base", "between 1e-6 and 1e12", self.base)

    def list_constants(self) -> dict[str, float]:
        return {"base": self.base}

    def parameters(self, name: str, context: int, dims: int) -> dict[str, Parameter]:
        return {}

    def parameter_words(self) -> dict[str, str]:
        return {}

    def table(self, ops: Ops, params: Parameters, name: str, context: int, dims: int) -> Value:
        def entry(position: int, dim: int) -> float:
            angle = position / raise_number(self.base, 2 * (dim // 2) / dims)
            return compute_one(cos, angle) if dim % 2 else compute_one(sin, angle)

        return ops.array([[entry(position, dim) for dim in range(dims)] for position in range(context)])


@dataclass(frozen=True)
class SpiralPosition(Part):
    """Slot i at [amp cos(2 pi i / period + phase), amp sin(...), slope i + offset].

    `slots` says, position by position, which turn of the spiral it takes: a number, "zero", or the name of a
    vector that is learned for that position alone (MicroAdder's `equals` and `z_hi`). Empty: position p takes
    slot p. A name in `turns` is a point on the curve whose turn is learned: one parameter. In two dimensions
    it is a circle.
    """

    kind: ClassVar[str] = "spiral"
    period: float = 10.0
    amplitude: float = 3.5
    phase: float = 0.0
    slope: float = 0.15
    offset: float = 0.0
    learned: bool = False  # learn amplitude, phase, slope and offset
    slots: tuple[float | str, ...] = ()
    turns: tuple[tuple[str, float], ...] = field(default=(), metadata=LATER)  # slot, and its first turn

    def __post_init__(self) -> None:
        require_value(
            _SMALLEST <= abs(self.period) <= _LARGEST, "period", "between 1e-6 and 1e12", self.period
        )

    def list_constants(self) -> dict[str, float]:
        """The period, the curve where it is not learned, and every slot that is no column's own index."""
        curve = {} if self.learned else {key: float(getattr(self, key)) for key in _CURVE_WORDS}
        slots = {_name_slot(slot): slot for slot in _list_placed_slots(self.slots)}
        return {"period": self.period} | curve | slots

    def name_fixed_number(self, key: str, value: float) -> str | None:
        """A learned turn that is fixed is a slot that someone placed, unless it is a column's index."""
        if key not in dict(self.turns):
            return key
        return None if value in _find_columns(self.slots) else _name_slot(value)

    def parameters(self, name: str, context: int, dims: int) -> dict[str, Parameter]:
        require_value(dims >= 2, "dimensions of a spiral", "at least 2", dims)
        given = len(self.slots)
        fits = f"one per position ({context}) or none"
        require_value(given in (0, context), "slots of a spiral", fits, given)
        shape = {"amplitude": self.amplitude, "phase": self.phase, "slope": self.slope, "offset": self.offset}
        curve = (
            {f"{name}.{key}": make_constant_parameter((), value) for key, value in shape.items()}
            if self.learned
            else {}
        )
        turns = {f"{name}.{slot}": make_constant_parameter((), first) for slot, first in self.turns}
        return (
            curve | turns | {f"{name}.{slot}": make_normal_parameter((dims,), 0.02) for slot in self.alone()}
        )

    def alone(self) -> list[str]:
        """Slots that are vectors of their own, each once."""
        on_curve = {"zero", *dict(self.turns)}
        return list(dict.fromkeys(s for s in self.slots if isinstance(s, str) and s not in on_curve))

    def parameter_words(self) -> dict[str, str]:
        """What each parameter is, by the last word of its name."""
        turns = {slot: f"turn of position {slot} on the curve" for slot, _ in self.turns}
        alone = {slot: f"position {slot}, learned separately" for slot in self.alone()}
        return _CURVE_WORDS | turns | alone

    def table(self, ops: Ops, params: Parameters, name: str, context: int, dims: int) -> Value:
        def number(key: str) -> Value:
            return params[f"{name}.{key}"] if self.learned else ops.array(getattr(self, key))

        slots, turns = self.slots or tuple(range(context)), dict(self.turns)
        turn = ops.array([0.0 if isinstance(slot, str) else slot for slot in slots])
        for slot in turns:
            turn = turn + ops.array([float(slot == other) for other in slots]) * params[f"{name}.{slot}"]
        on_curve = ops.array([float(not isinstance(slot, str) or slot in turns) for slot in slots])
        angle = number("phase") + turn * (2 * math.pi / self.period)
        wave = [number("amplitude") * ops.cos(angle), number("amplitude") * ops.sin(angle)]
        curve = [*wave, number("slope") * turn + number("offset"), *[turn * 0.0] * (dims - 3)]
        table = ops.stack([column * on_curve for column in curve[:dims]], 1)  # pos dim
        for slot in self.alone():
            here = ops.array([float(slot == other) for other in slots])
            table = table + here[:, None] * params[f"{name}.{slot}"][None, :]
        return table


def _name_slot(slot: float) -> str:
    return f"slot {slot:g}"


def _list_placed_slots(slots: tuple[float | str, ...]) -> list[float]:
    """Slots that someone placed, each once: all but the indices of columns."""
    return sorted({float(slot) for slot in slots if not isinstance(slot, str)} - _find_columns(slots))


def _find_columns(slots: tuple[float | str, ...]) -> set[float]:
    """The columns 0, 1, .., as many as every number has.

    Ten digits, a mark at 10 (or at 9.5) and ten digits again: the columns are 0 to 9, the mark's slot was
    placed.
    """
    runs: list[int] = []  # how far each number counts its columns
    for slot in slots:
        if slot == 0:
            runs.append(1)
        elif runs and slot == runs[-1]:
            runs[-1] += 1
    return set(map(float, range(min(runs, default=0))))


@dataclass(frozen=True)
class CirclePosition(Part):
    """Position p at amplitude (sin u, cos u) with u = 2 pi p / period, in dimensions `at` and `at` + 1.

    Positions that are a period apart get the very same row: p is reduced first, and the row is computed in
    double precision and rounded once. The first `loud` positions may have an amplitude of their own.
    """

    kind: ClassVar[str] = "circle"
    period: int = 10
    amplitude: float = 1.0
    at: int = 0
    loud: int = 0  # how many positions have the loud amplitude
    loud_amplitude: float = 1.0

    def list_constants(self) -> dict[str, float]:
        """Period and amplitude; with loud positions also their number and their amplitude."""
        loud = {"loud": float(self.loud), "loud_amplitude": self.loud_amplitude} if self.loud else {}
        return {"period": float(self.period), "amplitude": self.amplitude} | loud

    def parameters(self, name: str, context: int, dims: int) -> dict[str, Parameter]:
        require_value(1 <= self.period <= 10**6, "period of a circle", "between 1 and 10^6", self.period)
        require_value(0 <= self.loud <= 10**6, "loud positions of a circle", "between 0 and 10^6", self.loud)
        require_value(0 <= self.at <= dims - 2, "at of a circle", f"between 0 and {dims - 2}", self.at)
        return {}

    def parameter_words(self) -> dict[str, str]:
        return {}

    def table(self, ops: Ops, params: Parameters, name: str, context: int, dims: int) -> Value:
        def row(position: int) -> list[float]:
            angle = 2 * math.pi * (position % self.period) / self.period
            amplitude = self.loud_amplitude if position < self.loud else self.amplitude
            wave = [amplitude * compute_one(sin, angle), amplitude * compute_one(cos, angle)]
            return [0.0] * self.at + wave + [0.0] * (dims - self.at - 2)

        return ops.array([row(position) for position in range(context)])


@dataclass(frozen=True)
class NoRelation(RelationPart):
    """Attention sees content and the joined positions only."""

    kind: ClassVar[str] = "none"


@dataclass(frozen=True)
class RopeRelation(RotationRelation):
    """Turn pair (2i, 2i+1) of queries and keys by position x frequency i: scores then see distances only."""

    kind: ClassVar[str] = "rope"
    label: ClassVar[str] = "RoPE"
    frequencies: tuple[float, ...] = ()  # radians per position, one per pair; empty: base ** (-2 i / size)
    base: float = 10_000.0

    def __post_init__(self) -> None:
        require_value(_SMALLEST <= self.base <= _LARGEST, "base", "between 1e-6 and 1e12", self.base)

    def list_constants(self) -> dict[str, float]:
        """The base that all frequencies follow from; of a list every one that is no power of the second."""
        if not self.frequencies:
            return {"base": self.base}
        return {f"frequency {rate:.4g}": rate for rate in _drop_powers(self.frequencies)}

    def require_fit(self, heads: int, size: int) -> None:
        given, most = len(self.frequencies), size // 2
        require_value(given <= most, "RoPE frequencies", f"at most {most}, one per pair", given)

    def rates(self, size: int) -> tuple[float, ...]:
        self.require_fit(1, size)
        return self.frequencies or tuple(
            raise_number(self.base, -2 * pair / size) for pair in range(size // 2)
        )


def _drop_powers(rates: tuple[float, ...]) -> tuple[float, ...]:
    """1, r, r^2, .. are one number, r; any other list is as many as it has."""
    ladder = accumulate(rates[1:2] * (len(rates) - 1), mul, initial=1.0)
    is_ladder = all(math.isclose(*pair, rel_tol=_SAME) for pair in zip(rates, ladder, strict=True))
    return rates[1:2] if is_ladder else rates


@dataclass(frozen=True)
class AlibiRelation(BiasRelation):
    """Lower the score of a key d positions back by slope x d, one slope per head."""

    kind: ClassVar[str] = "alibi"
    label: ClassVar[str] = "ALiBi"
    formula: ClassVar[str] = "minus slope \N{MULTIPLICATION SIGN} distance"
    slopes: tuple[float, ...] = ()  # empty: 2 ** (-8 (h + 1) / heads)

    def list_constants(self) -> dict[str, float]:
        """Every slope, or the last head's, from which the usual formula has the others."""
        if self.slopes in ((), tuple(replace(self, slopes=()).list_slopes(len(self.slopes)))):
            return {"slope": _LAST_SLOPE}
        return {f"slope {slope:.4g}": slope for slope in self.slopes}

    def require_fit(self, heads: int, size: int) -> None:
        given = len(self.slopes)
        require_value(given in (0, heads), "ALiBi slopes", f"one per head ({heads}) or none", given)

    def slope(self, head: int, heads: int) -> float:
        self.require_fit(heads, 1)
        return self.slopes[head] if self.slopes else raise_number(2.0, -8 * (head + 1) / heads)

    def bias(self, head: int, heads: int, distance: float) -> float:
        return -self.slope(head, heads) * distance

    def list_slopes(self, heads: int) -> list[float]:
        return [self.slope(head, heads) for head in range(heads)]

    @property
    def score_term(self) -> str:
        return "ALiBi subtracts slope times distance from every score"

    @property
    def kernel_note(self) -> str:
        return "ALiBi lowers scores by distance"


@dataclass(frozen=True)
class ColumnRelation(BiasRelation):
    """Raise the score of keys near one column: minus sharpness (m - peak)^2 for a key m columns up.

    Numbers stand one after the other in `columns` positions each, so a position's column is what is left when
    it is divided by that. A key in the query's own column has m = 0, in the next higher one m = 1.
    """

    kind: ClassVar[str] = "columns"
    label: ClassVar[str] = "column bias"
    formula: ClassVar[str] = (
        "minus sharpness \N{MULTIPLICATION SIGN} (columns up minus peak)\N{SUPERSCRIPT TWO}"
    )
    distance_words: ClassVar[str] = "columns up"
    is_any_length: ClassVar[bool] = True
    columns: int = 12  # of a number, its mark and its padding included
    sharpness: float = 1.0  # first value
    spread: float = 1.0  # the peak starts between minus this and this

    def __post_init__(self) -> None:
        require_value(1 <= self.columns <= _MOST_COLUMNS, "columns", "between 1 and 2^24", self.columns)

    def parameters(self, name: str, heads: int) -> dict[str, Parameter]:
        return {
            f"{name}.sharpness": make_constant_parameter((heads,), self.sharpness),
            f"{name}.peak": make_uniform_parameter((heads,), self.spread),
        }

    def parameter_words(self) -> dict[str, str]:
        return {"sharpness": "how fast scores fall beside the peak", "peak": "columns up to the best score"}

    def distance(self, query: Any, key: Any) -> Any:
        return key % self.columns - query % self.columns

    def learned_bias(
        self, ops: Ops, params: Parameters, name: str, head: int, heads: int, distances: Distances
    ) -> Value:
        away = ops.array(distances) - params[f"{name}.peak"][head]
        return away * away * (params[f"{name}.sharpness"][head] * -1.0)

    def with_columns(self, columns: int) -> "ColumnRelation":
        return replace(self, columns=columns)

    @property
    def score_term(self) -> str:
        return "every score falls with the square of the key's distance, in columns, from the peak"

    @property
    def kernel_note(self) -> str:
        return "scores fall with the distance of columns"


@dataclass(frozen=True)
class LowColumnRelation(ColumnRelation):
    """The same, blind to columns that are more than `highest` above the query's.

    With `highest` 1 a digit of an answer is written with no digit above it in view, and none matters.
    """

    kind: ClassVar[str] = "low_columns"
    highest: int = 1
    minus: tuple[int, ...] = field(default=(), metadata=LATER)  # numbers that are subtracted: 1 is the second

    def __post_init__(self) -> None:
        super().__post_init__()
        require_value(abs(self.highest) <= _MOST_COLUMNS, "highest", "at most 2^24", self.highest)

    def list_constants(self) -> dict[str, float]:
        return {"highest": float(self.highest)}

    def bias(self, head: int, heads: int, distance: float) -> float:
        return MASKED if distance > self.highest else -0.0

    def value_signs(self, positions: int) -> list[float] | None:
        """Minus 1 for the values of numbers that are subtracted."""
        if not self.minus:
            return None
        return [-1.0 if position // self.columns in self.minus else 1.0 for position in range(positions)]

    @property
    def score_term(self) -> str:
        minus = "; values of the second number have a minus" if self.minus else ""
        return f"{super().score_term}; columns more than {self.highest} up are masked{minus}"


Position = NoPosition | LearnedPosition | SinusoidalPosition | SpiralPosition | CirclePosition
Relation = NoRelation | RopeRelation | AlibiRelation | ColumnRelation | LowColumnRelation
