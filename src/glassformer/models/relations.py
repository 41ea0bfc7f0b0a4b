"""Positions inside attention: what a query's and a key's position do to their score.

`RopeRelation` turns queries and keys, `AlibiRelation` lowers the score of a key by its distance,
`ColumnRelation` by its distance from one column; `LowColumnRelation` masks columns, too. All that the rest
of the package asks of them is in `models/relation.py`.
"""

import math
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import mul
from typing import Any, ClassVar

from glassformer.core.errors import require_value
from glassformer.core.values import LATER
from glassformer.models.elementary import raise_number
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import (
    Parameter,
    Parameters,
    make_constant_parameter,
    make_uniform_parameter,
)
from glassformer.models.relation import MASKED, BiasRelation, Distances, RelationPart, RotationRelation

_SMALLEST, _LARGEST = 1e-6, 1e12  # of a base: beyond, sines of positions are no numbers any more
_MOST_COLUMNS = 2**24  # up to which float32 counts every one
_TWO_PAIRS = 4  # dimensions; the first pair turns by 1 per position, whatever the base
_SAME = 1e-12  # relative: of two ways to compute one frequency
_LAST_SLOPE = 2.0**-8  # of ALiBi's formula: 2 ** (-8 (h + 1) / heads) at the last head


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

    def list_constants(self, dims: int) -> dict[str, float | tuple[float, ...]]:
        """The base, where there is a second frequency; of a list every one that is no power of the second."""
        if self.frequencies:
            return {"frequency": _drop_powers(self.frequencies)}
        return {"base": self.base} if dims >= _TWO_PAIRS else {}

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

    def list_constants(self, dims: int) -> dict[str, float | tuple[float, ...]]:
        """Every slope, or the last head's, from which the usual formula has the others."""
        is_usual = self.slopes in ((), tuple(replace(self, slopes=()).list_slopes(len(self.slopes))))
        return {"slope": _LAST_SLOPE if is_usual else self.slopes}

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

    def list_constants(self, dims: int) -> dict[str, float]:
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


Relation = NoRelation | RopeRelation | AlibiRelation | ColumnRelation | LowColumnRelation
