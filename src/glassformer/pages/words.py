"""Numbers as the page writes them: the same texts as assets/numbers.js, so that a story and a panel agree.

>>> format_number(0.80071264), format_number(1234567.0), group_digits(105641)
('0.8007', '1.23e6', '105,641')
>>> format_page_percent(0.99965), format_page_percent(1)
('99.97%', '100%')
"""

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal

from glassformer.core.words import MINUS, replace_minus

_PRECISE = Context(prec=1_100)  # digits: the exact value of any double has fewer


def format_number(value: float, digits: int = 4) -> str:
    """Four significant digits with a true minus."""
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else f"{MINUS}∞"
    size = abs(value)
    if size != 0 and (size < 1e-4 or size >= 1e6):
        return replace_minus(_format_exponential(value, digits - 2))
    return replace_minus(_format_decimal(value, digits))


def _format_exponential(value: float, decimals: int) -> str:
    """As JavaScript's toExponential: one digit before the point, no padding of the power."""
    places, power = _round_significant(abs(value), decimals + 1)
    text = places[0] + (f".{places[1:]}" if decimals else "")
    return f"{'-' if value < 0 else ''}{text}e{power}"


def _format_decimal(value: float, digits: int) -> str:
    """As String(Number(toPrecision)): no trailing zeros."""
    if value == 0:
        return "0"
    places, power = _round_significant(abs(value), digits)
    text = format(Decimal(f"{places[0]}.{places[1:] or 0}e{power}").normalize(), "f")
    return f"-{text}" if value < 0 else text


def _round_significant(size: float, digits: int) -> tuple[str, int]:
    """The significant digits of a positive number, halves rounded up, and its power of ten."""
    exact = Decimal(size)
    power = exact.adjusted()
    units = int(exact.scaleb(digits - 1 - power, _PRECISE).to_integral_value(ROUND_HALF_UP))
    if units == 10**digits:  # 9.9996 becomes 10.00
        power, units = power + 1, units // 10
    return str(units), power


def _to_fixed(value: float, decimals: int) -> str:
    """As JavaScript's toFixed: halves of the exact value away from zero."""
    return format(Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _PRECISE), "f")


def format_page_percent(share: float) -> str:
    """Never 100% unless it is whole, never 0% unless it is nothing."""
    if share in (0, 1):
        return f"{int(share) * 100}%"
    for decimals in range(1, 12):
        text = _to_fixed(share * 100, decimals)
        if float(text) not in (0.0, 100.0):
            return f"{text}%"
    return "almost 100%" if share > 0.5 else "almost 0%"


def group_digits(value: int | str) -> str:
    """105641 as 105,641."""
    return replace_minus(re.sub(r"\B(?=(\d{3})+(?!\d))", ",", str(value)))
