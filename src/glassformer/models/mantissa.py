"""How many bits a number needs: its mantissa, from the leading one to the last one that is set.

0.625 is 0.101 in base two: three bits. Signs and exponents are not counted, and 0 needs none. So every power
of two needs one bit, an integer up to seven at most three, and a float32 at most 24.

>>> count_mantissa_bits(0.625), count_mantissa_bits(-8.0), count_mantissa_bits(0.0)
(3, 1, 0)
>>> [round_mantissa(20.3, bits) for bits in (1, 2, 3, 5)]
[16.0, 24.0, 20.0, 20.0]
"""

import math


def count_mantissa_bits(value: float) -> int:
    """Bits from the leading one to the last one that is set, both included."""
    if not math.isfinite(value):
        raise ValueError(f"{value} has no mantissa")
    top, _ = abs(value).as_integer_ratio()
    return (top // (top & -top)).bit_length() if top else 0


def round_mantissa(value: float, bits: int) -> float:
    """The nearest number of so many bits, halves to even; with no bits 0.

    A result above the largest float64 is infinite, and never called a rounding of a finite number.
    """
    if bits == 0 or value == 0:
        return 0.0
    fraction, exponent = math.frexp(value)
    try:
        return math.ldexp(round(math.ldexp(fraction, bits)), exponent - bits)
    except OverflowError:
        return math.copysign(math.inf, value)
