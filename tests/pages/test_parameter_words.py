"""A parameter says what it reaches."""

from typing import get_args

import pytest

from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.forward import list_parameters
from glassformer.models.position import Position, SpiralPosition
from glassformer.models.relations import Relation
from glassformer.pages.model_part import make_layer_part
from glassformer.pages.parameter_words import describe_parameter, list_own_words
from glassformer.pages.payload import make_page_payload
from glassformer.runs.load import load_model
from tests.models.relations import BowlRelation, SpinRelation, WindowRelation


def test_a_parameter_says_what_it_reaches():
    page = make_page_payload(load_model("microadder-57"))
    parts = {one["name"]: one for one in page["model"]["parameters"]}
    assert list(parts) == list(list_parameters(load_model("microadder-57").architecture))
    assert parts["attn.q.angle"]["acts"][0] == "attn.q" and parts["attn.q.angle"]["acts"][-1] == "logits"
    assert "embedded" not in parts["head.weight"]["acts"] and "attn.v" in parts["head.weight"]["acts"]
    assert parts["head.weight"]["tied"] == ["attn.v.weight", "ff.down.weight"]
    assert [name for name, one in parts.items() if one["dead"]] == ["position.z_hi"]


SPIRAL = SpiralPosition(learned=True, slots=(0, "end", 1, "own"), turns=(("end", 2.0),))


@pytest.mark.parametrize("position", [*(kind() for kind in get_args(Position)), SPIRAL], ids=repr)
@pytest.mark.parametrize("relation", [kind() for kind in get_args(Relation)], ids=repr)
def test_every_parameter_of_a_position_has_words_of_its_own(position, relation):
    model = Architecture(5, 4, 2, position=position, layers=(Layer(Attention(relation=relation)),))
    own = list_own_words(model)
    names = [name for name in list_parameters(model) if name.startswith(("position.", "attn.relation."))]
    assert set(names) <= set(own)
    assert [describe_parameter(name, own).partition(": ")[2] for name in names] == [
        own[name] for name in names
    ]


def test_vectors_and_turns_of_a_spiral_are_told_apart():
    own = list_own_words(Architecture(5, 4, 2, position=SPIRAL))
    assert describe_parameter("position.own", own) == "position: position own, learned separately"
    assert describe_parameter("position.end", own) == "position: turn of position end on the curve"


def test_a_parameter_without_words_gets_its_name_and_its_part():
    own = list_own_words(Architecture(5, 4, 2, layers=(Layer(Attention(relation=BowlRelation())),) * 2))
    assert (
        describe_parameter("layer1.attn.relation.c", own)
        == "layer 1, attention: how fast scores fall beside mu"
    )
    assert (
        describe_parameter("layer1.attn.relation.mu", own)
        == "layer 1, attention: parameter 'mu' of the positions inside the scores"
    )
    assert describe_parameter("position.frequency") == "position: parameter 'frequency' of the positions"


def test_the_page_names_a_relation_that_it_does_not_know():
    parts = [
        make_layer_part(Architecture(5, 4, 2, layers=(Layer(Attention(relation=one)),)), 0)
        for one in (WindowRelation(), SpinRelation())
    ]
    assert parts[0]["bias"] == "minus 3 outside the window (window)" and parts[0]["slopes"] == []
    assert parts[1]["rotation"] == "spin" and parts[1]["bias"] == ""
