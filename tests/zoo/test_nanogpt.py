"""nanoGPT-58: what it is said to be, where it fails, and the repair on every pair."""

import itertools

import numpy as np
import pytest

from glassformer.models.constants import count_constants
from glassformer.models.count import count_by_part
from glassformer.tasks import add_digits
from glassformer.zoo import ZOO
from tests.zoo.hand_built import board_score, hard_pairs, jax_wrong, model_of, sums, wrong

BOTH = ["nanogpt-58", "nanogpt-58-repaired"]
SHOWN = (5_388_742_030, 746_297_626)  # a 9 in column 3, no carry on either side
LEAST_GAP = 2 * (1 - np.sin(6 * np.pi / 11))  # of the logits, in exact arithmetic


@pytest.mark.parametrize("name", BOTH)
def test_58_numbers(name):
    parts = count_by_part(ZOO[name].architecture)
    assert list(parts.values()) == [14, 3, 8, 8, 2, 12, 8, 3]
    assert sum(array.size for array in ZOO[name].build().values()) == 58
    assert (
        count_constants(ZOO[name].architecture) == 3 + 1
    )  # the circle but for its radius, 1, and the scale of the scores
    assert sum(int(np.count_nonzero(array)) for array in ZOO[name].build().values()) == 39  # as published


def test_the_repair_changes_two_biases():
    published, repaired = (ZOO[name].build() for name in BOTH)
    changed = {
        key: repaired[key] - published[key] for key in published if (repaired[key] != published[key]).any()
    }
    assert {key: value.tolist() for key, value in changed.items()} == {"ff.up.bias": [0, 0, -40, -40]}


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_board(precision):
    assert board_score("nanogpt-58", precision) == 9_295
    assert board_score("nanogpt-58-repaired", precision) == 10_010


def test_a_nine_that_becomes_a_five():
    assert sums("nanogpt-58", SHOWN) == [6_135_045_656]
    assert sums("nanogpt-58-repaired", SHOWN) == [sum(SHOWN)]


def test_jax_says_the_same():
    x, y = hard_pairs(7_000)
    assert jax_wrong("nanogpt-58-repaired", x, y) == 0


def test_hard_pairs():
    x, y = hard_pairs(100_000)
    assert wrong("nanogpt-58-repaired", x, y) == []
    assert len(wrong("nanogpt-58", x[:, ::10], y[:, ::10])) > 1_000


def test_the_weights_are_halves_and_zeros():
    """Digit k comes from columns k and k - 1 alone: what the proof by cells stands on."""
    x, y = np.random.default_rng(0).integers(0, 10, (2, 10, 3))
    layout = ZOO["nanogpt-58-repaired"].task.written()
    trace = model_of("nanogpt-58-repaired").trace(layout.encode(x, y, add_digits(x, y, 10))[:-1, 0])
    for head, k in itertools.product((0, 1), range(11)):
        weights, column = trace[f"attn.weights.{head}"][21 + k], (9 - k + head) % 11
        assert np.flatnonzero(weights).tolist() == [column, column + 11]
        assert weights[column] == weights[column + 11] == 0.5


def cells() -> tuple[np.ndarray, np.ndarray]:
    """Every two neighbouring columns, at every place, with and without a carry into them."""
    columns = np.array(list(itertools.product(range(10), repeat=4))).T  # x_{k-1}, y_{k-1}, x_k, y_k
    numbers = []
    for k, carried in itertools.product(range(1, 10), (False, True)):
        pair = np.zeros((2, 10, columns.shape[1]), np.int32)
        pair[:, k - 1], pair[:, k] = columns[:2], columns[2:]
        if k >= 2:
            pair[:, k - 2] = 9 * carried
        numbers.append(pair)
    x, y = np.concatenate(numbers, axis=2)
    return x, y


def test_every_cell():
    """The digit of column k depends on columns k and k - 1 and on the carry into k - 1: these are all pairs."""
    x, y = cells()
    assert x.shape == (10, 180_000)
    assert wrong("nanogpt-58-repaired", x, y) == []
    assert len(wrong("nanogpt-58", x[:, ::10], y[:, ::10])) > 100


def test_the_smallest_gap():
    x, y = (number[:, ::7] for number in cells())
    layout, model = ZOO["nanogpt-58-repaired"].task.written(), model_of("nanogpt-58-repaired")
    ranked = np.sort(model.logits(layout.encode(x, y, add_digits(x, y, 10))[:-1], last=11), axis=0)
    np.testing.assert_allclose(
        (ranked[-1] - ranked[-2]).min(), LEAST_GAP, atol=5e-3
    )  # float32, values to 9,000
