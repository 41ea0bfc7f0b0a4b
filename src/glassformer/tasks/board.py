"""The community board's pairs: ten edge cases, then random ones; and how to keep away from them.

>>> next(draw_board_pairs()), EDGE_CASES[3], sum(1 for pair in draw_board_pairs())
((0, 0), (9999999999, 1), 10010)

The pairs are public, so nothing that shapes a model may see them: `replace_board_pairs` takes them
out of every draw.
"""

import random
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Bool, Int, UInt32

from glassformer.tasks.addition import Addition, to_digits
from glassformer.tasks.operations import ADD

BOARD_BASE, BOARD_DIGITS = 10, 10
BOARD_SEED = 2025
BOARD_PAIRS = 10_000
EDGE_CASES = (
    (0, 0),
    (0, 1),
    (9_999_999_999, 0),
    (9_999_999_999, 1),
    (9_999_999_999, 9_999_999_999),
    (5_000_000_000, 5_000_000_000),
    (1_111_111_111, 8_888_888_889),
    (1_234_567_890, 9_876_543_210),
    (9_999_999_999, 9_999_999_999),  # twice, as the board has it
    (1, 9_999_999_999),
)
_HASH_BITS = 20
_WORD_BITS = 32
HARMLESS = (7, 8)  # 7 + 8 stands in for what is taken out: one digit, so it fits every stage of training
# One odd number per digit of x and of y; of a few sets drawn at random, one that flags under 1% at every
# stage.
_MULTIPLIERS = (
    "DF3AB951 5EC3141F 0D4633DB DCF2EC91 196D5C2D E53CF257 DEE293A5 F8310897 D73A72D1 A41D5A0F",
    "A921A545 4F110363 68C7B4BF 65D15497 3D1115AB 3D6A285F 996C567F F868FA3F 889D95B5 43F63329",
)

# A NumPy or JAX array: this module asks the array for its namespace and imports neither by name.
_AnyArray: TypeAlias = Any


def draw_board_pairs(seed: int = BOARD_SEED, pairs: int = BOARD_PAIRS) -> Iterator[tuple[int, int]]:
    """The edge cases, then the random pairs of a seed."""
    return chain(EDGE_CASES, draw_random_pairs(seed, pairs))


def is_board_task(task: Addition) -> bool:
    """Whether the board's pairs are pairs of the task: sums of ten digits in base ten."""
    return (task.base, task.digits, task.does) == (BOARD_BASE, BOARD_DIGITS, ADD)


def draw_random_pairs(
    seed: int, pairs: int, end: int = BOARD_BASE**BOARD_DIGITS
) -> Iterator[tuple[int, int]]:
    """Uniform pairs below `end`, a then b, as the board draws them; one by one: millions need no memory."""
    draw, most = random.Random(seed).randint, end - 1
    return ((draw(0, most), draw(0, most)) for _ in range(pairs))


def replace_board_pairs(
    x: Int[_AnyArray, "*step digit batch"], y: Int[_AnyArray, "*step digit batch"], base: int
) -> tuple[Int[_AnyArray, "*step digit batch"], Int[_AnyArray, "*step digit batch"]]:
    """The same pairs without the board's; about 1%, of hard kinds to 2.4%, become 7 + 8 (most by chance).

    The board has numbers of base ten alone: in any other base all pairs are kept.
    """
    if base != BOARD_BASE:
        return x, y
    xp = x.__array_namespace__()
    flagged = can_be_on_board(x, y)[..., None, :]
    is_units = xp.arange(x.shape[-2])[:, None] == 0
    safe_x, safe_y = (xp.where(is_units, digit, 0).astype(x.dtype) for digit in HARMLESS)
    return xp.where(flagged, safe_x, x), xp.where(flagged, safe_y, y)


def can_be_on_board(
    x: Int[_AnyArray, "*step digit batch"], y: Int[_AnyArray, "*step digit batch"]
) -> Bool[_AnyArray, "*step batch"]:
    """True for every pair of the board, and for about 1 in 105 others.

    A pair's low ten digits are hashed to 20 bits, and the hash is looked up in a table of as many bits.
    Shorter numbers are as if filled up with zeros; longer ones are judged by their low digits.
    """
    xp = x.__array_namespace__()
    place = hash_pairs(x, y)
    word = xp.take(xp.asarray(make_board_table()), place // _WORD_BITS)
    return (word >> (place % _WORD_BITS)) % 2 == 1


def hash_pairs(
    x: Int[_AnyArray, "*step digit batch"], y: Int[_AnyArray, "*step digit batch"]
) -> UInt32[_AnyArray, "*step batch"]:
    """The top 20 bits of a sum of digits times fixed numbers, modulo 2^32."""
    xp = x.__array_namespace__()
    digits = min(x.shape[-2], BOARD_DIGITS)
    total = xp.zeros(x[..., 0, :].shape, dtype=xp.uint32)
    for number, text in zip((x, y), _MULTIPLIERS, strict=True):
        multipliers = np.array([[int(word, 16)] for word in text.split()], np.uint32)  # digit 1
        weighted = number[..., :digits, :].astype(xp.uint32) * xp.asarray(multipliers[:digits])
        total = total + xp.sum(weighted, axis=-2, dtype=xp.uint32)
    return total >> (_WORD_BITS - _HASH_BITS)


@cache
def make_board_table() -> UInt32[np.ndarray, " word"]:
    """One bit per hash, 32 to a word, set where a pair of the board has it."""
    a, b = zip(*draw_board_pairs(), strict=True)
    places = hash_pairs(*(to_digits(side, BOARD_DIGITS, BOARD_BASE) for side in (a, b)))
    table = np.zeros(2**_HASH_BITS // _WORD_BITS, np.uint32)
    np.bitwise_or.at(table, places // _WORD_BITS, np.uint32(1) << (places % _WORD_BITS))
    table.flags.writeable = False
    return table
