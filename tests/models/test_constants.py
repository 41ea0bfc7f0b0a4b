"""Chosen constants: each kind by hand, and equal functions with equal counts."""

from dataclasses import replace

import pytest

from glassformer.models.architecture import Architecture, FixedEntry, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.constants import count_constants, count_fixed_nonzero, list_constants
from glassformer.models.head import LowestHead
from glassformer.models.norm import FlatNorm, RMSNorm, SpiralNorm
from glassformer.models.position import (
    AlibiRelation,
    CirclePosition,
    LearnedPosition,
    RopeRelation,
    SinusoidalPosition,
    SpiralPosition,
)
from glassformer.zoo import ZOO

BARE = Architecture(layers=(Layer(None),))  # nothing but free parameters
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
        (Architecture(position=SinusoidalPosition(), final_norm=RMSNorm()), 3),
        (with_attention(relation=RopeRelation((1.0,)), qk_norm=RMSNorm()), 1),  # a rate of 1 is none
        (with_attention(heads=2, head_size=2, relation=AlibiRelation((1.0, 2.0))), 1),
        (with_attention(heads=2, head_size=2, relation=AlibiRelation((2.0, 2.0))), 1),
        (with_attention(relation=AlibiRelation()), 1),
        (replace(BARE, final_norm=FlatNorm()), 1),  # a gain of 1 is none
        (replace(BARE, final_norm=SpiralNorm()), 3),
        (replace(BARE, position=SpiralPosition()), 3),  # phase and offset are 0
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
        "position.slot 10": 10.0,
        "norm.gain": 4.0,
        "norm.eps": 1e-5,
    }


def test_glass_9_with_its_factor_fixed_at_1_is_glass_8():
    nine = replace(ZOO["glass-9"].architecture, fixed=(FixedEntry("attn.q.c", value=1.0),))
    assert list_constants(nine) == list_constants(ZOO["glass-8"].architecture)
    assert count_fixed_nonzero(nine) == 1
    other = replace(nine, fixed=(FixedEntry("attn.q.c", value=1.5),))
    assert count_constants(other) == count_constants(nine) + 1


def test_a_slot_counts_whatever_its_value():
    ten = tuple(range(10))
    placed = [replace(BARE, position=SpiralPosition(slots=(*ten, at, *ten))) for at in (9.5, 10.0, 10.5)]
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


def test_a_value_and_its_opposite_are_one():
    fixed = (FixedEntry("head.bias", (0,), 0.5), FixedEntry("head.bias", (1,), -0.5))
    assert count_constants(replace(BARE, fixed=fixed)) == 1
    assert count_constants(replace(BARE, fixed=(*fixed, FixedEntry("head.weight", (0, 0), 0.5)))) == 2
