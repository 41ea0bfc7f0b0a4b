"""Elementary functions of our own: the same bits on every machine with IEEE 754 arithmetic.

The libraries' exp or sin differ from processor to processor in the last place, and a proof about one is none
about the other. These are made of +, -, x and / of float64, each rounded to nearest, and of whole numbers. A
float32 argument is worked out in float64 and rounded once. How far each can be off is derived, not sampled:
`tools/elementary.py` runs the same formulas in Arb's balls, and docs/arithmetic.md has the table.

>>> round_once(exp, np.array([0.0, 1.0], np.float32)).tolist()
[1.0, 2.7182817459106445]
>>> round_once(sin, np.array([3.1415927], np.float32)).tolist()  # the nearest float32 to pi is not pi
[-8.742277657347586e-08]
"""

from collections.abc import Callable
from decimal import Context, Decimal
from functools import cache
from math import factorial
from typing import Any

import numpy as np

from glassformer.models.reduction import reduce_quarter_turns

# Units of 2^-53 by which a function of float64 may be off: of its value, or (sines) of 1.
EXP_UNITS, WAVE_UNITS = 3.0, 4.0
SHARE_UNITS = 8.0  # of 1: the normal distribution's share and the logistic function

_Array = Any  # a float64 array; in the derivation, balls that know their rounding
_NEWTON = 8  # rounds: each doubles the digits that are right
_BLOCK = 1 << 14  # numbers at a time: what a formula needs then stays in the cache
_LOG2_HIGH = float.fromhex("0x1.62e42feep-1")  # log 2: its first 32 bits, and the next 53
_LOG2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_PER_LOG2 = float.fromhex("0x1.71547652b82fep+0")  # 1 / log 2
_LEAST_POWER, _MOST_POWER = -746.0, 710.0  # beyond them exp is 0 or infinite
_POWERS = tuple(1 / factorial(n) for n in range(2, 14))
_SINES = tuple((-1) ** n / factorial(2 * n + 1) for n in range(1, 10))
_COSINES = tuple((-1) ** n / factorial(2 * n) for n in range(2, 10))
# What lies beyond z > 0 in the normal distribution is exp(-z^2 / 2) P(t) / (z + 5/4), t = (z - 5) / (z + 5).
_TAIL_CENTRE, _TAIL_SHIFT, _FARTHEST = 5.0, 1.25, 39.0
_TAILS = (
    0.48074565609378933,
    -0.12741667065001192,
    0.060047571397464077,
    -0.010218616930813395,
    -0.01443720489524993,
    0.018683488122090922,
    -0.012922572765022544,
    0.005927289573893978,
    -0.0016211846604067444,
    4.136084470633433e-05,
    0.00016722728857799862,
    -5.33674233612457e-05,
    -8.235100316754601e-06,
    8.742790725830633e-06,
    -2.3869987702764405e-07,
    -1.2474698884796171e-06,
    1.4621808263055425e-07,
    1.873524928899151e-07,
    -2.778834078540701e-08,
    -2.989800005258509e-08,
    3.172471943428879e-09,
    4.1756108633505384e-09,
    -5.72790072830046e-11,
    -2.8355251773903815e-10,
)


def exp(x: _Array) -> _Array:
    """e^x = 2^k e^r with r between -log(2) / 2 and log(2) / 2."""
    x = np.clip(x, _LEAST_POWER, _MOST_POWER)
    whole = np.rint(x * _PER_LOG2)
    value = evaluate_exp((x - whole * _LOG2_HIGH) - whole * _LOG2_LOW)
    half = np.floor(whole * 0.5)
    return value * _raise_two(half) * _raise_two(whole - half)


def evaluate_exp(r: _Array) -> _Array:
    """For |r| < 0.35."""
    return (r * r * _evaluate_polynomial(_POWERS, r) + r) + 1.0


def _raise_two(whole: _Array) -> _Array:
    """2^whole, made of its bits."""
    return ((np.nan_to_num(whole).astype(np.int64) + 1023) << 52).view(np.float64)


def sin(x: _Array) -> _Array:
    quarter, r = reduce_quarter_turns(x)
    return _choose_wave(quarter, r)


def cos(x: _Array) -> _Array:
    quarter, r = reduce_quarter_turns(x)
    return _choose_wave(quarter + 1, r)


def _choose_wave(quarter: _Array, r: _Array) -> _Array:
    """The sine of so many quarter turns and r."""
    wave: _Array = np.where(quarter & 1, evaluate_cosine(r), evaluate_sine(r))
    return np.where(quarter & 2, -wave, wave)


def evaluate_sine(r: _Array) -> _Array:
    """For |r| < 0.8."""
    square = r * r
    return r * square * _evaluate_polynomial(_SINES, square) + r


def evaluate_cosine(r: _Array) -> _Array:
    """For |r| < 0.8."""
    square = r * r
    return (square * square * _evaluate_polynomial(_COSINES, square) - square * 0.5) + 1.0


def logistic(x: _Array) -> _Array:
    """1 / (1 + e^-x)."""
    power = exp(-np.abs(x))
    return np.where(x < 0, power, 1.0) / (power + 1.0)


def silu(x: _Array) -> _Array:
    return x * logistic(x)


def gelu(x: _Array) -> _Array:
    return x * measure_normal_share(x)


def measure_normal_share(x: _Array) -> _Array:
    """The share of the normal distribution below x."""
    beyond = _measure_normal_tail(np.abs(x))
    return np.where(x < 0, beyond, 1.0 - beyond)


def _measure_normal_tail(z: _Array) -> _Array:
    """The share of the normal distribution beyond z >= 0."""
    z = np.minimum(z, _FARTHEST)
    return exp(z * z * -0.5) * evaluate_tail(z)


def evaluate_tail(z: _Array) -> _Array:
    """The same over exp(-z^2 / 2), for z from 0 to 39."""
    t = (z - _TAIL_CENTRE) / (z + _TAIL_CENTRE)
    return _evaluate_polynomial(_TAILS, t) / (z + _TAIL_SHIFT)


def _evaluate_polynomial(coefficients: tuple[float, ...], x: _Array) -> _Array:
    """By Horner's rule, lowest power first."""
    total = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        total += coefficient
        total *= x
    total += coefficients[0]
    return total


def round_once(function: Callable[[_Array], _Array], x: np.ndarray) -> np.ndarray:
    """The function of every number, worked out in float64 and rounded to the numbers' own precision."""
    x = np.asarray(x)
    found, flat = np.empty(x.shape, x.dtype), x.reshape(-1)
    into = found.reshape(-1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for first in range(0, flat.size, _BLOCK):
            some = slice(first, first + _BLOCK)
            into[some] = function(flat[some].astype(np.float64))
    return found


@cache
def raise_number(base: float, exponent: float) -> float:
    """base^exponent for a positive base, rounded to nearest.

    >>> raise_number(2.0, -0.5), raise_number(10.0, 3.0)
    (0.7071067811865476, 1000.0)
    """
    return float(Context(prec=60).power(Decimal(base), Decimal(exponent)))


@cache
def take_logarithm(number: float) -> float:
    """The natural logarithm of a positive number, rounded to nearest."""
    return float(Context(prec=60).ln(Decimal(number)))


@cache
def compute_one(function: Callable[[_Array], _Array], number: float) -> float:
    """A function of one number.

    >>> compute_one(cos, 0.0)
    1.0
    """
    return float(round_once(function, np.array([number]))[0])


def find_arcsine(value: float) -> float:
    """The angle between -1.5 and 1.5 with this sine, by Newton's method."""
    angle = value
    for _ in range(_NEWTON):
        angle += (value - compute_one(sin, angle)) / compute_one(cos, angle)
    return angle
