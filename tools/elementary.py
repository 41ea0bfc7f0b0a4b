"""How far the functions of `models/elementary.py` can be off: derived for float64, and every float32 tried.

    python -m tools.elementary derive           # the formulas in Arb's balls, rounding and all (some seconds)
    python -m tools.elementary fit              # the coefficients of the normal distribution's tail
    python -m tools.elementary scan FILE        # all 2^32 arguments of float32: those that are near a tie
    python -m tools.elementary judge FILE       # those against Arb

A float64 result whose error is known rounds to the right float32, unless a number half-way between two of
them is as near as the error: `scan` keeps such arguments, some hundred of the 4,294,967,296, for `judge`.
"""

import itertools
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.models import elementary

UNIT = 2.0**-53
FUNCTIONS = ("exp", "sin", "cos", "logistic", "silu", "gelu")
_CELLS, _ORDER, _BITS = 200, 16, 400  # of the derivation
_CHUNK = 1 << 20  # arguments at a time
_LEAST = dict.fromkeys(("silu", "gelu"), 2.0**-125)  # below it they are x / 2 and 2^-250, often a tie
_RELATIVE = 64.0  # units of its value, more than any result of a float32 argument is off (docs/arithmetic.md)


@dataclass(frozen=True)
class Rounded:
    """What a formula gives in real numbers, over a cell, and how far float64 may be from it."""

    exact: Any  # arb
    error: Any  # arb, at least 0

    def __add__(self, other: "Rounded | float") -> "Rounded":
        other = _to_rounded(other)
        return _round(self.exact + other.exact, self.error + other.error)

    def __sub__(self, other: "Rounded | float") -> "Rounded":
        other = _to_rounded(other)
        return _round(self.exact - other.exact, self.error + other.error)

    def __mul__(self, other: "Rounded | float") -> "Rounded":
        other = _to_rounded(other)
        mine, theirs = abs(self.exact), abs(other.exact)
        moved = mine * other.error + theirs * self.error + self.error * other.error
        return _round(self.exact * other.exact, moved)

    def __truediv__(self, other: "Rounded | float") -> "Rounded":
        other = _to_rounded(other)
        quotient, least = self.exact / other.exact, abs(other.exact) - other.error
        return _round(quotient, (self.error + abs(quotient) * other.error) / least)

    __radd__ = __add__


def _to_rounded(value: "Rounded | float") -> Rounded:
    from flint import arb

    return value if isinstance(value, Rounded) else Rounded(arb(value), arb(0))


def _round(exact: Any, error: Any) -> Rounded:
    """Rounded to nearest, half a unit in the last place off at the most; no cell here is near underflow."""
    from flint import arb

    grown = (error + arb(UNIT) * (abs(exact) + error)).abs_upper()
    return Rounded(exact, grown)


def measure_kernel(
    kernel: Callable[[Any], Any], truth: Callable[[Any], Any], low: float, high: float, cells: int
) -> Iterator[tuple[Any, Any]]:
    """Cell by cell: where it is, and what approximation and rounding can take, in units of 2^-53."""
    from flint import arb, arb_series, ctx

    before, ctx.prec, ctx.cap = ctx.prec, _BITS, _ORDER + 1
    edges = np.linspace(low, high, cells + 1)
    for a, b in itertools.pairwise(edges):
        cell, middle = arb(a).union(arb(b)), arb((a + b) / 2)
        radius = (cell - middle).abs_upper()
        at, over = (kernel(arb_series([x, 1])) - truth(arb_series([x, 1])) for x in (middle, cell))
        far = (
            sum((abs(at[n]) * radius**n for n in range(_ORDER)), arb(0)) + abs(over[_ORDER]) * radius**_ORDER
        )
        lost = kernel(Rounded(cell, arb(0))).error
        yield cell, (far.abs_upper() + lost) / arb(UNIT)
    ctx.prec = before


def derive() -> dict[str, float]:
    """Units of 2^-53 by which each function of float64 can be off, its reduction included."""
    power = _derive_power()
    return {
        "exp": power,
        "sin, cos": _derive_waves(),
        "logistic": _derive_logistic(power),
        "share": _derive_share(power),
    }


def _derive_power() -> float:
    """The rest is off by 0.7: a rounding of x - k log 2 (its high part) and one of the rest, 0.35 each."""
    found = measure_kernel(elementary.evaluate_exp, lambda x: x.exp(), -0.3467, 0.3467, _CELLS)
    return max(float((off / cell.exp()).abs_upper()) for cell, off in found) + 0.7


def _derive_waves() -> float:
    """The rest is off by 2.6 of itself: near angles round it twice, far ones three times, once by pi / 2."""
    from flint import arb

    sine = measure_kernel(elementary.evaluate_sine, lambda x: x.sin(), -0.786, 0.786, _CELLS)
    cosine = measure_kernel(elementary.evaluate_cosine, lambda x: x.cos(), -0.786, 0.786, _CELLS)
    rest = arb(2.6)
    ends = [off + rest * abs(cell) * abs(cell.cos()) for cell, off in sine]
    ends += [off + rest * abs(cell) * abs(cell.sin()) for cell, off in cosine]
    return max(float(end.abs_upper()) for end in ends)


def _derive_logistic(power: float) -> float:
    """1 / (1 + t) with t between 0 and 1, or t / (1 + t): the power's error, a sum and a quotient."""
    t = np.linspace(0, 1, 10_001)
    above = 1 / (1 + t) * (power * t / (1 + t) + 2)
    below = t / (1 + t) * (power + power * t / (1 + t) + 2)
    return float(max(above.max(), below.max())) * 1.01


def _derive_share(power: float) -> float:
    """exp(-z^2 / 2), whose argument is off by a unit of itself, times the tail; 1 minus it: half a unit."""
    from flint import arb

    def tail(z: Any) -> Any:
        y = z / arb(2).sqrt()
        return (y * y).exp() * y.erfc() / 2

    worst = arb(0)
    for z, off in measure_kernel(elementary.evaluate_tail, tail, 0.0, 39.0, 5 * _CELLS):
        half = z * z / 2
        beyond = (z / arb(2).sqrt()).erfc() / 2
        worst = arb.max(worst, ((-half).exp() * off + beyond * (half + power + 1)).abs_upper())
    return float(worst) + 0.5


def scan(path: Path) -> None:
    """Every float32: the arguments whose float64 result is too near to a tie to be sure."""
    found: dict[str, list[int]] = {name: [] for name in FUNCTIONS}
    jobs = [(name, first) for name in FUNCTIONS for first in range(0, 1 << 32, _CHUNK)]
    with multiprocessing.Pool() as pool:
        for name, bits in pool.imap_unordered(_scan_chunk, jobs, chunksize=16):
            found[name] += bits
    path.write_text(json.dumps({name: sorted(bits) for name, bits in found.items()}), encoding="utf-8")


def _scan_chunk(job: tuple[str, int]) -> tuple[str, list[int]]:
    name, first = job
    bits = np.arange(first, first + _CHUNK, dtype=np.uint32)
    x = bits.view(np.float32)
    tried = np.isfinite(x) & (np.abs(x) >= _LEAST.get(name, 0.0))
    bits, x = bits[tried], x[tried].astype(np.float64)
    with np.errstate(all="ignore"):
        value = elementary.round_once(getattr(elementary, name), x)
        near = [(value * (1 + sign * _RELATIVE * UNIT)).astype(np.float32) for sign in (-1, 1)]
    return name, bits[near[0] != near[1]].tolist()


def judge(path: Path) -> None:
    """Against Arb: how many are not the nearest float32, and by how much the worst is off."""
    from flint import arb, ctx

    ctx.prec = 200
    truths: dict[str, Callable[[Any], Any]] = {
        "exp": lambda x: x.exp(),
        "sin": lambda x: x.sin(),
        "cos": lambda x: x.cos(),
        "logistic": lambda x: 1 / (1 + (-x).exp()),
        "silu": lambda x: x / (1 + (-x).exp()),
        "gelu": lambda x: x * (-x / arb(2).sqrt()).erfc() / 2,
    }
    for name, bits in json.loads(path.read_text(encoding="utf-8")).items():
        x = np.array(bits, np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            got = elementary.round_once(getattr(elementary, name), x)
        off = [
            float(
                (
                    abs(arb(float(y)) - truths[name](arb(float(a)))) / arb(float(np.spacing(np.abs(y))))
                ).abs_upper()
            )
            for a, y in zip(x, got, strict=True)
        ]
        wrong = sum(one > 0.5 for one in off)
        worst = max(off, default=0.5)
        print(f"{name}: {len(bits)} near a tie, {wrong} not the nearest; at most {worst:.9f} ulp off")


def fit(count: int = 24) -> list[float]:
    """Chebyshev's interpolation of the tail over t, for z from 0 to 39, as powers of t."""
    from flint import arb, arb_poly, ctx

    ctx.prec = _BITS
    centre, shift = arb(elementary._TAIL_CENTRE), arb(elementary._TAIL_SHIFT)
    high = (arb(39) - centre) / (arb(39) + centre)
    middle, half = (high - 1) / 2, (high + 1) / 2
    values = []
    for i in range(count):
        t = middle + half * ((2 * i + 1) * arb.pi() / (2 * count)).cos()
        z = centre * (1 + t) / (1 - t)
        y = z / arb(2).sqrt()
        values.append((y * y).exp() * y.erfc() / 2 * (z + shift))
    line = arb_poly([-middle / half, 1 / half])
    total, before, now = arb_poly([0]), arb_poly([1]), line
    for j in range(count):
        angles = [(j * (2 * i + 1) * arb.pi() / (2 * count)).cos() for i in range(count)]
        weight = sum((a * b for a, b in zip(values, angles, strict=True)), arb(0)) * 2 / count
        total += before * (weight / 2 if j == 0 else weight)
        before, now = now, 2 * line * now - before
    return [float(total[i]) for i in range(count)]


def main() -> None:
    verb, *rest = sys.argv[1:] or ["derive"]
    if verb == "derive":
        for name, units in derive().items():
            print(f"{name}: at most {units:.3f} units of 2^-53")
    elif verb == "fit":
        print(*map(repr, fit()), sep=",\n")
    else:
        {"scan": scan, "judge": judge}[verb](Path(rest[0]))


if __name__ == "__main__":
    main()
