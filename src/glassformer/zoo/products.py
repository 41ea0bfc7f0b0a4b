"""Numbers of every length times a digit m from 3 to 9: hand-built multipliers of m + 5 parameters each.

They are read as any-8 reads them, `< 7 5 0 <` for 57, and the model is pure-5 (`pure.py`) with more units:

    57 x 3, tens: 3 x 5 = 15, and below it 3 x 7 = 21 wrote 1: T = 15 + (21 - 1) / 10 = 17: write 7, carry 1.

T = m x_k + (m x_{k-1} - z_{k-1}) / 10 is the column's total less a tenth of the carry into the column below.
The digits stand on an arc so short that it is almost a line, (1, r (d - 4.5)). The second coordinate, where
attention adds to the digit just written, is -kappa times T less its middle. Four units make two steps, one on
each side of the middle, that take the tens off; an even m has a step in the middle, too. The head stretches
what is left, kappa per digit, to the arc's r per digit. docs/further-down.md derives every parameter.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from glassformer.models.architecture import Architecture
from glassformer.models.elementary import take_logarithm
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.head import TiedHead
from glassformer.models.projection import PatternProjection
from glassformer.tasks import Addition
from glassformer.zoo.entry import ZooEntry
from glassformer.zoo.pure import RADIUS, make_pure

_BASE = 10
_REACH = 0.54  # over m: the second coordinate at the ends of T, where the first is 1; an arc is no line
_HEIGHT = 3.0  # of a step, as the units make it
_STEEP = 4.0  # what a unit reads moves by it between the two totals around a step; GELU bends within 2 of 0
_MOST_IN_FLOAT32 = 5  # larger factors need smaller gaps than its rounding leaves


def _make_multiplier(task: Addition) -> Architecture:
    """pure-5 with units for every step, and a head of its own."""
    factor = task.does.first
    pairs, has_middle = divmod(factor - 1, 2)
    bounds = [(f"-low{i}", f"-high{i}") for i in range(pairs)] + [("half", "-half")] * has_middle
    up = [f"{end} {sign}steep" for ends in bounds for sign in ("", "-") for end in ends]
    down = ["-height", "height", "height", "-height"] * len(bounds)
    pure = make_pure(task, RADIUS)
    feedforward = FeedForward(
        hidden=len(up),
        bend="gelu",
        up=PatternProjection(entries=tuple(up)),
        down=PatternProjection(entries=(" ".join("0" * len(up)), " ".join(down))),
    )
    return replace(
        pure,
        layers=(replace(pure.layers[0], feedforward=feedforward),),
        head=TiedHead(PatternProjection(entries=("1 0", "0 v"))),
        ties=(),
        precision="float32" if factor <= _MOST_IN_FLOAT32 else "float64",
    )


def _compute_product_parameters(factor: int) -> dict[str, float]:
    """Every learned parameter by its name, from m alone."""
    per_total = _REACH / factor / (factor * _BASE / 2)  # kappa: T is at most 5 m from its middle
    stride = per_total * (factor + 1) / _BASE  # of the digits, so that z_{k-1} has a minus in T
    steep = _STEEP / (per_total * (1 - (factor - 1) / _BASE))  # a gap of T is 1 less the largest carry / 10
    shares = 1 + 2 / _BASE  # of attention: x_k, and a tenth for x_{k-1} and z_{k-1}
    per_digit = math.sqrt(2) * stride  # of a value, which a norm has scaled
    found = {
        "token.stride": stride,
        "attn.relation.sharpness": take_logarithm(_BASE),  # one column down weighs a tenth
        "attn.out.b": -per_total * factor * shares / per_digit,
        "ff.up.steep": steep,
        "ff.down.height": _BASE * per_total / (_HEIGHT * math.sqrt(2)),
        "head.v": -stride / per_total,
    }
    first = _BASE / 2 if factor % 2 else _BASE  # of T, from its middle to the next step on either side
    for i in range((factor - 1) // 2):
        at = steep * per_total * (first + _BASE * i)
        found |= {f"ff.up.low{i}": at - _HEIGHT / 2, f"ff.up.high{i}": at + _HEIGHT / 2}
    return found if factor % 2 else found | {"ff.up.half": _HEIGHT / 4}  # that step is made twice


def _build_multiplier(factor: int, shape: Architecture) -> dict[str, np.ndarray]:
    """The parameters as arrays, with what the architecture fixes."""
    numbers = _compute_product_parameters(factor)
    fixed = {entry.name: entry.value for entry in shape.fixed}
    return {
        name: np.full(one.shape, (fixed | numbers)[name], shape.precision)
        for name, one in list_parameters(shape).items()
    }


def make_product_entry(factor: int) -> ZooEntry:
    """The multiplier by a digit from 3 to 9."""
    task = Addition(layout="columns", operation=f"times {factor}")
    shape, count = _make_multiplier(task), factor + 5
    about = f"hand-built: {count} parameters from formulas; multiplies numbers of every length by {factor}"
    return ZooEntry(f"times{factor}-{count}", about, task, shape, partial(_build_multiplier, factor, shape))


# Those whose proof holds in float32, so that their certificates are small enough to be checked.
ENTRIES: tuple[ZooEntry, ...] = tuple(map(make_product_entry, range(3, _MOST_IN_FLOAT32 + 1)))
