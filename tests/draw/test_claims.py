"""Sentences of figures that must stay true for models and inputs that nobody has drawn yet."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from glassformer.draw.figures import (
    causal_tests,
    generated,
    head,
    qkv_maps,
    score_blocks,
    sequence_attention,
    sequence_embeddings,
    sequence_values,
    value_arrows,
    value_demo,
    value_landscape,
)
from glassformer.draw.measure.plane import plane_of
from glassformer.draw.measure.prepare import make_subject
from glassformer.draw.parts.labels import axes_box, outside, pushed_inside
from glassformer.draw.parts.matrices import short_number
from glassformer.draw.registry import FIGURES
from glassformer.draw.shares import percent, span_text
from glassformer.draw.theme import THEMES
from glassformer.errors import UserError
from glassformer.model.architecture import reference
from glassformer.model.projection import Full
from glassformer.runs.load import load
from glassformer.verify.share import Share
from tests.draw.conftest import RUNS, subject_of
from tests.draw.faults import faults
from tests.draw.test_queries import with_architecture

PAST = ("02", "04")  # of a training that models made here never had


def plain(**sizes):
    return reference(vocab=12, context=8, **({"width": 2} | sizes))


def with_layers(architecture, **parts):
    return replace(architecture, layers=tuple(replace(layer, **parts) for layer in architecture.layers))


def with_attention(architecture, **parts):
    attention = replace(architecture.layers[0].attention, **parts)
    return with_layers(architecture, attention=attention)


def with_sequence(text):
    return make_subject(load(RUNS / "plus_last_even"), "plus_last_even", sequences=[text])


def test_what_was_not_measured_is_no_share():
    assert percent(float("nan")) == "no share"
    assert span_text(Share(0.9999, 0.9996, 0.99999, 4_000)) == ">99.9 to >99.9%"
    assert span_text(Share(1.0, 0.9991, 1.0, 4_000)) == "99.9 to 100.0%"


def test_nearly_all_of_the_square_sum_is_not_all():
    rows = np.array([[100.0, 0, 0], [0, 100.0, 0], [0, 0, 1.0]])
    assert ">99.9% of the square sum" in plane_of(rows, "x").note
    assert ">99.9% of the square sum" in plane_of(rows, "x", (0, 1)).note


def test_answers_are_counted_over_all_trials(monkeypatch):
    subject = subject_of("plus_last_even")
    answers = subject.model.forward(subject.trials.contexts, last=1)[:, 0].argmax(1)
    monkeypatch.setattr(head, "SHOWN", 1)
    count = len(np.unique(answers))
    assert count > 1
    assert f", {count} on {len(subject.trials):,} trials" in head.title(head.compute(subject))


def test_scores_of_all_heads_are_counted():
    subject = subject_of("even_repeat_last_odd")
    tokens, context = len(subject.tokens), subject.context
    count = subject.heads * tokens**2 * context * (context + 1) // 2
    assert f"All {count:,} scores" in score_blocks.title(score_blocks.compute(subject))


def test_attention_to_copies_of_the_source_is_said():
    subject = with_sequence("6 1 3 6 5 9 5 +")
    data = sequence_attention.compute(subject)
    weights = data["sequences"][0]["heads"][0]["weights"][-1]
    assert sequence_attention.source_share(data["sequences"][0]) == pytest.approx(weights[0] + weights[3])
    assert "the same token at other places" in sequence_attention.title(data)
    alone = data | {"sequences": [sequence_attention.one_sequence(with_sequence("1 3 6 5 9 5 7 +"), 0)]}
    assert "other places" not in sequence_attention.title(alone)


def test_one_token_says_nothing_of_another():
    assert "another" not in sequence_embeddings.title(sequence_embeddings.compute(with_sequence("4")))
    same = sequence_embeddings.title(sequence_embeddings.compute(with_sequence("4 4 4 4")))
    assert "another place moves" in same
    assert "another token" not in same


def test_an_output_bias_stands_at_the_start_of_the_messages():
    subject = with_architecture(with_attention(plain(), out=Full(bias=True)))
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


def test_no_reason_is_given_twice():
    for why in value_demo.compute(subject_of("plus_last_even"))["relevant"].values():
        assert not ("predicted" in why and "number" in why)


def test_a_model_that_writes_no_constrained_token_has_no_error_rate():
    nothing = Share.of(0, 0)
    data = {"before": {"error": nothing, "step": 0}, "after": {"error": nothing, "step": 5}, "length": 9}
    assert "100%" not in generated.title(data)


def test_places_without_a_code_are_not_made_alike():
    from glassformer.model.position import NoPosition

    subject = with_architecture(replace(plain(), position=NoPosition()))
    data = causal_tests.compute(subject)
    assert "one code for all places" in data["missing"]


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


def test_numbers_and_factors_are_short():
    assert short_number(123_456.0) == "123k"
    assert qkv_maps.factor_text(0.0) == "0\N{MULTIPLICATION SIGN}"


def test_a_label_with_no_room_is_pushed_inside():
    axes = Figure(figsize=(2, 2)).add_axes((0.25, 0.25, 0.5, 0.5))
    frame = axes_box(axes)
    boxes = pushed_inside(np.array([[0.0, 0, 20, 8], [120, 120, 150, 128]]), frame)
    assert not outside(boxes, frame).any()
    np.testing.assert_allclose(boxes[:, 2:] - boxes[:, :2], [[20, 8], [30, 8]])
