"""Layouts: the published token counts, and digits that come back."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.tasks import LAYOUTS, add_digits, make_layout, to_digits


def problem(x, y, digits):
    x, y = to_digits([x], digits, 10), to_digits([y], digits, 10)
    return x, y, add_digits(x, y, 10)


@pytest.mark.parametrize(
    ("name", "vocabulary", "prompt", "length"),
    [("lsb", 10, 22, 33), ("lsb24", 10, 24, 35), ("msb", 14, 23, 34), ("nanogpt", 10, 22, 33)],
)
def test_published_counts(name, vocabulary, prompt, length):
    layout = make_layout(name, 10, 10)
    assert (len(layout.labels), layout.prompt_length, layout.length) == (vocabulary, prompt, length)
    assert layout.encode(*problem(57, 68, 10)).shape == (length, 1)


def test_answers_are_predicted_one_position_early():
    assert [make_layout("lsb", 10, 10).z_positions[k] - 1 for k in range(11)] == [21 + k for k in range(11)]
    assert [make_layout("lsb24", 10, 10).z_positions[k] - 1 for k in range(11)] == [23 + k for k in range(11)]
    assert make_layout("lsb", 10, 10).predicting == slice(21, 32)


def test_lsb24_keeps_constant_offsets():
    layout = make_layout("lsb24", 10, 10)
    for k in range(10):
        predicting = layout.z_positions[k] - 1
        assert (predicting - layout.x_positions[k], predicting - layout.y_positions[k]) == (22, 10)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lsb", "7 5 0 8 6 0 5 2 1"),
        ("lsb24", "0 7 5 0 0 8 6 0 5 2 1"),
        ("msb", "<bos> 5 7 + 6 8 = 1 2 5"),
        ("nanogpt", "5 7 0 6 8 0 5 2 1"),
    ],
)
def test_57_and_68(name, text):
    layout = make_layout(name, digits=2, base=10)
    tokens = layout.encode(*problem(57, 68, 2))[:, 0]
    assert " ".join(layout.labels[token] for token in tokens) == text


def test_position_labels():
    assert " ".join(make_layout("msb", 2, 10).position_labels()) == "<bos> x1 x0 + y1 y0 = z2 z1 z0"
    assert " ".join(make_layout("lsb", 2, 10).position_labels()) == "x0 x1 + y0 y1 = z0 z1 z2"


@given(st.sampled_from(sorted(LAYOUTS)), st.integers(1, 12), st.integers(0), st.integers(0))
def test_places_and_decode_find_every_digit(name, digits, x, y):
    layout = make_layout(name, digits, 10)
    x, y, z = problem(x % 10**digits, y % 10**digits, digits)
    tokens = layout.encode(x, y, z)
    np.testing.assert_array_equal(tokens[: layout.prompt_length], layout.prompt(x, y))
    np.testing.assert_array_equal(tokens[list(layout.x_positions)], x)
    np.testing.assert_array_equal(tokens[list(layout.y_positions)], y)
    np.testing.assert_array_equal(tokens[list(layout.z_positions)], z)
    np.testing.assert_array_equal(layout.decode(tokens), z)


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_numpy_and_jax_encode_alike(name):
    digits = problem(1234, 9876, 4)
    layout = make_layout(name, 4, 10)
    by_jax = layout.encode(*map(jnp.asarray, digits))
    np.testing.assert_array_equal(by_jax, layout.encode(*digits))


def test_bad_input_gets_one_sentence():
    with pytest.raises(UserError, match="no layout called 'msv'; did you mean 'msb'"):
        make_layout("msv", 10, 10)
    with pytest.raises(UserError, match="the number of digits must be 10, but it is 3"):
        make_layout("lsb", 10, 10).prompt(*problem(1, 2, 3)[:2])
