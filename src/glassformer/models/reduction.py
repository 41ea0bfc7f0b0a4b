"""Angles as whole quarter turns and a rest, exact for every float64, whatever its size.

>>> quarter, rest = reduce_quarter_turns(np.array([0.5, 7.0, 1e22]))
>>> (quarter % 4).tolist(), [round(float(one), 6) for one in rest]
([0, 0, 3], [0.5, 0.716815, 0.550619])
"""

from functools import cache

import numpy as np
from jaxtyping import Float, Int

_NEAR = 2.0**19  # quarter turns up to which three parts of a quarter turn do
_PER_QUARTER = float.fromhex("0x1.45f306dc9c883p-1")  # quarter turns in a radian
# A quarter turn in radians, pi / 2: twice 33 bits, and the next 53.
_QUARTER_HIGH, _QUARTER_MIDDLE = float.fromhex("0x1.921fb544p+0"), float.fromhex("0x1.0b4611a6p-34")
_QUARTER_LOW = float.fromhex("0x1.3198a2e037073p-69")
_LIMB, _LIMBS = 26, 6  # bits of a piece of a long number, and pieces
_MASK = (1 << _LIMB) - 1
_PI_BITS = 1400
_LEAST_EXPONENT = -53  # of what is far, or of 0
_QUARTER = float.fromhex("0x1.921fb54442d18p+0")


def reduce_quarter_turns(x: Float[np.ndarray, "*n"]) -> tuple[Int[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Whole quarter turns, of which only the last two bits are sure, and what is left, in radians."""
    turns = x * _PER_QUARTER
    is_near = np.abs(turns) <= _NEAR  # false for what is no number
    whole = np.rint(np.where(is_near, turns, 0.0))
    rest = ((x - whole * _QUARTER_HIGH) - whole * _QUARTER_MIDDLE) - whole * _QUARTER_LOW
    quarter = whole.astype(np.int64)
    if not is_near.all():
        far = ~is_near
        quarter[far], rest[far] = _reduce_far_angles(x[far])
    return quarter, rest


def _reduce_far_angles(x: Float[np.ndarray, " n"]) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """By the bits of 2 / pi that matter for x: whole multiples of a full turn are left out."""
    share, power = np.frexp(np.where(np.isfinite(x), np.abs(x), 0.0))
    digits, exponent = (share * 2.0**53).astype(np.int64), power - 53  # |x| = digits 2^exponent
    window = _tabulate_windows()[exponent - _LEAST_EXPONENT]  # n limb
    limbs = _multiply_limbs(window, digits & _MASK, digits >> _LIMB)
    quarter, high = limbs[5] >> 24, ((limbs[5] & (1 << 24) - 1) << _LIMB | limbs[4]) * 2.0**-50
    is_above = high >= 0.5
    rest = ((high - is_above) + (limbs[3] << _LIMB | limbs[2]) * 2.0**-102) * _QUARTER
    quarter, rest = quarter + is_above, np.where(np.isfinite(x), rest, np.nan)
    return np.where(x < 0, -quarter, quarter), np.where(x < 0, -rest, rest)


def _multiply_limbs(
    window: Int[np.ndarray, "n limb"], low: Int[np.ndarray, " n"], high: Int[np.ndarray, " n"]
) -> list[Int[np.ndarray, " n"]]:
    """A long number times (high 2^26 + low), its last 156 bits, piece by piece, the last piece first."""
    found, carry, before = list[np.ndarray](), np.zeros(len(low), np.int64), np.zeros(len(low), np.int64)
    for piece in window.T:
        total = piece * low + before * high + carry  # below 2^55
        found.append(total & _MASK)
        carry, before = total >> _LIMB, piece
    return found


@cache
def _tabulate_windows() -> Int[np.ndarray, "exponent limb"]:
    """For each exponent e the 156 bits of 2 / pi from bit e - 1 on, the last ones first."""
    inverse = (2 << 2 * _PI_BITS) // _compute_pi(_PI_BITS)  # 2 / pi in units of 2^-_PI_BITS
    bits = _LIMB * _LIMBS
    rows = []
    for exponent in range(_LEAST_EXPONENT, 1024 - 53 + 1):
        whole = inverse >> _PI_BITS - (exponent - 2 + bits)
        rows.append([whole >> _LIMB * limb & _MASK for limb in range(_LIMBS)])
    return np.array(rows, np.int64)


def _compute_pi(bits: int) -> int:
    """Pi in units of 2^-bits, by Machin's formula: 16 arctan(1/5) - 4 arctan(1/239)."""
    spare = 32

    def arctan_of_inverse(number: int) -> int:
        term = total = (1 << bits + spare) // number
        for n in range(3, 2 * (bits + spare), 2):
            term = -term // number**2
            total += term // n
        return total

    return 16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239) >> spare
