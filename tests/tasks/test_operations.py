"""Operations on columns, against the integers that the digits stand for."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.tasks import Addition, to_digits, to_numbers
from glassformer.tasks.operations import ADD, OPERATIONS
from glassformer.tasks.pairs import draw_training_pairs

INTEGERS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    **{f"times {m}": lambda a, b, m=m: m * a for m in range(2, 10)},
}
POSSIBLE = [(name, base) for name in INTEGERS for base in (2, 3, 10, 16) if OPERATIONS[name].carries <= base]


def test_every_operation_is_tried():
    assert set(INTEGERS) == set(OPERATIONS)


@pytest.mark.parametrize(("name", "base"), POSSIBLE)
@given(data=st.data())
def test_the_columns_write_what_the_integers_are(name, base, data):
    digits = data.draw(st.integers(1, 12))
    a, b = (data.draw(st.integers(0, base**digits - 1)) for _ in "ab")
    task = Addition(layout="columns", digits=digits, base=base, operation=name)
    x, y = (to_digits([number], digits, base) for number in (a, b))
    expected = INTEGERS[name](a, b) % base ** (digits + 1)
    assert to_numbers(task.solve_digits(x, y), base) == [expected]
    assert task.solve(a, b) == expected


def test_a_difference_below_0_begins_with_a_nine():
    task = Addition(layout="columns", digits=3, operation="subtract")
    assert (task.solve(100, 7), task.solve(7, 100)) == (93, 9_907)
    assert task.write_problem(7, 100) == "7 - 100"
    assert (task.words.model, task.words.held_out) == ("subtracter", "differences")


@pytest.mark.parametrize(("name", "base"), POSSIBLE)
def test_carries_and_totals_are_as_many_as_are_said(name, base):
    does = OPERATIONS[name]
    seconds = range(base) if does.has_second else [0]
    totals = {does.add_up(x, y, base) for x in range(base) for y in seconds}
    carries = {does.run_column(x, y, c, base)[1] for x in range(base) for y in seconds for c in range(2)}
    assert (min(totals), max(totals)) == (0, does.count_totals(base) - 1)
    assert carries <= set(range(does.carries)) and max(carries) == does.carries - 1


@pytest.mark.parametrize(("name", "base"), POSSIBLE)
def test_any_carry_can_come_out_of_one_column(name, base):
    """Whatever came in: what the theorem of every length asks of the column below the window."""
    does = OPERATIONS[name]
    seconds = range(base) if does.has_second else [0]
    for into in range(does.carries):
        out = {does.run_column(x, y, into, base)[1] for x in range(base) for y in seconds}
        assert out == set(range(does.carries))


def test_hard_pairs_are_hard_for_a_difference_too():
    """The totals of the columns, and so the carries, are those of the sum."""
    x, y = np.random.default_rng(0).integers(0, 10, (2, 5, 20))
    task = Addition(layout="columns", digits=5, operation="subtract")
    turned_x, turned_y = task.match_pair(x, y)
    assert np.array_equal(task.does.add_up(turned_x, turned_y, 10), x + y)


def test_digits_in_a_byte_do_not_overflow():
    task = Addition(layout="columns", digits=2, base=16, operation="times 9")
    x, y = (to_digits([number], 2, 16).astype(np.int8) for number in (255, 0))
    assert to_numbers(task.solve_digits(x, y), 16) == [9 * 255]


@pytest.mark.parametrize("operation", ["subtract", "times 2"])
def test_training_pairs_have_the_totals_of_those_of_a_sum(operation):
    """So the curriculum, from short numbers to long ones, and the carries in it are the same."""
    add = Addition(layout="columns", digits=4, digit_stages=((10, 2),))
    other = replace(add, operation=operation)
    key, steps = jax.random.key(0), jnp.array([0, 50_000])
    x, y = draw_training_pairs(key, steps, 64, add)
    given_x, given_y = draw_training_pairs(key, steps, 64, other)
    assert jnp.array_equal(given_x, x)
    expected = x + y if operation == "subtract" else 2 * x
    assert jnp.array_equal(other.does.add_up(given_x, given_y, 10), expected)


def test_one_number_is_read_alone():
    task = Addition(layout="columns", digits=2, operation="times 3")
    layout, (x, y) = task.written(), (to_digits([number], 2, 10) for number in (57, 68))
    assert layout.encode(x, y, task.solve_digits(x, y))[:, 0].tolist() == [0, 7, 5, 0, 0, 1, 7, 1]
    assert layout.position_labels() == ("<", "x0", "x1", "0", "<", "z0", "z1", "z2")
    assert task.count_inputs(0) == 100
    assert task.write_problem(57, 68) == "57 x 3"


def test_addition_is_as_it_was():
    task = Addition()
    assert task.does is ADD
    assert (task.words.model, task.words.ability, task.words.demand) == ("adder", "adds", "the sum needs")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"operation": "divide"}, "no operation called 'divide'"),
        ({"operation": "subtract"}, "layout must be columns"),
        ({"operation": "times 3", "layout": "columns", "base": 2}, "times 2 at most"),
    ],
)
def test_what_cannot_be(settings, sentence):
    with pytest.raises(UserError, match=sentence):
        Addition(**settings)
