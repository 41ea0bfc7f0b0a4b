"""Sentences of figures that must stay true for models and inputs that nobody has drawn yet."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.core.theme import THEMES
from glassformer.models.architecture import Architecture, Layer, make_reference_architecture
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.norm import RMSNorm
from glassformer.models.projection import FullProjection, RankOneProjection
from glassformer.models.relations import AlibiRelation, RopeRelation
from glassformer.pictures.figures import (
    causal_tests,
    score_blocks,
    sequence_attention,
    sequence_embeddings,
    sequence_output,
    sequence_values,
    value_arrows,
    value_demo,
    value_landscape,
    worked_example,
)
from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.parts.matrices import PARAMETER
from glassformer.pictures.registry import FIGURES
from glassformer.runs.load import load_model
from tests.pictures.conftest import RUNS, subject_of
from tests.pictures.faults import faults
from tests.pictures.figures.queries import drawn, with_architecture

PAST = ("02", "04")  # of a training that models made here never had


def plain(**sizes):
    return make_reference_architecture(vocab=12, context=8, **({"width": 2} | sizes))


def with_layers(architecture, **parts):
    return replace(architecture, layers=tuple(replace(layer, **parts) for layer in architecture.layers))


def with_attention(architecture, **parts):
    attention = replace(architecture.layers[0].attention, **parts)
    return with_layers(architecture, attention=attention)


def with_sequence(text):
    return make_subject(load_model(RUNS / "plus_last_even"), "plus_last_even", sequences=[text])


def test_attention_to_copies_of_the_source_is_said():
    subject = with_sequence("6 1 3 6 5 9 5 +")
    data = sequence_attention.compute(subject)
    weights = data["sequences"][0]["heads"][0]["weights"][-1]
    assert sequence_attention.measure_source_share(data["sequences"][0]) == pytest.approx(
        weights[0] + weights[3]
    )
    assert "its copies at other positions" in sequence_attention.title(data)
    alone = data | {
        "sequences": [sequence_attention.compute_sequence_attention(with_sequence("1 3 6 5 9 5 7 +"), 0)]
    }
    assert "other positions" not in sequence_attention.title(alone)


def test_one_token_says_nothing_of_another():
    assert "another" not in sequence_embeddings.title(sequence_embeddings.compute(with_sequence("4")))
    same = sequence_embeddings.title(sequence_embeddings.compute(with_sequence("4 4 4 4")))
    assert "another position moves" in same
    assert "another token" not in same


def test_an_output_bias_stands_at_the_start_of_the_messages():
    subject = with_architecture(with_attention(plain(), out=FullProjection(bias=True)))
    np.testing.assert_allclose(subject.attention_bias, subject.model.params["attn.out.bias"], rtol=1e-5)
    data = sequence_values.compute(subject)
    np.testing.assert_allclose(data["chain"][0], subject.model.params["attn.out.bias"], rtol=1e-5)
    np.testing.assert_allclose(data["chain"][-1], data["end"], atol=1e-3)
    assert "with the output bias" in sequence_values.caption(data)
    assert data["carry"].start_name("0") == "bias"
    assert value_arrows.compute(subject)["carry"].start_name("e") == "e + bias"
    assert "and the output bias" in value_landscape.caption(value_landscape.compute(subject))
    assert "output bias" not in sequence_values.caption(sequence_values.compute(subject_of("lucky7")))


def test_softmax1_makes_no_mean():
    subject = with_architecture(with_attention(plain(), softmax="softmax1"))
    assert "weighted mean" not in value_demo.caption(value_demo.compute(subject))
    assert "weighted mean" in value_demo.caption(value_demo.compute(subject_of("plus_last_even")))


def test_places_without_a_code_are_not_made_alike():
    from glassformer.models.position import NoPosition

    subject = with_architecture(replace(plain(), position=NoPosition()))
    data = causal_tests.compute(subject)
    assert "one code for all positions" in data["missing"]


@pytest.mark.parametrize("part", ["attention", "feedforward"])
def test_models_without_a_part_are_drawn_or_refused_in_a_sentence(part):
    subject = with_architecture(with_layers(plain(), **{part: None}))
    refused = []
    for picture in FIGURES:
        if picture.id in PAST:
            continue
        try:
            assert picture.caption(picture.compute(subject))
        except UserError as error:
            refused.append(picture.id)
            assert "no attention" in str(error) or "no feed-forward" in str(error)
    assert ("F3" in refused) == (part == "feedforward")
    assert ("13" in refused) == (part == "attention")
    assert "05" not in refused


def test_three_heads_are_drawn_or_refused_in_a_sentence():
    subject = with_architecture(plain(width=6, heads=3, head_size=2))
    with pytest.raises(UserError, match="3 heads, and this figure has room for 2"):
        sequence_attention.compute(subject)
    assert len(score_blocks.compute(subject)["scores"]) == 3


def test_two_layers_are_said():
    shape = plain()
    subject = with_architecture(replace(shape, layers=shape.layers * 2))
    picture = next(picture for picture in FIGURES if picture.id == "09")
    assert "Of the model's 2 layers" in picture.caption(picture.compute(subject))
    assert "layers" not in picture.caption(picture.compute(subject_of("plus_last_even")))


@pytest.mark.parametrize("factor", [0.02, 30.0])
@pytest.mark.parametrize("number", ["08", "13", "14", "15", "S5", "A3"])
def test_small_and_large_weights_leave_room_for_their_numbers(number, factor):
    subject = subject_of("plus_last_even")
    params = {name: array * np.float32(factor) for name, array in subject.model.params.items()}
    subject = replace(subject, model=replace(subject.model, params=params))
    picture = next(picture for picture in FIGURES if picture.id == number)
    assert faults(picture.draw(picture.compute(subject), THEMES["light"])) == []


NORMED = Attention(
    heads=2, kv_heads=1, head_size=4, q=FullProjection(bias=True), v=FullProjection(bias=True), out=FullProjection(bias=True),
    relation=RopeRelation(), qk_norm=RMSNorm(), k_norm=RMSNorm(),
)  # fmt: skip
SLOPED = Attention(heads=2, head_size=1, relation=AlibiRelation(), k=RankOneProjection(), softmax="softmax1")
NORMED_MODEL = Architecture(12, 8, 3, layers=(Layer(NORMED, FeedForward(), attention_norm=RMSNorm()),))
SLOPED_MODEL = Architecture(12, 8, 2, layers=(Layer(), Layer(SLOPED)))


@pytest.mark.parametrize("module", ["qkv_maps", "qk_space", "focused_query", "score_blocks"])
def test_normed_and_turned_attention_is_drawn_too(module):
    subject = with_architecture(NORMED_MODEL)
    data, figure = drawn(module, subject)
    if module == "qkv_maps":
        assert parameters_drawn(figure) == {n: a.size for n, a in subject.model.params.items() if "attn" in n}
    if module == "score_blocks":
        tokens, places = np.array([3, 1, 4, 1, 5, 9, 2, 6]), np.arange(8)
        trace = subject.model.trace(tokens)["attn.scores.1"]
        found = data["scores"][1][tokens[:, None], places[:, None], tokens[None], places[None]]
        np.testing.assert_allclose(found[np.tri(8) > 0], trace[np.tri(8) > 0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("module", ["qkv_maps", "qk_space"])
def test_the_last_of_two_layers_with_heads_of_one_dimension_is_drawn_without_a_fault(module):
    subject = with_architecture(SLOPED_MODEL)
    _, figure = drawn(module, subject)
    assert faults(figure) == []
    if module == "qkv_maps":
        last = {n: a.size for n, a in subject.model.params.items() if n.startswith("layer1.attn")}
        assert parameters_drawn(figure) == last


def parameters_drawn(figure):
    """How many numbers of each parameter a figure shows."""
    images = [image for axes in figure.axes for image in axes.images if image.get_gid()]
    return {image.get_gid().removeprefix(PARAMETER): image.get_array().size for image in images}


@pytest.mark.parametrize(
    "module",
    [sequence_embeddings, sequence_attention, sequence_values, sequence_output, value_arrows, worked_example],
)
@pytest.mark.parametrize("text", ["4", "4 1 +"])
def test_short_sequences_are_drawn(module, text: str) -> None:
    subject = subject_of("plus_last_even")
    tokens = subject.automaton.ids(text)
    data = module.compute(replace(subject, sequences=(tokens, *subject.sequences[:2])))
    figure = module.draw(data, THEMES["light"])
    assert figure.axes
    assert "nan" not in module.caption(data)
