"""Addition by columns against Python's integers, and the curriculum by its numbers."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Addition, Task, add_column, add_digits, to_digits, to_numbers
from glassformer.tasks.addition import schedule_carry_share, schedule_digits

NUMBER = st.integers(0, 10**10 - 1)


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=20))
def test_columns_add_as_python_does(problems):
    x, y = zip(*problems, strict=True)
    sums = to_numbers(add_digits(to_digits(x, 10, 10), to_digits(y, 10, 10), 10), 10)
    assert sums == [a + b for a, b in problems]


@pytest.mark.parametrize(
    ("x", "y"), [(0, 0), (9_999_999_999, 1), (9_999_999_999, 9_999_999_999), (1_111_111_111, 8_888_888_889)]
)
def test_edge_cases(x, y):
    assert to_numbers(add_digits(to_digits([x], 10, 10), to_digits([y], 10, 10), 10), 10) == [x + y]


def test_every_column():
    for x in range(10):
        for y in range(10):
            for carry in (0, 1):
                digit, out = add_column(x, y, carry, 10)
                assert 10 * out + digit == x + y + carry


def test_numpy_and_jax_add_alike_and_keep_leading_axes():
    random = np.random.default_rng(0)
    x, y = random.integers(0, 10, (2, 3, 10, 5), np.int32)  # step digit batch
    by_jax = add_digits(jnp.asarray(x), jnp.asarray(y), 10)
    assert by_jax.shape == (3, 11, 5)
    np.testing.assert_array_equal(by_jax, add_digits(x, y, 10))


@given(st.integers(0, 10**30 - 1))
def test_digits_and_numbers_are_inverse(number):
    assert to_numbers(to_digits([number], 30, 10), 10) == [number]


def test_digits_are_units_first():
    assert to_digits([57, 8], 3, 10).T.tolist() == [[7, 5, 0], [8, 0, 0]]
    with pytest.raises(UserError, match="a number must be between 0 and 99, but it is 100"):
        to_digits([100], 2, 10)


def test_curriculum_of_digits():
    steps = np.array([0, 1_999, 2_000, 6_999, 7_000, 60_000])
    assert schedule_digits(Addition(), steps).tolist() == [3, 3, 6, 6, 10, 10]
    assert schedule_digits(Addition(digits=4), steps).tolist() == [3, 3, 4, 4, 4, 4]
    assert schedule_digits(Addition(digit_stages=()), steps).tolist() == [10] * 6


def test_curriculum_of_carries():
    steps = np.array([0, 15_000, 30_000, 45_000, 60_000])
    np.testing.assert_allclose(schedule_carry_share(Addition(), steps), [0.8, 0.8, 0.4, 0, 0])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"digits": 0}, "digits must be at least 1, but it is 0"),
        ({"layout": "lbs"}, "no layout called 'lbs'; did you mean 'lsb'?"),
        ({"carry_mix": 1.5}, "carry_mix must be a share between 0 and 1, but it is 1.5"),
        ({"carry_gone": 9}, "carry_gone must be above carry_until = 15000, but it is 9"),
        (
            {"digit_stages": ((5, 3), (5, 6))},
            "digit_stages must be (until step, most digits) pairs with rising steps and at least 1 digit, "
            "but it is ((5, 3), (5, 6))",
        ),
    ],
)
def test_bad_settings_get_one_sentence(settings, sentence):
    with pytest.raises(UserError) as error:
        Addition(**settings)
    assert str(error.value) == sentence


@given(st.integers(2, 16), st.integers(1, 40), st.data())
def test_every_base(base, digits, data):
    a, b = (data.draw(st.integers(0, base**digits - 1)) for _ in "ab")
    x, y = (to_digits([number], digits, base) for number in (a, b))
    assert to_numbers(x, base) == [a]
    assert to_numbers(add_digits(x, y, base), base) == [a + b]


@pytest.mark.parametrize(("base", "words"), [(1, "at least 2"), (17, "at most 16")])
def test_bases_that_there_are(base, words):
    with pytest.raises(UserError, match=f"base must be {words}, but it is {base}"):
        Addition(base=base)


def test_a_task_that_does_not_say_its_base_has_base_ten():
    assert "base" not in to_tree(Addition())
    assert from_tree(Task, {"name": "addition", "digits": 3}, "task") == Addition(digits=3)
    seven = Addition(digits=2, base=7)
    assert from_tree(Task, to_tree(seven), "task") == seven
    assert (seven.count_inputs(8), len(seven.tokens())) == (7**4, 7)
    assert Addition(base=16, layout="msb").tokens()[10:17] == ("a", "b", "c", "d", "e", "f", "=")
