"""Hard pairs: seven ways to draw numbers where an adder's mistakes hide and uniform pairs hardly ever look.

Each function takes a NumPy generator, how many pairs, how many digits and the base, and gives digits, units
first. The names are those of base ten: in base 7 a nine is a 6, and sums from 8 to 10 are sums from 5 to 7.

>>> x, y = HARD["complements"](np.random.default_rng(1), 1, digits=4, base=10)
>>> (x + y)[:, 0].tolist()
[9, 9, 0, 0]
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jaxtyping import Int

Random: TypeAlias = np.random.Generator
Digits: TypeAlias = Int[np.ndarray, "digit batch"]
Pair: TypeAlias = tuple[Digits, Digits]


def _draw_runs_of_nines(random: Random, count: int, digits: int, base: int) -> Pair:
    """A number with a run of nines, and 0, one digit, or such a number again: 5999999999 + 0."""
    x, y = (
        np.where(
            _draw_run_mask(random, count, digits), base - 1, _draw_uniform_digits(random, count, digits, base)
        )
        for _ in "xy"
    )
    kind, place = random.integers(0, 3, count), random.integers(0, digits, count)
    is_place = np.arange(digits)[:, None] == place
    kept = (kind == 2) | ((kind == 1) & is_place)
    return _swap_some_pairs(random, x, np.where(kept, y, 0))


def _draw_sums_8_to_10(random: Random, count: int, digits: int, base: int) -> Pair:
    """Every column sums to 8, 9 or 10, where one carry decides: 4703 + 4287."""
    total = random.integers(base - 2, base + 1, (digits, count), np.int32)
    return _split_totals(random, total, base)


def _draw_digits_0189(random: Random, count: int, digits: int, base: int) -> Pair:
    """All digits from 0, 1, 8 and 9: 8019 + 1990."""
    special = np.array([0, 1, base - 2, base - 1], np.int32)
    x, y = special[random.integers(0, len(special), (2, digits, count))]
    return x, y


def _draw_ripple_carries(random: Random, count: int, digits: int, base: int) -> Pair:
    """A column that carries, then columns that sum to nine and hand the carry on: 27458 + 2545."""
    x, y = (_draw_uniform_digits(random, count, digits, base) for _ in "xy")
    ripple = _draw_run_mask(random, count, digits)
    starts = ripple & ~np.roll(ripple, 1, axis=0) | (ripple & (np.arange(digits)[:, None] == 0))
    nine_x, nine_y = _split_totals(random, np.full((digits, count), base - 1, np.int32), base)
    ten = random.integers(base, 2 * base - 1, (digits, count), np.int32)
    ten_x, ten_y = _split_totals(random, ten, base)
    x = np.where(starts, ten_x, np.where(ripple, nine_x, x))
    return x, np.where(starts, ten_y, np.where(ripple, nine_y, y))


def _draw_complements(random: Random, count: int, digits: int, base: int) -> Pair:
    """Two numbers that sum to 99..9, or to the power of the base above it: 1234 + 8766."""
    within = _make_length_mask(random.integers(1, digits + 1, count), digits)
    x = np.where(within, _draw_uniform_digits(random, count, digits, base), 0)
    begun = np.maximum.accumulate(x > 0, axis=0)  # from the lowest digit that is not 0 upwards
    is_first = begun & (np.cumsum(begun, axis=0) == 1)
    to_ten = np.where(begun, base - 1 - x + is_first, 0)
    y = np.where(random.integers(0, 2, count) == 1, to_ten, base - 1 - x)
    return x, np.where(within, y, 0)


def _draw_repeated_digits(random: Random, count: int, digits: int, base: int) -> Pair:
    """Each number is one digit again and again: 7777777 + 333."""
    x, y = (
        np.where(
            _make_length_mask(random.integers(1, digits + 1, count), digits),
            random.integers(0, base, count, np.int32),
            0,
        )
        for _ in "xy"
    )
    return x, y


def _draw_unequal_lengths(random: Random, count: int, digits: int, base: int) -> Pair:
    """Numbers of different lengths, down to 0 with no digits at all: 9305817264 + 58."""
    length = random.integers(0, digits + 1, count)
    other = (length + random.integers(1, digits + 1, count)) % (digits + 1)
    x, y = (_draw_sized_numbers(random, size, digits, base) for size in (length, other))
    return x, y


HARD: dict[str, Callable[[Random, int, int, int], Pair]] = {
    "runs_of_nines": _draw_runs_of_nines,
    "sums_8_to_10": _draw_sums_8_to_10,
    "digits_0189": _draw_digits_0189,
    "ripple_carries": _draw_ripple_carries,
    "complements": _draw_complements,
    "repeated_digits": _draw_repeated_digits,
    "unequal_lengths": _draw_unequal_lengths,
}


def draw_hard_pairs(random: Random, count: int, digits: int, base: int) -> Pair:
    """Pairs of all seven kinds, in shares that differ by one pair at most."""
    ends = [count * kind // len(HARD) for kind in range(len(HARD) + 1)]
    drawn = [draw(random, ends[i + 1] - ends[i], digits, base) for i, draw in enumerate(HARD.values())]
    x, y = (np.concatenate(parts, axis=1) for parts in zip(*drawn, strict=True))
    return x, y


def _draw_uniform_digits(random: Random, count: int, digits: int, base: int) -> Digits:
    return random.integers(0, base, (digits, count), np.int32)


def _split_totals(random: Random, total: Digits, base: int) -> Pair:
    """Two digits that sum to the total, each way of splitting it equally likely."""
    x = random.integers(np.maximum(total - base + 1, 0), np.minimum(total, base - 1) + 1, dtype=np.int32)
    return x, total - x


def _draw_run_mask(random: Random, count: int, digits: int) -> np.ndarray:
    """True in a run of digits, as `digit batch`; half of the runs begin at the units."""
    start = random.integers(0, digits, count) * random.integers(0, 2, count)
    end = random.integers(start, digits) + 1
    place = np.arange(digits)[:, None]
    return (start <= place) & (place < end)


def _make_length_mask(length: Int[np.ndarray, " batch"], digits: int) -> np.ndarray:
    """True below the length, as `digit batch`."""
    return np.arange(digits)[:, None] < length


def _draw_sized_numbers(random: Random, length: Int[np.ndarray, " batch"], digits: int, base: int) -> Digits:
    """Uniform numbers of exactly this many digits."""
    number, first = (
        _draw_uniform_digits(random, len(length), digits, base),
        random.integers(1, base, len(length), np.int32),
    )
    number = np.where(np.arange(digits)[:, None] == length - 1, first, number)
    return np.where(_make_length_mask(length, digits), number, 0)


def _swap_some_pairs(random: Random, x: Digits, y: Digits) -> Pair:
    """The pair, or the two numbers the other way round, by a coin."""
    turn = random.integers(0, 2, x.shape[1]) == 1
    return np.where(turn, y, x), np.where(turn, x, y)
