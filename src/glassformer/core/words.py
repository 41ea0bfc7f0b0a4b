"""Words for numbers: counts with their nouns, lists, shares that never round to all or none, few digits.

>>> join_words(["x", "y", "z"]), format_count(1, "video"), format_count(4000, "trial")
('x, y and z', '1 video', '4,000 trials')
>>> [format_percent(share) for share in (0.5, 1.0, 0.99987, 0.0042, 1e-6)]
['50.0%', '100%', '99.987%', '0.42%', '0.00010%']
>>> [format_significant(value) for value in (-0.0203571, 12345.6, 2.2645e15, 0.0)]
['\\u22120.0204', '12,346', '2.26·10¹⁵', '0']

What a page's script writes too is in pages/words.py, which gives the same texts as assets/numbers.js.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from glassformer.core.share import MeasuredShare

MINUS = "\N{MINUS SIGN}"
_EVERY = "all"  # inputs of every length have no number
_MOST_WRITTEN = 10**6 + 10  # digits of an integer
_LONGEST_SHOWN, _END_SHOWN = 60, 20  # digits of a number in a line, and of each end of a longer one
_MANY, _VERY_MANY = 10**6, 10**18  # from which on a power of ten, and of any base, is written as one
# Shares nearer to 0 or 1 than this are only bounded, and how: without decimals, and with some.
_LEAST = (5e-4, 1e-7)
_BOUNDS = (("<0.1%", ">99.9%"), ("<0.00001%", ">99.99999%"))
_PLAIN = (1e-3, 1e6)  # sizes that are written without a power of ten
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")


def join_words(words: Sequence[str], last: str = "and", empty: str = "") -> str:
    """Words as a sentence lists them; `empty` where there are none.

    >>> join_words(["2", "4"], "or"), join_words(["x"]), join_words([], empty="nothing")
    ('2 or 4', 'x', 'nothing')
    """
    if not words:
        return empty
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def choose_plural(count: float, noun: str, plural: str = "") -> str:
    """The noun alone, in the plural unless it is one.

    >>> choose_plural(1, "head"), choose_plural(2, "head"), choose_plural(2, "matrix", "matrices")
    ('head', 'heads', 'matrices')
    """
    return noun if count == 1 else plural or f"{noun}s"


def format_count(count: int, noun: str, plural: str = "") -> str:
    """So many of them.

    >>> format_count(0, "layer"), format_count(4000, "layer"), format_count(2, "matrix", "matrices")
    ('0 layers', '4,000 layers', '2 matrices')
    """
    return f"{count:,} {choose_plural(count, noun, plural)}"


def allow_long_numbers() -> None:
    """Let this process write integers of a million digits; Python's own limit is 4,300."""
    sys.set_int_max_str_digits(_MOST_WRITTEN)


def shorten_number(number: int | str) -> str:
    """A number as a line has room for it: its ends, and how many digits it has.

    >>> shorten_number(125), shorten_number(10**99)
    ('125', '10000000000000000000...00000000000000000000 (100 digits)')
    """
    text = str(number)
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[:_END_SHOWN]}...{text[-_END_SHOWN:]} ({len(text):,} digits)"


def format_large_count(count: int | str) -> str:
    """A power of ten from a million on, of a smaller or slightly larger base from 10^18 on; else commas.

    >>> format_large_count("100000000000000000000"), format_large_count(12_769), format_large_count(7**30)
    ('10^20', '12,769', '7^30')
    """
    if count == _EVERY:
        return str(count)
    number = int(count)
    bases = (10,) if number < _VERY_MANY else (10, *range(2, 17))
    for base in bases if number >= _MANY else ():
        power = round(math.log(number, base))
        if base**power == number:
            return f"{base}^{power}"
    return f"{number:,}"


def format_percent(share: float, decimals: int = 1) -> str:
    """So many decimals; of what is below 1%, or is missing from 100%, one more or two leading digits.

    >>> format_percent(0.447, 0), format_percent(0.9958, 0), format_percent(1e-6, 0)
    ('45%', '99.6%', '<0.1%')
    >>> format_percent(2 / 3, 3), format_percent(0.9958, 3), format_percent(0.9999987, 3)
    ('66.667%', '99.580%', '99.99987%')
    >>> format_percent(float("nan"))
    'no share'
    """
    if share != share:  # nothing was measured
        return "no share"
    if not 0 < share < 1:
        return "0%" if share <= 0 else "100%"
    small = min(share, 1 - share)
    if small < _LEAST[decimals > 0]:
        return _BOUNDS[decimals > 0][int(share >= 0.5)]
    leading = 1 - math.floor(math.log10(100 * small)) if decimals else 1
    return f"{100 * share:.{max(leading, decimals) if small < 0.01 else decimals}f}%"


def format_share(share: MeasuredShare, decimals: int = 1, counted: bool = False) -> str:
    """The share with its interval; `counted`: and of how many positions it is.

    >>> format_share(MeasuredShare(0.9752, 0.9481, 0.9958, 400))
    '97.5% (95% interval 94.8% to 99.58%)'
    """
    value, low, high = (format_percent(one, decimals) for one in (share.value, share.low, share.high))
    return f"{value} (95% interval {low} to {high}{f', n = {share.positions:,}' if counted else ''})"


def format_stored_share(share: Mapping[str, Any]) -> str:
    """A share as a run's result stores it, with more digits than a picture has room for.

    >>> format_stored_share({"value": 1.0, "low": 0.99908, "high": 1.0, "positions": 4000})
    '100% (95% interval 99.908% to 100%, n = 4,000)'
    """
    if not share["positions"]:
        return "no such positions"
    return format_share(MeasuredShare(**share), 3, counted=True)


def format_interval(share: MeasuredShare) -> str:
    """The interval in few characters.

    >>> format_interval(MeasuredShare(0.9995, 0.9981, 0.9999, 4000))
    '99.8 to >99.9%'
    """
    return " to ".join(_format_tenths(end) for end in (share.low, share.high)) + "%"


def _format_tenths(share: float) -> str:
    """A share in percent, with one decimal, bounded where rounding would make it all or none."""
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return ">99.9"
    return "<0.1" if text == "0.0" and share > 0 else text


def format_significant(value: float, digits: int = 3) -> str:
    """A number with so many significant digits; very large and very small ones with a power of ten."""
    size = abs(value)
    if size == 0 or not math.isfinite(value):
        return "0" if size == 0 else str(value)
    sign = MINUS if value < 0 else ""
    mantissa, _, exponent = f"{size:.{digits - 1}e}".partition("e")
    if _PLAIN[0] <= size < _PLAIN[1]:
        return f"{sign}{size:,.{max(0, digits - 1 - int(exponent))}f}"
    front = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    tail = format_power(int(exponent))
    return f"{sign}{front}·{tail}" if front != "1" else f"{sign}{tail}"


def format_trimmed(value: float, digits: int = 3) -> str:
    """The same without zeros at the end, for parameters: 100, 0.5, 9045.

    >>> format_trimmed(100.0), format_trimmed(0.5), format_trimmed(-9045.0), format_trimmed(1.4375)
    ('100', '0.5', '\\u22129045', '1.44')
    """
    text = format_significant(value, digits).replace(",", "")
    return text.rstrip("0").rstrip(".") if "." in text and "·" not in text else text


def format_scientific(value: float, digits: int = 1) -> str:
    """Always with a power of ten.

    >>> format_scientific(-10000.0), format_scientific(2500.0, 2)
    ('\\u221210⁴', '2.5·10³')
    """
    front, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    sign, tail = MINUS if value < 0 else "", format_power(int(exponent))
    return f"{sign}{tail}" if float(front) == 1 else f"{sign}{front}·{tail}"


def format_exponent(value: float) -> str:
    """Two significant digits and a power of ten in the fewest characters.

    >>> format_exponent(123456.0), format_exponent(-0.0005)
    ('1.2e5', '\\u22125e\\u22124')
    """
    digits, power = f"{value:.1e}".split("e")
    return replace_minus(f"{float(digits):g}e{int(power)}")


def format_decimals(value: float, decimals: int = 2) -> str:
    """So many decimals, with a true minus sign and no negative zero.

    >>> format_decimals(-0.001), format_decimals(-1.5, 1), format_decimals(0.25)
    ('0.00', '\\u22121.5', '0.25')
    """
    text = f"{value:.{decimals}f}"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def replace_minus(text: str) -> str:
    """A number's text with a true minus sign for every hyphen."""
    return text.replace("-", MINUS)


def format_power(exponent: int, base: int = 10) -> str:
    """A power of ten, or of another base, its exponent raised.

    >>> format_power(-12), format_power(4, base=7)
    ('10⁻¹²', '7⁴')
    """
    return f"{base}" + str(exponent).translate(_RAISED)


def lower_digits(name: str) -> str:
    """A name with its number lowered.

    >>> lower_digits("x3"), lower_digits("=")
    ('x₃', '=')
    """
    head = name.rstrip("0123456789")
    return head + name[len(head) :].translate(_LOWERED) if head else name
