"""Chosen constants: each kind by hand, and equal functions with equal counts."""

import math
from dataclasses import replace

import pytest

from glassformer.models.architecture import Architecture, FixedEntry, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.constants import count_constants, count_fixed_nonzero, list_constants
from glassformer.models.head import LowestHead
from glassformer.models.norm import FlatNorm, RMSNorm, SpiralNorm
from glassformer.models.position import CirclePosition, LearnedPosition, SinusoidalPosition, SpiralPosition
from glassformer.models.projection import (
    DirectionProjection,
    FullProjection,
    PatternProjection,
    ZeroProjection,
)
from glassformer.models.relations import AlibiRelation, ColumnRelation, RopeRelation
from glassformer.models.token import ArcTable
from glassformer.zoo import ZOO

BARE = Architecture(layers=(Layer(None),))  # nothing but free parameters
ROOM = replace(BARE, width=3)  # for a spiral's rise
FOUR = FlatNorm(factor=4.0)


def with_attention(**given):
    return replace(BARE, layers=(Layer(Attention(scale=1.0, **given)),))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (BARE, 0),
        (Architecture(position=LearnedPosition()), 1),  # the scale of the scores
        (Architecture(layers=(Layer(Attention(scale=1.0)),)), 0),
        (Architecture(layers=(Layer(), Layer())), 1),  # written alike, so once
        (Architecture(layers=(Layer(Attention(scale=2.0)), Layer())), 2),
        (Architecture(width=4, position=SinusoidalPosition(), final_norm=RMSNorm()), 3),
        (with_attention(relation=RopeRelation((1.0,)), qk_norm=RMSNorm()), 1),  # a rate of 1 is none
        (with_attention(heads=2, head_size=2, relation=AlibiRelation((1.0, 2.0))), 1),
        (with_attention(heads=2, head_size=2, relation=AlibiRelation((2.0, 2.0))), 1),
        (with_attention(relation=AlibiRelation()), 1),
        (with_attention(softmax="softmax1"), 0),  # the 1 in its denominator is none either
        (replace(BARE, final_norm=FlatNorm()), 1),  # a gain of 1 is none
        (replace(BARE, final_norm=SpiralNorm()), 3),
        (replace(ROOM, position=SpiralPosition()), 3),  # phase and offset are 0
        (replace(BARE, position=CirclePosition(loud=2, loud_amplitude=100.0)), 3),
        (replace(BARE, vocab=3, width=2, head=LowestHead(tokens=2)), 0),  # a mask is minus infinity
    ],
)
def test_constants(model, expected):
    assert count_constants(model) == expected


def test_glass_8_by_name_and_value():
    assert dict(list_constants(ZOO["glass-8"].architecture)) == {
        "token.middle": 0.125,
        "position.period": 11.0,
        "position.amplitude": 3.5,
        "position.slope": 0.15,
        "position.slot": 10.0,
        "norm.gain": 4.0,
        "norm.eps": 1e-5,
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("microadder-57", {"period": 10, "amplitude": 3.5, "slope": 0.15, "eps": 1e-5, "scale": 0.5}),
        ("rope-36", {"eps": 1e-6, "frequency": 3**-0.5, "scale": 0.5}),  # its base is 3
        ("nanogpt-58", {"period": 11, "loud": 22, "loud_amplitude": 100, "scale": 2**-0.5}),
        ("tinyadder-95", {"slope": math.log(10)}),  # 10^12 and its like are parameters there
        ("hand-4", {"frequency": math.pi / 6}),
    ],
)
def test_published_and_hand_built_models_by_name_and_value(name, expected):
    found = {one.name.partition(".")[2]: one.value for one in list_constants(ZOO[name].architecture)}
    assert found == pytest.approx(expected, rel=1e-12)


def test_glass_9_with_its_factor_fixed_at_1_is_glass_8():
    nine = replace(ZOO["glass-9"].architecture, fixed=(FixedEntry("attn.q.c", value=1.0),))
    assert list_constants(nine) == list_constants(ZOO["glass-8"].architecture)
    assert count_fixed_nonzero(nine) == 1
    other = replace(nine, fixed=(FixedEntry("attn.q.c", value=1.5),))
    assert count_constants(other) == count_constants(nine) + 1


def test_close_values_count_apart_and_a_sign_does_not():
    """What is shown of a number in four digits may be the same for two."""
    close = (0.30001, 0.30002)
    for relation in (RopeRelation(frequencies=(close[0], close[1], 0.7)), AlibiRelation(slopes=close)):
        found = list_constants(with_attention(heads=2, head_size=6, relation=relation))
        assert [one.value for one in found][:2] == list(close)
    both = with_attention(heads=2, relation=AlibiRelation(slopes=(0.3, -0.3)))
    assert count_constants(both) == 1
    near = SpiralPosition(slots=(0, 1, 9.50000001, 0, 1, 9.50000002, 0, 1))
    mirrored = SpiralPosition(slots=(0, 1, 9.5, 0, 1, -9.5, 0, 1))
    bare = count_constants(replace(BARE, position=SpiralPosition(slots=(0, 1))))
    assert [count_constants(replace(BARE, position=one)) - bare for one in (near, mirrored)] == [2, 1]


def test_a_slot_counts_whatever_its_value():
    ten = tuple(range(10))
    placed = [replace(ROOM, position=SpiralPosition(slots=(*ten, at, *ten))) for at in (9.5, 10.0, 10.5)]
    assert [count_constants(model) for model in placed] == [4, 4, 4]


def test_a_curve_that_is_fixed_counts_like_one_that_is_written():
    learned = replace(BARE, context=4, width=3, position=SpiralPosition(learned=True))
    first = {"amplitude": 3.5, "phase": 0.0, "slope": 0.15, "offset": 0.0}
    fixed = tuple(FixedEntry(f"position.{name}", value=value) for name, value in first.items())
    written = replace(learned, position=SpiralPosition())
    assert set(list_constants(replace(learned, fixed=fixed))) == set(list_constants(written))


def test_a_gain_that_is_fixed_counts_like_one_that_is_written():
    """Two dimensions and two sites, all at 4: one gain, tied or not."""
    free = replace(BARE, layers=(Layer(None, feedforward_norm=RMSNorm()),), final_norm=RMSNorm())
    entries = [
        FixedEntry(f"{site}.gain", (dim,), 4.0) for site in ("ff_norm", "final_norm") for dim in (0, 1)
    ]
    written = replace(BARE, layers=(Layer(None, feedforward_norm=FOUR),), final_norm=FOUR)
    tied = replace(free, ties=(Tie("final_norm.gain", "ff_norm.gain"),), fixed=tuple(entries[:2]))
    for model in (replace(free, fixed=tuple(entries)), tied):
        assert set(list_constants(model)) == set(list_constants(written))


def test_a_list_of_frequencies_or_slopes_counts_like_its_formula():
    """RoPE of base 10,000 and ALiBi of four heads, by formula and written out."""
    turns, falls = RopeRelation(), AlibiRelation()
    rates, slopes = turns.rates(8), tuple(falls.list_slopes(4))
    for formula, written in (
        (
            with_attention(head_size=8, relation=turns),
            with_attention(head_size=8, relation=RopeRelation(rates)),
        ),
        (
            with_attention(heads=4, head_size=2, relation=falls),
            with_attention(heads=4, head_size=2, relation=AlibiRelation(slopes)),
        ),
    ):
        assert count_constants(formula) == count_constants(written) == 1
    odd = (1.0, 0.1, 0.02)
    assert count_constants(with_attention(head_size=6, relation=RopeRelation(odd))) == 2
    assert count_constants(with_attention(head_size=4, relation=RopeRelation((1.0, 0.0)))) == 0
    assert count_constants(with_attention(heads=2, relation=AlibiRelation((0.5, 0.3)))) == 2


def test_a_turn_that_is_fixed_counts_like_a_slot():
    """Both marks at 10, written as slots, or as turns that the architecture fixes; at 3 none counts."""
    ten = tuple(range(10))
    for at, more in ((10.0, 1), (3.0, 0)):
        written = replace(ROOM, position=SpiralPosition(slots=(*ten, at, *ten, at, *ten)))
        learned = SpiralPosition(
            slots=(*ten, "plus", *ten, "equals", *ten), turns=(("plus", 9.0), ("equals", 9.0))
        )
        entries = tuple(FixedEntry(f"position.{mark}", value=at) for mark in ("plus", "equals"))
        fixed = replace(ROOM, position=learned, fixed=entries)
        assert set(list_constants(written)) == set(list_constants(fixed))
        assert count_constants(fixed) == 3 + more


def test_a_number_without_effect_in_so_few_dimensions_does_not_count():
    """The base of a single pair of RoPE or of sines, and the rise of a spiral that is a circle."""
    for relation, dims, expected in (
        (RopeRelation(), 2, 0),
        (RopeRelation(), 4, 1),
        (RopeRelation((0.5,)), 2, 1),
    ):
        assert count_constants(with_attention(head_size=dims, relation=relation)) == expected
    for position, dims, expected in (
        (SinusoidalPosition(), 2, 0),
        (SinusoidalPosition(), 3, 1),
        (SpiralPosition(offset=2.0), 2, 2),  # period and radius
        (SpiralPosition(offset=2.0), 3, 4),
    ):
        assert count_constants(replace(BARE, width=dims, position=position)) == expected


def test_scores_that_are_0_have_no_scale():
    blind = with_attention(q=ZeroProjection(), head_size=2)
    scaled = replace(blind, layers=(Layer(Attention(q=ZeroProjection(), head_size=2)),))
    assert count_constants(blind) == count_constants(scaled) == 0


def test_one_function_in_two_formulas_may_differ():
    """A direction is free as a pattern and one number as an angle: the rule reads formulas, not functions."""
    pattern = with_attention(value_size=1, v=PatternProjection(entries=("-1 1",)), out=FullProjection())
    angle = with_attention(value_size=1, v=DirectionProjection(), out=FullProjection())
    turned = replace(angle, fixed=(FixedEntry("attn.v.angle", value=3 * math.pi / 4),))
    assert (count_constants(pattern), count_constants(turned)) == (0, 1)


def test_initial_values_do_not_count():
    first, other = ArcTable(amplitude=2.5, stride=0.29), ArcTable(amplitude=7.0, stride=0.01)
    assert count_constants(replace(BARE, token=first)) == count_constants(replace(BARE, token=other)) == 0
    for sharpness in (1.0, 9.0):
        relation = ColumnRelation(sharpness=sharpness, spread=0.3)
        assert count_constants(with_attention(relation=relation)) == 0


def test_any_8_by_name_and_value():
    said = dict(list_constants(ZOO["any-8"].architecture))
    assert said == {"token.middle": 0.125, "norm.gain": 6.0, "norm.eps": 6.0}


def test_a_value_and_its_opposite_are_one():
    fixed = (FixedEntry("head.bias", (0,), 0.5), FixedEntry("head.bias", (1,), -0.5))
    assert count_constants(replace(BARE, fixed=fixed)) == 1
    assert count_constants(replace(BARE, fixed=(*fixed, FixedEntry("head.weight", (0, 0), 0.5)))) == 2
