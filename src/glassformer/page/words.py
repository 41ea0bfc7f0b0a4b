"""Numbers as the page writes them: the same texts as assets/numbers.js, so that a story and a panel agree.

>>> short(0.80071264), short(1234567.0), percent(0.99965), percent(1), grouped(105641)
('0.8007', '1.23e6', '99.97%', '100%', '105,641')
"""

import math
import os
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from shlex import quote

MINUS = "\u2212"
PRECISE = Context(prec=1_100)  # digits: the exact value of any double has fewer
POWER = re.compile(r"10{6,}")  # a one and six noughts or more are a power


def short(value: float, digits: int = 4) -> str:
    """Four significant digits with a true minus."""
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else f"{MINUS}∞"
    size = abs(value)
    if size != 0 and (size < 1e-4 or size >= 1e6):
        return minus(exponential(value, digits - 2))
    return minus(plain_decimal(value, digits))


def exponential(value: float, decimals: int) -> str:
    """As JavaScript's toExponential: one digit before the point, no padding of the power."""
    places, power = rounded(abs(value), decimals + 1)
    text = places[0] + (f".{places[1:]}" if decimals else "")
    return f"{'-' if value < 0 else ''}{text}e{power}"


def plain_decimal(value: float, digits: int) -> str:
    """As String(Number(toPrecision)): no noughts at the end."""
    if value == 0:
        return "0"
    places, power = rounded(abs(value), digits)
    text = format(Decimal(f"{places[0]}.{places[1:] or 0}e{power}").normalize(), "f")
    return f"-{text}" if value < 0 else text


def rounded(size: float, digits: int) -> tuple[str, int]:
    """So many significant digits of a number above 0, halves of its exact value up, and its power of ten."""
    exact = Decimal(size)
    power = exact.adjusted()
    units = int(exact.scaleb(digits - 1 - power, PRECISE).to_integral_value(ROUND_HALF_UP))
    if units == 10**digits:  # 9.9996 becomes 10.00
        power, units = power + 1, units // 10
    return str(units), power


def to_fixed(value: float, decimals: int) -> str:
    """As JavaScript's toFixed: halves of the exact value away from nought."""
    return format(Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, PRECISE), "f")


def percent(share: float) -> str:
    """Never 100% unless it is whole, never 0% unless it is nothing."""
    if share in (0, 1):
        return f"{int(share) * 100}%"
    for decimals in range(1, 12):
        text = to_fixed(share * 100, decimals)
        if float(text) not in (0.0, 100.0):
            return f"{text}%"
    return "almost 100%" if share > 0.5 else "almost 0%"


def grouped(value: int | str) -> str:
    """105641 as 105,641."""
    return minus(re.sub(r"\B(?=(\d{3})+(?!\d))", ",", str(value)))


def many(value: int | str) -> str:
    """10^20 for powers of ten from a million on, else with commas."""
    text = str(value)
    return f"10^{len(text) - 1}" if POWER.fullmatch(text) else grouped(text)


def listed(items: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    return f" {last} ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def typed(path: Path) -> str:
    """A path as one types it where the page was asked for.

    One that leads out of there is cut to its last two names, for a page is sent to others.

    >>> typed(Path("runs/my run")), typed(Path("/elsewhere/runs/try"))
    ("'runs/my run'", 'runs/try')
    """
    here = Path(os.path.relpath(path))
    return quote(str(here if ".." not in here.parts else Path(*path.resolve().parts[-2:])))


def minus(text: str) -> str:
    return text.replace("-", MINUS)
