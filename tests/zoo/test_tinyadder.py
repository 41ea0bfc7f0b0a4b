"""TinyAdder: what it is said to be, where it fails and by how much, and the repair at the edges."""

import itertools

import numpy as np
import pytest

from glassformer.models.constants import count_constants
from glassformer.models.count import count_by_part
from glassformer.models.forward import forward
from glassformer.models.ops_numpy import NumpyOps
from glassformer.tasks import add_digits, to_digits
from glassformer.tasks.board import draw_board_pairs
from glassformer.zoo import ZOO
from tests.zoo.hand_built import board_score, hard_pairs, jax_wrong, model_of, sums, wrong

BOTH = ["tinyadder-95", "tinyadder-95-repaired"]
LEAST_ROOM = 0.34  # from the rest to the nearest edge, in units of the last digit
MOST = 9_999_999_999


@pytest.mark.parametrize("name", BOTH)
def test_95_non_zero_numbers(name):
    assert sum(np.count_nonzero(array) for array in ZOO[name].build().values()) == 95
    assert sum(count_by_part(ZOO[name].architecture).values()) == 97  # with the zero query and key of layer 1
    assert count_constants(ZOO[name].architecture) == 1  # ln 10


def test_the_repair_changes_one_number():
    published, repaired = (ZOO[name].build() for name in BOTH)
    changed = {
        key: (published[key], repaired[key]) for key in published if (repaired[key] != published[key]).any()
    }
    assert changed == {"layer1.ff.up.bias": (1e2, 1e10)}


@pytest.mark.slow
def test_the_board():
    assert board_score("tinyadder-95") == 10_010
    a, b = zip(*draw_board_pairs(), strict=True)
    assert wrong("tinyadder-95-repaired", to_digits(a, 10, 10), to_digits(b, 10, 10)) == []


def test_nines_cross_the_edge():
    pairs = [(5_999_999_999, 0), (4_999_999_999, 0), (3_999_999_999, 0)]
    assert sums("tinyadder-95", *pairs) == [6_000_000_000, 5_000_000_000, 3_999_999_999]
    assert sums("tinyadder-95-repaired", *pairs) == [a for a, _ in pairs]


def test_the_published_edges_are_250_and_500_too_low():
    """U / 4M below 5 and U / 2M above it, with U = 10^9 and M = 10^6; the rest is lifted by 0.36."""
    kept = [4_999_999_749, 5_999_999_499, 8_999_999_499]
    assert sums("tinyadder-95", *((a, 0) for a in kept)) == kept
    assert sums("tinyadder-95", *((a + 1, 0) for a in kept)) != [a + 1 for a in kept]


def test_jax_says_the_same():
    x, y = hard_pairs(7_000)
    assert jax_wrong("tinyadder-95-repaired", x, y) == 0


def test_hard_pairs():
    x, y = hard_pairs(14_000)
    assert wrong("tinyadder-95-repaired", x, y) == []
    assert len(wrong("tinyadder-95", x[:, :2000], y[:, :2000])) > 50  # runs of nines


def edges() -> tuple[np.ndarray, np.ndarray]:
    """Sums c 10^k and one less, under several higher parts, split into two numbers in several ways.

    Room is smallest at the ends of a stretch, and the marks' leak grows with b and with the answer, so the
    splits put as much as they can into either number.
    """
    found = set()
    for k, c, below in itertools.product(range(11), range(11), (0, 1)):
        for higher in (0, 1, 5, 9, 10 ** (10 - k) - 1, 2 * 10 ** (9 - k) if k < 10 else 0):
            total = higher * 10 ** (k + 1) + c * 10**k - below
            firsts = (0, MOST, total // 2, total - MOST, total - 1, total // 10**k * 10**k, total % 10**k)
            found |= {(a, total - a) for a in firsts if 0 <= a <= MOST and 0 <= total - a <= MOST}
    a, b = zip(*sorted(found), strict=True)
    return to_digits(a, 10, 10), to_digits(b, 10, 10)


def rooms(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How far the rest is inside its stretch, `step batch`: dim 5 + c is 1000 / (n + 1) (rest - middle)."""
    layout, model, seen = ZOO[BOTH[1]].task.written(), model_of(BOTH[1]), {}
    tokens = layout.encode(x, y, add_digits(x, y, 10))
    forward(model.architecture, NumpyOps("float64"), model.params, tokens[:-1], 11, seen.__setitem__)
    read = np.arange(layout.prompt_length, layout.length)[:, None]  # n, at each step
    offsets = seen["layer1.mid"][5:15] * (read + 1) / 1000  # candidate step batch
    offset = np.take_along_axis(offsets, tokens[layout.answer][None], axis=0)[0]
    return 10.0 ** (layout.length - 1 - read) / 2 - np.abs(offset)


def test_the_room_at_the_edges():
    x, y = edges()
    assert x.shape[1] > 2_500
    assert wrong("tinyadder-95-repaired", x, y) == []
    assert len(wrong("tinyadder-95", x, y)) > 100
    assert LEAST_ROOM < rooms(x, y).min() < LEAST_ROOM + 0.02
