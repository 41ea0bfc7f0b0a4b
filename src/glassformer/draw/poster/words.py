"""Numbers and names in few characters.

>>> short(-0.0203571), short(12345.6), short(2.2645e15), short(0.0)
('\\u22120.0204', '12,346', '2.26·10¹⁵', '0')
"""

import math
from collections.abc import Sequence

from glassformer.draw.parts.matrices import MINUS

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LOWERED = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
PLAIN = (1e-3, 1e6)  # sizes that are written without a power of ten


def short(value: float, digits: int = 3) -> str:
    """A number with so many digits that count; very large and very small ones with a power of ten."""
    size = abs(value)
    if size == 0 or not math.isfinite(value):
        return "0" if size == 0 else str(value)
    sign = MINUS if value < 0 else ""
    exponent = math.floor(math.log10(float(f"{size:.{digits - 1}e}")))
    if PLAIN[0] <= size < PLAIN[1]:
        return f"{sign}{size:,.{max(0, digits - 1 - exponent)}f}"
    mantissa = f"{size / 10.0**exponent:.{digits - 1}f}"
    front = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{sign}{front}·{power(exponent)}" if front != "1" else f"{sign}{power(exponent)}"


def trimmed(value: float, digits: int = 3) -> str:
    """The same without zeros at the end, for parameters: 100, 0.5, 9045.

    >>> trimmed(100.0), trimmed(0.5), trimmed(-9045.0), trimmed(1.4375)
    ('100', '0.5', '\\u22129045', '1.44')
    """
    text = short(value, digits).replace(",", "")
    return text.rstrip("0").rstrip(".") if "." in text and "·" not in text else text


def scientific(value: float, digits: int = 1) -> str:
    """Always with a power of ten.

    >>> scientific(-10000.0), scientific(2500.0, 2)
    ('\\u221210⁴', '2.5·10³')
    """
    front, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    sign, tail = MINUS if value < 0 else "", power(int(exponent))
    return f"{sign}{tail}" if float(front) == 1 else f"{sign}{front}·{tail}"


def power(exponent: int) -> str:
    """A power of ten, its exponent raised.

    >>> power(-12)
    '10⁻¹²'
    """
    return "10" + str(exponent).translate(RAISED)


def lowered(name: str) -> str:
    """A name with its number lowered.

    >>> lowered("x3"), lowered("=")
    ('x₃', '=')
    """
    head = name.rstrip("0123456789")
    return head + name[len(head) :].translate(LOWERED) if head else name


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words as a sentence lists them; no words are `nothing`.

    >>> listed(["x", "y", "z"])
    'x, y and z'
    """
    return (
        words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else "nothing"
    )


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the plural unless it is 1.

    >>> counted(1, "number"), counted(12, "number")
    ('1 number', '12 numbers')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
