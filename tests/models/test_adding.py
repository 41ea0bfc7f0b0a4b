"""One sum: what is asked, what is read, how sure the model was, and what is no number."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.adding import write_sum
from glassformer.tasks import Addition
from tests.verify.fakes import Adder


class Hesitant(Adder):
    """The right digit has logit 5, the one above it 5 - (its place of writing + 1) / 10."""

    def logits(self, tokens, last=None):
        logits = super().logits(tokens, last)
        near = 5 - (len(tokens) - self.layout.prompt_length + 1) / 10
        return 5 * logits + near * np.roll(logits, 1, axis=0)


def test_a_sum_with_its_margins_in_the_order_of_writing():
    task = Addition(digits=2)
    found = write_sum(Hesitant(task), task, 57, 68)
    assert (found.a, found.b, found.expected, found.got, found.right) == (57, 68, 125, 125, True)
    assert [(digit.place, digit.token, digit.label) for digit in found.digits] == [
        (0, 5, "5"),
        (1, 2, "2"),
        (2, 1, "1"),
    ]
    assert [digit.margin for digit in found.digits] == pytest.approx([0.1, 0.2, 0.3])
    assert found.margin == pytest.approx(0.1)


def test_places_where_the_highest_digit_comes_first():
    task = Addition(digits=2, layout="msb")
    found = write_sum(Hesitant(task), task, 57, 68)
    assert [(digit.place, digit.label) for digit in found.digits] == [(2, "1"), (1, "2"), (0, "5")]
    assert found.got == 125


def test_a_wrong_sum_and_one_that_is_no_number():
    task = Addition(digits=2, layout="msb")
    slip = write_sum(Adder(task, slips=lambda x, y: x[0] == 7), task, 57, 68)
    assert (slip.got, slip.right, slip.expected) == (225, False, 125)

    class Marker(Adder):
        def logits(self, tokens, last=None):
            return np.roll(super().logits(tokens, last), 8, axis=0)

    text = write_sum(Marker(task), task, 57, 68)
    assert (text.got, text.right, text.digits[1].label) == ("9=+", False, "=")


@pytest.mark.parametrize("number", [-1, 100, 1.0, "5", None, True, 10**30, np.float32(3)])
def test_what_is_no_number_of_the_task(number):
    task = Addition(digits=2)
    for pair in ((number, 1), (1, number)):
        with pytest.raises(UserError) as error:
            write_sum(Adder(task), task, *pair)
        name = "a" if pair[1] == 1 and pair[0] is number else "b"
        assert str(error.value) == f"{name} must be an integer between 0 and 99, but it is {number!r}"


def test_numpys_integers_are_integers():
    task = Addition(digits=2)
    found = write_sum(Adder(task), task, np.int8(57), np.uint16(68))
    assert (type(found.a), found.got) == (int, 125)
