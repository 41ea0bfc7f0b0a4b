"""Positions: tables by hand, and two that act on scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.position import (
    CirclePosition,
    LearnedPosition,
    NoPosition,
    SinusoidalPosition,
    SpiralPosition,
)
from glassformer.models.relations import AlibiRelation, LowColumnRelation, NoRelation, RopeRelation

OPS = NumpyOps()


@pytest.mark.parametrize(
    ("position", "size", "constants"),
    [
        (NoPosition(), 0, 0),
        (LearnedPosition(), 12, 0),
        (SinusoidalPosition(), 0, 1),
        (SpiralPosition(), 0, 5),
        (SpiralPosition(learned=True), 4, 1),
        (SpiralPosition(slots=(0, "zero", 0.5, "equals")), 3, 6),
        (SpiralPosition(slots=(0, 1, 0, 1)), 0, 5),
        (SpiralPosition(slots=(0, 1, 0, 10)), 0, 7),  # one column per number: 1 and 10 were placed,
        (SpiralPosition(slots=(0, "end", 1, "end"), turns=(("end", 2.0),)), 1, 5),
        (SpiralPosition(slots=(0, "end", 1, "own"), turns=(("end", 2.0),)), 4, 5),
        (SpiralPosition(slope=0.0), 0, 5),
        (CirclePosition(), 0, 2),
        (CirclePosition(at=1, loud=2), 0, 4),
    ],
)
def test_counts_for_four_places_in_three_dimensions(position, size, constants):
    stored = position.parameters("position", 4, 3)
    assert sum(parameter.size for parameter in stored.values()) == size
    assert sum(np.size(value) for value in position.list_constants(8).values()) == constants
    values = {name: np.ones(parameter.shape) for name, parameter in stored.items()}
    assert position.table(OPS, values, "position", 4, 3).shape == (4, 3)


def test_relations_count_their_numbers():
    assert NoRelation().list_constants(8) == {}
    assert RopeRelation().list_constants(8) == {"base": 10_000.0}
    assert RopeRelation(frequencies=(1.0, 0.5)).list_constants(8) == {"frequency": (0.5,)}
    assert AlibiRelation().list_constants(8) == {"slope": 2.0**-8}
    assert AlibiRelation(slopes=(2.0, 0.0)).list_constants(8) == {"slope": (2.0, 0.0)}


def test_spiral_by_hand():
    spiral = SpiralPosition(period=4, amplitude=2.0, slope=0.5, slots=(1, "zero", 2, "equals"))
    table = spiral.table(OPS, {"position.equals": np.array([7.0, 8.0, 9.0])}, "position", 4, 3)
    np.testing.assert_allclose(table, [[0, 2, 0.5], [0, 0, 0], [-2, 0, 1], [7, 8, 9]], atol=1e-15)


def test_a_learned_turn_is_a_place_on_the_curve():
    """At 3 the turn of `end` makes the row of slot 3, and it starts where it is told to."""
    learned = SpiralPosition(period=4, slots=(1, "end", 2, "end"), turns=(("end", 2.5),))
    values = {"position.end": np.array(3.0)}
    made = learned.table(OPS, values, "position", 4, 3)
    written = SpiralPosition(period=4, slots=(1, 3, 2, 3)).table(OPS, {}, "position", 4, 3)
    np.testing.assert_array_equal(made, written)
    (start,) = learned.parameters("position", 4, 3).values()
    assert (start.law, start.scale, start.shape) == ("constant", 2.5, ())


def test_a_learned_spiral_at_the_frozen_values_is_the_frozen_one():
    values = {"amplitude": 3.5, "phase": 0.0, "slope": 0.15, "offset": 0.0}
    learned = SpiralPosition(learned=True).table(
        OPS, {f"p.{k}": np.float64(v) for k, v in values.items()}, "p", 9, 4
    )
    np.testing.assert_array_equal(learned, SpiralPosition().table(OPS, {}, "p", 9, 4))


def test_circle_by_hand():
    table = CirclePosition(period=4, amplitude=2.0, at=1, loud=2, loud_amplitude=10.0).table(
        OPS, {}, "position", 4, 4
    )
    np.testing.assert_allclose(
        table, [[0, 0, 10, 0], [0, 10, 0, 0], [0, 0, -2, 0], [0, -2, 0, 0]], atol=1e-14
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_period_on_a_circle_leads_back_to_the_last_bit(dtype):
    table = CirclePosition(period=11, amplitude=100.0).table(NumpyOps(dtype), {}, "position", 44, 2)
    np.testing.assert_array_equal(table[:22], table[22:])


def test_a_circle_outside_the_dimensions():
    with pytest.raises(UserError, match=r"at of a circle must be between 0 and 2, but it is 3"):
        CirclePosition(at=3).parameters("position", 8, 4)


def test_sinusoidal_by_hand():
    table = SinusoidalPosition(base=100.0).table(OPS, {}, "position", 3, 4)
    np.testing.assert_allclose(table[2], [np.sin(2), np.cos(2), np.sin(0.2), np.cos(0.2)])


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(2, 7))
@settings(deadline=None, derandomize=True)
def test_rope_scores_depend_on_distance_alone(query, key, shift, size):
    x, y = np.random.default_rng(size).normal(size=(2, size, 1, 1))

    def score(i: int, j: int) -> float:
        turned = [RopeRelation(base=10.0).turn(OPS, side, range(at, at + 1)) for side, at in ((x, i), (y, j))]
        return float(np.sum(turned[0] * turned[1]))

    assert score(query, key) == pytest.approx(score(query + shift, key + shift), abs=1e-12)


def test_rope_by_hand():
    """A quarter turn a place on the first pair; the fifth dimension has no partner and stays."""
    x = np.array([1.0, 0.0, 1.0, 0.0, 5.0])[:, None, None]
    turned = RopeRelation(frequencies=(np.pi / 2, np.pi)).turn(OPS, x, range(1, 2))
    np.testing.assert_allclose(turned[:, 0, 0], [0, 1, -1, 0, 5], atol=1e-15)


def test_alibi_slopes_halve_from_head_to_head():
    assert [AlibiRelation().slope(head, 8) for head in range(3)] == [0.5, 0.25, 0.125]
    assert AlibiRelation(slopes=(3.0, 1.0)).slope(1, 2) == 1.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: SpiralPosition().parameters("position", 8, 1),
            "dimensions of a spiral must be at least 2, but it is 1",
        ),
        (
            lambda: SpiralPosition(slots=(1, 2)).parameters("position", 8, 3),
            "slots of a spiral must be one per position (8) or none, but it is 2",
        ),
        (
            lambda: RopeRelation((1.0, 2.0)).rates(3),
            "RoPE frequencies must be at most 1, one per pair, but it is 2",
        ),
        (
            lambda: AlibiRelation((1.0,)).slope(0, 2),
            "ALiBi slopes must be one per head (2) or none, but it is 1",
        ),
    ],
)
def test_bad_settings_get_one_sentence(call, sentence):
    with pytest.raises(UserError) as error:
        call()
    assert str(error.value) == sentence


def test_low_columns_mask_what_is_further_up():
    relation = LowColumnRelation(columns=4, highest=1)
    params = {"r.sharpness": np.array([2.0]), "r.peak": np.array([1.0])}
    assert relation.measure_bias(params, "r", 0, 1, (-1.0, 0.0, 1.0)) == [-8.0, -2.0, 0.0]
    assert relation.measure_bias(params, "r", 0, 1, (2.0, 3.0)) == [-1e30, -1e30]
    assert relation.list_constants(8) == {"highest": 1.0}  # wiring, by the rule


def test_the_values_of_a_number_that_is_subtracted_have_a_minus():
    assert LowColumnRelation(columns=3).value_signs(9) is None
    assert LowColumnRelation(columns=3, minus=(1,)).value_signs(9) == [1, 1, 1, -1, -1, -1, 1, 1, 1]
    assert LowColumnRelation(columns=3, minus=(1,)).with_columns(2).value_signs(5) == [1, 1, -1, -1, 1]
