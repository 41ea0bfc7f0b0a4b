"""How many columns a query sees: from where on a key has no weight at all, or next to none, at every length.

The score of a key m columns up is -c (m - mu)^2. The keys at m = 0 and m = 1 are always there, so the best
score is at least -c d with d = min(mu^2, (1 - mu)^2), and a key further away has at most the weight
exp(-(c (m - mu)^2 - c d)). In float32 that is exactly 0 once the exponent is below -105: exp(-105) is less
than half of the smallest number that float32 has. Rounding changes each score by at most 8 units of its own
last place (u = 2^-24), so that it is enough that

    (1 - 8 u) c (m - mu)^2 >= 105 + (1 + 8 u) c d

which holds for every m beyond the first ones, up and down, that it holds for. docs/every-length.md has the
proof. With c = 4 and mu = 0.8 a query sees from 4 columns down to 5 up:

>>> find_head_window(Fraction(4), Fraction(4, 5), "float32")
ColumnWindow(below=4, above=5)
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glassformer.models.attention import Attention
from glassformer.models.forward import format_layer_prefix, untie_parameters
from glassformer.models.model import Model
from glassformer.models.projection import ZeroProjection
from glassformer.proofs.tables import NotProvableError

# Exponents below which exp, rounded to nearest, is 0: half of the smallest number is 2^-150, or 2^-1075.
_ZERO = {"float32": 105, "float64": 746}
_UNIT = {"float32": Fraction(1, 2**24), "float64": Fraction(1, 2**53)}
_ROUNDINGS = 8  # units of its last place by which a score is off, and room for the difference of two
_MOST_COLUMNS = 60  # in a window; with more the lengths that have to be proved are too many


@dataclass(frozen=True)
class ColumnWindow:
    """Columns below and above the query's beyond which no key has any weight."""

    below: int
    above: int

    @property
    def longest(self) -> int:
        """Digits of the numbers that stand for all longer ones: a window, its carry, and a column above."""
        return self.below + self.above + 2


def find_window(model: Model) -> ColumnWindow:
    """The columns that some head sees; one sentence where that has no bound that is known."""
    precision = model.architecture.precision
    every = [
        find_head_window(Fraction(sharpness), Fraction(peak), precision)
        for sharpness, peak in _list_column_parameters(model)
    ]
    return ColumnWindow(max(one.below for one in every), max(one.above for one in every))


def _list_column_parameters(model: Model) -> list[tuple[float, float]]:
    """Sharpness and peak of every head; one of them may be tied to another parameter."""
    architecture = model.architecture
    name = f"{format_layer_prefix(architecture, _find_column_layer(model))}attn.relation"
    params = untie_parameters(architecture, model.params)
    both = np.stack([params[f"{name}.sharpness"], params[f"{name}.peak"]]).astype(np.float64)
    return [(float(sharpness), float(peak)) for sharpness, peak in both.T]


def find_head_window(sharpness: Fraction, peak: Fraction, precision: str) -> ColumnWindow:
    """By the inequality above, in whole fractions."""
    if sharpness <= 0:
        raise NotProvableError(
            f"not provable for every length, because scores do not fall with the distance of columns "
            f"(sharpness {float(sharpness):.4g})"
        )
    roundings = _ROUNDINGS * _UNIT[precision]
    nearest = min(peak**2, (1 - peak) ** 2)
    needed = (_ZERO[precision] + (1 + roundings) * sharpness * nearest) / ((1 - roundings) * sharpness)
    if needed > _MOST_COLUMNS**2:
        raise NotProvableError(
            f"not provable for every length by this method, because a query sees keys more than "
            f"{_MOST_COLUMNS} columns away (sharpness {float(sharpness):.4g})"
        )
    below, above = (_count_columns(side, needed) for side in (-peak, peak))
    return ColumnWindow(max(below, 0), max(above, 1))


def _count_columns(peak: Fraction, needed: Fraction) -> int:
    """The smallest m such that (m + 1 - peak)^2 is at least what is needed, and m + 1 is beyond the peak."""
    columns = math.floor(peak)
    while (columns + 1 - peak) ** 2 < needed:
        columns += 1
    return columns


def bound_far_share(model: Model, window: ColumnWindow) -> float:
    """In real numbers: the most that all keys outside of the window have of the weight, at every length.

    Weights beyond the window fall by exp(-c (2 |m - mu| + 1)) or more from column to column, at most three
    keys stand in each, and at least two keys have the weight 1 or more.
    """
    return max(_bound_head_share(*one, window) for one in _list_column_parameters(model))


def _bound_head_share(sharpness: float, peak: float, window: ColumnWindow) -> float:
    """Twice what float64 finds, which is more than its rounding, and never 0."""
    nearest = min(peak**2, (1 - peak) ** 2)
    total = 0.0
    for away in (window.above + 1 - peak, window.below + 1 + peak):
        first = math.exp(-sharpness * (away**2 - nearest))
        total += first / -math.expm1(-sharpness * (2 * away + 1))
    return 2.0 * 3.0 / 2.0 * total + sys.float_info.min


def _find_column_layer(model: Model) -> int:
    """The one layer that attends, by columns alone."""
    layers = model.architecture.layers
    attending = [index for index, layer in enumerate(layers) if layer.attention]
    if len(attending) != 1:
        raise NotProvableError("not provable for every length by this method, because several layers attend")
    attention = layers[attending[0]].attention
    assert attention
    if not _reads_columns_alone(attention):
        raise NotProvableError(
            "not provable for every length by this method, because scores depend on tokens, too"
        )
    if any(
        attention.relation.bias(head, attention.heads, m) for head in range(attention.heads) for m in (0, 1)
    ):
        raise NotProvableError(
            "not provable for every length by this method, because the nearest columns are masked"
        )
    return attending[0]


def _reads_columns_alone(attention: Attention) -> bool:
    return isinstance(attention.q, ZeroProjection) and isinstance(attention.k, ZeroProjection)
