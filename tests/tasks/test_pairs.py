"""Training pairs: their curriculum, their mix, and the four kinds of carry-heavy pairs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.tasks import Addition, add_digits, make_layout, to_numbers
from glassformer.tasks.board import can_be_on_board, draw_board_pairs
from glassformer.tasks.pairs import _carry_heavy, _drawn, draw_problems, draw_training_pairs
from tests.selection import chosen, each

pairs = jax.jit(draw_training_pairs, static_argnums=(2, 3))
drawn = jax.jit(_drawn, static_argnums=(2, 3))  # before the board's pairs are taken out

PLAIN = Addition(carry_mix=0.0, digit_stages=())
BATCH = 50_000  # shares below are known to 0.01 by more than four sigmas


def draw(addition, step, batch=BATCH, draw_pairs=drawn):
    """The two numbers of one step: digit batch."""
    x, y = draw_pairs(jax.random.key(0), jnp.array([step]), batch, addition)
    return np.asarray(x[0]), np.asarray(y[0])


def tuples(x, y):
    """The pairs as numbers, quickly."""
    powers = 10 ** np.arange(len(x), dtype=np.int64)
    return list(zip((powers @ x).tolist(), (powers @ y).tolist(), strict=True))


def heavy(kind, place=2, digits=6, batch=500):
    """Carry-heavy pairs of one kind, as integers and digits."""
    random = np.random.default_rng(0)
    x, y = jnp.asarray(random.integers(0, 10, (2, digits, batch), np.int32))
    same = jnp.ones(batch, jnp.int32)
    return tuple(np.asarray(part) for part in _carry_heavy(x, y, place * same, kind * same, 10))


def test_steps_have_the_digits_of_their_stage():
    x, y = map(np.asarray, pairs(jax.random.key(0), jnp.array([0, 5_000, 9_000]), 2_000, Addition()))
    for part in (x, y):
        assert part.shape == (3, 10, 2_000)
        assert (part[0, 3:] == 0).all()
        assert (part[1, 6:] == 0).all()
        assert (part[2, 9] > 0).any()
        assert 0 <= part.min() <= part.max() <= 9


def test_plain_digits_are_uniform_and_independent():
    x, y = draw(PLAIN, step=0)
    for part in (x, y):
        shares = (part[:, :, None] == np.arange(10)).mean(axis=1)  # digit 10
        np.testing.assert_allclose(shares, 0.1, atol=0.01)
    assert np.mean(x == y) == pytest.approx(0.1, abs=0.01)
    assert np.mean(x[1:] == x[:-1]) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("step", "share"), [(10_000, 0.8), (30_000, 0.4), (50_000, 0.0)])
def test_the_share_of_carry_heavy_pairs(step, share):
    """Both top digits are 0 in 1% of plain pairs, and in 90.3% of carry-heavy ones.

    A carry-heavy number has 10 digits in 1 case of 10; then both are 0 with chance 0.9 x 0.2 x 0.2,
    0, 0.1 x 0.9 and 0 in the four kinds.
    """
    x, y = draw(Addition(), step)
    both_zero = np.mean((x[9] == 0) & (y[9] == 0))
    when_heavy = 0.9 + 0.1 * (0.036 + 0.09) / 4
    assert both_zero == pytest.approx(share * when_heavy + (1 - share) * 0.01, abs=0.01)


def test_the_four_kinds_are_equally_likely():
    """With a stage of one digit each kind shows: x is 9 in 1/5, 1, 1/10 and 1/10 of its pairs."""
    x, y = draw(Addition(digits=1, carry_mix=1.0), step=0)
    assert np.mean(x[0] == 9) == pytest.approx((1 / 5 + 1 + 1 / 10 + 1 / 10) / 4, abs=0.01)
    assert np.mean(x[0] < 5) == pytest.approx((0 + 0 + 1 / 2 + 1 / 2) / 4, abs=0.01)
    assert np.mean(y[0] == 0) == pytest.approx((0 + 1 / 10 + 0 + 1 / 10) / 4, abs=0.01)


def test_one_carrying_column():
    x, y = heavy(kind=0)
    carries = x + y >= 10
    assert carries[2].all()
    assert carries.sum(axis=0).max() == 1
    assert set(np.unique(x[2])) == set(range(5, 10))


def test_nines_and_up_to_three_digits():
    x, y = heavy(kind=1)
    assert (x == 9).all()
    assert (y[3:] == 0).all()
    assert set(np.unique(y[:3])) == set(range(10))


def test_any_number_and_one_digit():
    x, y = heavy(kind=2)
    assert set(np.unique(x)) == set(range(10))
    assert ((y > 0).sum(axis=0) == 1).all()
    assert (y[2] > 0).all()


def test_near_a_power_of_ten():
    x, y = (to_numbers(part, 10) for part in heavy(kind=3))
    assert all(10**6 - 10 <= number < 10**6 for number in x)
    assert set(y) == set(range(20))


STAGES = (0, 5_000, 10_000, 30_000, 50_000)


@pytest.mark.parametrize("step", each(2, STAGES))
def test_no_stage_of_the_curriculum_draws_a_pair_of_the_board(step):
    board = set(draw_board_pairs())
    before, after = (tuples(*draw(Addition(), step, 4 * BATCH, one)) for one in (drawn, pairs))
    assert not board & set(after)
    if step < 50_000:  # carry-heavy pairs would hit the board again and again
        assert board & set(before)
    same = np.array([old == new for old, new in zip(before, after, strict=True)])
    assert {new for new, kept in zip(after, same, strict=True) if not kept} == {(7, 8)}
    assert 0.005 < 1 - same.mean() < 0.01


def test_the_edge_cases_would_be_drawn_often():
    """All of those that the carry-heavy kinds can make, within one large step."""
    found = {pair for step in STAGES[:3] for pair in tuples(*draw(Addition(), step, 4 * BATCH))}
    assert {(0, 0), (0, 1), (9_999_999_999, 0), (9_999_999_999, 1)} <= found


@pytest.mark.parametrize("digits", [1, 2, 12])
def test_numbers_of_other_lengths_avoid_the_board_too(digits):
    addition = Addition(digits=digits, carry_mix=0.5, digit_stages=((1, 1),))
    assert {(0, 0), (0, 1)} <= set(tuples(*draw(addition, 0)))
    x, y = draw(addition, 0, draw_pairs=pairs)
    assert not set(draw_board_pairs()) & set(tuples(x, y))
    assert not can_be_on_board(x, y).any()
    assert x.shape == (digits, BATCH)


def test_a_step_is_drawn_alike_in_any_chunk():
    key, steps = jax.random.key(3), jnp.arange(4)
    together = pairs(key, steps, 8, Addition())[0]
    np.testing.assert_array_equal(together[2], pairs(key, steps[2:3], 8, Addition())[0][0])


@pytest.mark.parametrize("name", chosen(["msb", "lsb"], ["msb"]))
def test_problems_hold_the_right_answers(name):
    addition = Addition(layout=name)
    tokens = jax.jit(draw_problems, static_argnums=(2, 3))(jax.random.key(0), jnp.arange(3), 50, addition)
    x, y = pairs(jax.random.key(0), jnp.arange(3), 50, addition)
    np.testing.assert_array_equal(make_layout(name, 10, 10).decode(tokens), add_digits(x, y, 10))
    for step in range(3):
        sums = [a + b for a, b in zip(to_numbers(x[step], 10), to_numbers(y[step], 10), strict=True)]
        assert to_numbers(make_layout(name, 10, 10).decode(tokens[step]), 10) == sums
