"""Positions: tables `pos dim` that join the token embedding.

`LearnedPosition`, `SpiralPosition`, `CirclePosition`, `SinusoidalPosition`, `NoPosition`. Those that act
inside attention are in `models/relations.py`.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from glassformer.core.errors import require_value
from glassformer.core.values import LATER
from glassformer.models.elementary import compute_one, cos, raise_number, sin
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import (
    Parameter,
    Parameters,
    make_constant_parameter,
    make_normal_parameter,
)
from glassformer.models.part import Part

_SMALLEST, _LARGEST = 1e-6, 1e12  # of a base or a period: beyond, sines of positions are no numbers any more
_SLOT = "slot"  # what someone placed there counts as a constant of this name
_CIRCLE_WORDS = {"amplitude": "radius of the spiral", "phase": "angle of the first position"}
_CURVE_WORDS = _CIRCLE_WORDS | {
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

    def list_constants(self, dims: int) -> dict[str, float]:
        """The base, where there is a second frequency."""
        return {"base": self.base} if dims > 2 else {}

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

    def list_constants(self, dims: int) -> dict[str, float | list[float]]:
        """The period, the curve where it is not learned, and every slot that is no column's index."""
        keys = [] if self.learned else list(_CURVE_WORDS) if dims > 2 else list(_CIRCLE_WORDS)
        curve = {key: float(getattr(self, key)) for key in keys}
        return {"period": self.period} | curve | {_SLOT: _list_placed_slots(self.slots)}

    def name_fixed_number(self, key: str, value: float) -> str | None:
        """A learned turn that is fixed is a slot that someone placed, unless it is a column's index."""
        if key not in dict(self.turns):
            return key
        return None if value in _find_columns(self.slots) else _SLOT

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

    def list_constants(self, dims: int) -> dict[str, float]:
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


Position = NoPosition | LearnedPosition | SinusoidalPosition | SpiralPosition | CirclePosition
