"""Unpacked blocks are the weights that their definition gives, to the last bit."""

import numpy as np
import pytest

from glassformer.lens.read.gguf_blocks import SMALL_BLOCKS, BlockFormat
from glassformer.lens.read.gguf_k_blocks import K_BLOCKS
from glassformer.lens.read.gguf_types import TYPES
from tests.lens.read.gguf_reference import REFERENCES

QUANTISED = {one.name: one for one in (*SMALL_BLOCKS, *K_BLOCKS)}
TINY = 6e-8  # the smallest number of half precision, a denormal
SCALES = [1.0, 0.037, -0.41, TINY, -3 * TINY, 65_504.0, 0.0]  # one a block


def random_blocks(form: BlockFormat) -> np.ndarray:
    """Blocks of random levels, with scales of every kind."""
    rng = np.random.default_rng(len(form.name))
    raw = rng.integers(0, 256, len(SCALES) * form.record.itemsize, dtype=np.uint8)
    blocks = raw.view(form.record)
    for name, some in (("scale", SCALES), ("least", SCALES[::-1])):
        if name in form.record.names:
            blocks[name] = some
    return blocks


def test_every_quantised_type_has_a_reference():
    assert set(REFERENCES) == set(QUANTISED)


@pytest.mark.parametrize("name", QUANTISED)
def test_weights_are_those_of_the_definition(name):
    form = QUANTISED[name]
    blocks = random_blocks(form)
    weights = np.full((len(blocks), form.weights), np.nan, np.float32)
    form.unpack(blocks, weights)
    expected = [[REFERENCES[name](block.tobytes(), i) for i in range(form.weights)] for block in blocks]
    np.testing.assert_array_equal(weights, np.array(expected, np.float32), strict=True)


@pytest.mark.parametrize(
    ("number", "stored", "expected"),
    [
        (0, np.array([1.5, -2.0], "<f4"), [1.5, -2.0]),
        (1, np.array([1.5, TINY], "<f2"), [1.5, float(np.float16(TINY))]),
        (28, np.array([1 / 3, 1e300], "<f8"), [1 / 3, 1e300]),
        (30, np.array([0x3FC0, 0xC000], "<u2"), [1.5, -2.0]),
        (24, np.array([-128, 127], "i1"), [-128.0, 127.0]),
        (25, np.array([-32_768, 5], "<i2"), [-32_768.0, 5.0]),
        (26, np.array([2**31 - 1, -7], "<i4"), [2.0**31 - 1, -7.0]),
        (27, np.array([2**53, -7], "<i8"), [2.0**53, -7.0]),
    ],
)
def test_plain_types_keep_their_numbers(number, stored, expected):
    form = TYPES[number]
    weights = np.empty((2, 1), form.result)
    form.unpack(stored.view(form.record), weights)
    assert weights.ravel().tolist() == expected
