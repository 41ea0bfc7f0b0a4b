"""Figures 01 to 06: architecture, learning curve, training data, generated sequences, embeddings."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import rc_context

from glassformer.core.theme import THEMES
from glassformer.models.architecture import Architecture, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.norm import RMSNorm
from glassformer.models.position import NoPosition, SpiralPosition
from glassformer.models.projection import FullProjection
from glassformer.models.relations import AlibiRelation, RopeRelation
from glassformer.pictures.figures import (
    architecture,
)
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import make_theme_settings
from tests.models.relations import BowlRelation, SpinRelation, WindowRelation
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.faults import faults

LIGHT = THEMES["light"]
RICH = Layer(
    Attention(heads=4, kv_heads=2, out=FullProjection(bias=True), relation=RopeRelation(), qk_norm=RMSNorm()),
    FeedForward(hidden=24, bend="silu", gate=FullProjection()),
    RMSNorm(),
    RMSNorm(),
)
PLAIN = Layer(
    Attention(heads=2, head_size=4, relation=AlibiRelation()), FeedForward(bend="gelu"), residual=False
)
ARCHITECTURES = {
    "two layers": Architecture(12, 8, 8, layers=(RICH, PLAIN), final_norm=RMSNorm()),
    "tied": Architecture(
        12, 8, 8, position=NoPosition(), layers=(RICH,), ties=(Tie("head.weight", "token.weight"),)
    ),
    "stacked": Architecture(
        12,
        8,
        5,
        position=SpiralPosition(),
        position_dims=3,
        layers=(Layer(None), Layer(Attention(out=FullProjection()), None)),
    ),
}


def built(subject: Subject, shape: Architecture) -> Subject:
    """A subject of another architecture, with random weights."""
    random = np.random.default_rng(0)
    params = {
        name: random.normal(size=one.shape).astype("f4") for name, one in list_parameters(shape).items()
    }
    return replace(subject, model=Model(shape, params))


@pytest.mark.parametrize("name", NAMES)
def test_architecture_counts_what_is_stored(name: str) -> None:
    subject = subject_of(name)
    data = architecture.compute(subject)
    counts = {box.title: box.count for stage in data["stages"] for box in stage.boxes if box.count}
    sizes = {key: np.asarray(array).size for key, array in subject.model.params.items()}
    expected = {
        "tokens": sizes["token.weight"],
        "positions": sizes["position.weight"],
        "queries": sizes["attn.q.weight"],
        "keys": sizes["attn.k.weight"],
        "values": sizes["attn.v.weight"],
        "up": sizes["ff.up.weight"] + sizes["ff.up.bias"],
        "down": sizes["ff.down.weight"] + sizes["ff.down.bias"],
        "head": sizes["head.weight"] + sizes["head.bias"],
    }
    assert counts == expected
    assert data["total"] == sum(sizes.values())
    assert f"{data['total']:,} parameters" in architecture.title(data)


def test_architecture_of_the_reference_model_is_as_the_design_says() -> None:
    data = architecture.compute(subject_of("plus_last_even"))
    assert {stage.title: stage.count for stage in data["stages"]} == {
        "embedding": 40,
        "attention": 12,
        "feed-forward": 162,
        "read-out": 36,
    }
    assert data["largest"].title == "feed-forward"
    shapes = {(wire.start, wire.end): wire.shape for stage in data["stages"] for wire in stage.wires}
    x = architecture.TIMES
    assert shapes["scores", "softmax"] == f"8 {x} 8"
    assert shapes["ReLU", "down"] == f"8 {x} 32"
    assert shapes["head", "softmax"] == f"8 {x} 12"


@pytest.mark.parametrize(("name", "adds"), [("plus_last_even", 2), ("lucky7_no_resid", 0)])
def test_architecture_draws_a_plus_and_a_dot_for_every_skip(name: str, adds: int) -> None:
    data = architecture.compute(subject_of(name))
    with rc_context(make_theme_settings(LIGHT)):
        (axes,) = architecture.draw(data, LIGHT).axes
    plus = [line for line in axes.lines if line.get_marker() == "+"]
    dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_markersize() < 5]
    assert len(plus) == len(dots) == adds
    stream = {line.get_ydata()[0] for line in plus}
    assert stream == {line.get_ydata()[0] for line in dots}  # both on the stream, above any norm
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("skip") == adds and texts.count("no skip") == 2 - adds


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_architecture_of_any_kind_adds_up_and_is_readable(name: str) -> None:
    subject = built(subject_of("plus_last_even"), ARCHITECTURES[name])
    data = architecture.compute(subject)
    assert sum(stage.count for stage in data["stages"]) == data["total"]
    assert data["total"] == sum(array.size for array in subject.model.params.values())
    branches = [stage for stage in data["stages"] if stage.skip is not None]
    residuals = [layer.residual for layer in ARCHITECTURES[name].layers]
    assert {stage.skip for stage in branches} == set(residuals)
    for stage in branches:  # the branch meets the norm first, and the skip does not
        entries = [wire.end for wire in stage.wires if not wire.start]
        has_norm = any(box.title == "norm" for box in stage.boxes)
        assert (entries == ["norm"]) == has_norm
    with rc_context(make_theme_settings(LIGHT)):
        assert not faults(architecture.draw(data, LIGHT))


def test_relations_of_ones_own_have_their_own_lines_and_counts():
    for relation, line in (
        (WindowRelation(), "minus 3 outside the window (window)"),
        (SpinRelation(), "rotated by position (spin)"),
        (BowlRelation(), "minus c (distance - mu)^2 (bowl)"),
    ):
        shape = Architecture(12, 8, 2, layers=(Layer(Attention(relation=relation)),))
        data = architecture.compute(built(subject_of(NAMES[0]), shape))
        (scores,) = [box for stage in data["stages"] for box in stage.boxes if box.title == "scores"]
        assert line in scores.lines and not any("ALiBi" in one for one in scores.lines)
        assert scores.count == (2 if relation.kind == "bowl" else 0)
