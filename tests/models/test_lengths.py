"""The same adder at other lengths: the same parameters, and in float32 the very same numbers at the same columns."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.lengths import lengthen_adder
from glassformer.runs.load import load_model
from glassformer.tasks import add_digits


@pytest.fixture(scope="module")
def model():
    return load_model("any-8")


def logits_of(model, task, x, y):
    """`tok step batch` of all answer digits, each after the true ones before it."""
    layout = task.written()
    tokens = layout.encode(x, y, add_digits(x, y, task.base))[:-1]
    return model.logits(tokens, last=task.digits + 1)


def test_its_own_length_is_the_model_itself(model):
    assert lengthen_adder(model, model.addition, 10)[0] is model


@pytest.mark.parametrize("digits", [1, 2, 7, 31])
def test_every_length_adds(model, digits):
    longer, task = lengthen_adder(model, model.addition, digits)
    x, y = np.random.default_rng(digits).integers(0, 10, (2, digits, 64))
    said = logits_of(longer, task, x, y).argmax(0)
    assert np.array_equal(said, add_digits(x, y, 10))


def test_columns_far_above_change_no_bit_of_the_logits(model):
    """Sixty digits more: steps that do not see them have the same logits to the last bit."""
    random = np.random.default_rng(5)
    x, y = random.integers(0, 10, (2, 20, 32))
    more = random.integers(0, 10, (2, 60, 32))
    short = logits_of(*lengthen_adder(model, model.addition, 20), x, y)
    above = (np.concatenate([part, top]) for part, top in zip((x, y), more, strict=True))
    long = logits_of(*lengthen_adder(model, model.addition, 80), *above)
    seen = 8  # columns: further than a query of any-8 sees
    assert np.array_equal(short[:, : 20 - seen], long[:, : 20 - seen])
    assert not np.array_equal(short[:, 19], long[:, 19])


def test_a_model_of_one_length_says_so():
    glass = load_model("glass-8")
    with pytest.raises(UserError, match="made for numbers of 10 digits and has no positions for 11"):
        lengthen_adder(glass, glass.addition, 11)


@pytest.mark.parametrize("digits", [0, -3, 10**6 + 1])
def test_lengths_have_bounds(model, digits):
    with pytest.raises(UserError, match="digits must be between 1 and 1,000,000"):
        lengthen_adder(model, model.addition, digits)


@pytest.mark.parametrize("digits", [1, 10, 90, 200])
def test_a_digit_has_the_same_bits_alone_as_in_a_whole_pass(digits):
    """Decoding asks for the last position only; with 90 digits and more, sums of long columns run otherwise."""
    loaded = load_model("any-8").with_digits(digits)
    tokens = loaded.addition.example_inputs(loaded.architecture.context, 3)
    whole = loaded.logits(tokens)
    for position in (2 * digits + 4, loaded.architecture.context - 1):
        alone = [loaded.logits(tokens[: position + 1, [pair]], last=1)[:, 0, 0] for pair in range(3)]
        assert np.array_equal(np.stack(alone, 1), whole[:, position])
