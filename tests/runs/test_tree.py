"""Configurations as plain trees: every one comes back the same, and what does not fit gets one sentence."""

import json
import tomllib
from dataclasses import replace

import pytest
import tomli_w

from glassformer.checker.claims import hash_model
from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, FixedEntry, Layer, Tie, make_reference_architecture
from glassformer.models.attention import Attention
from glassformer.models.position import Position, SinusoidalPosition, SpiralPosition
from glassformer.models.token import ArcTable
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import load_model
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Addition
from glassformer.training.settings import TrainSettings
from glassformer.zoo.entry import WEIGHTS

ADDER = Run(
    name="adder",
    task=Addition(digits=2, digit_stages=((5, 1), (9, 2))),
    model=replace(make_reference_architecture(context=8), ties=(Tie("head.weight", "token.weight"),)),
)
BARE = Run(
    model=Architecture(position=SinusoidalPosition(), layers=(Layer(attention=None), Layer(Attention())))
)


@pytest.mark.parametrize("run", [*CONFIGURATIONS.values(), ADDER, BARE], ids=lambda run: run.name)
def test_every_configuration_comes_back_from_toml(run):
    text = tomli_w.dumps(to_tree(run))
    assert from_tree(Run, tomllib.loads(text), "") == run
    assert from_tree(Run, to_tree(run), "") == run


def test_settings_that_are_not_given_keep_their_defaults():
    run = from_tree(Run, {"train": {"steps": 7}, "task": {"name": "lucky7"}}, "")
    assert run.train == TrainSettings(steps=7)
    assert run.task.s == 0.25


def test_whole_numbers_serve_as_numbers():
    train = from_tree(TrainSettings, {"peak_rate": 1}, "train")
    assert (train.peak_rate, type(train.peak_rate)) == (1.0, float)


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ({"trian": {}}, "no setting called 'trian'; did you mean 'train'?"),
        ({"train": {"stpes": 1}}, "no setting of train called 'stpes'; did you mean 'steps'?"),
        (
            {"train": {"zzz": 1}},
            "no setting of train called 'zzz'; valid: batch, beta1, beta2, clip, device, ",
        ),
        ({"train": 5}, "train must be a table of settings, but it is 5"),
        ({"train": {"steps": "10"}}, "train.steps must be a whole number, but it is '10'"),
        ({"train": {"steps": 1.5}}, "train.steps must be a whole number, but it is 1.5"),
        ({"train": {"steps": True}}, "train.steps must be a whole number, but it is True"),
        ({"train": {"clip": True}}, "train.clip must be a number, but it is True"),
        ({"train": {"peak_rate": float("inf")}}, "train.peak_rate must be a number, but it is inf"),
        (
            {"train": {"schedule": "cosin"}},
            "no choice of train.schedule called 'cosin'; did you mean 'cosine'?",
        ),
        (
            {"train": {"schedule": 3}},
            "no choice of train.schedule called '3'; valid: cosine, linear, constant",
        ),
        ({"train": {"seeds": 0}}, "train.seeds must be at least 1, but it is 0"),
        ({"name": 3}, "name must be a text, but it is 3"),
        ({"name": "a/b"}, "name must be letters, digits, '-', '_' and '.', but it is 'a/b'"),
        ({"name": ""}, "name must be letters, digits, '-', '_' and '.', but it is ''"),
        (
            {"task": {"name": "lucky8"}},
            "no task called 'lucky8'; did you mean 'lucky7'? (glassformer list tasks)",
        ),
        ({"task": {"name": ["lucky7"]}}, "no task called '['lucky7']'; did you mean 'lucky7'?"),
        ({"task": {"name": "lucky7", "p": 0.3}}, "no setting of task called 'p'; "),
        (
            {"task": {"name": "plus_last_even", "p": 2}},
            "task.p must be a probability between 0 and 1, but it is 2.0",
        ),
        (
            {"model": {"position": {"kind": "lerned"}}},
            "no kind of model.position called 'lerned'; did you mean 'learned'?",
        ),
        ({"model": {"layers": 3}}, "model.layers must be a list, but it is 3"),
        ({"model": {"layers": []}}, "model.layers must be at least one layer, but it is ()"),
        (
            {"model": {"layers": [{"residul": False}]}},
            "no setting of model.layers.0 called 'residul'; did you mean 'residual'?",
        ),
        (
            {"model": {"layers": [{"residual": 0}]}},
            "model.layers.0.residual must be true or false, but it is 0",
        ),
        (
            {"model": {"layers": [{"attention": {"heads": 4, "kv_heads": 3}}]}},
            "model.layers.0.attention.kv_heads must be a divisor of the 4 heads, but it is 3",
        ),
        ({"model": {"context": 0}}, "model.context must be at least 1, but it is 0"),
        (
            {"model": {"context": 20}},
            "model.context must be at most 19, one less than data.min_length, but it is 20",
        ),
        ({"model": {"vocab": 5}}, "model.vocab must be 12, as the task has, but it is 5"),
        (
            {"task": {"name": "addition", "digits": 2, "digit_stages": [[5, 1, 7]]}},
            "task.digit_stages.0 must be a list of 2, but it has 3",
        ),
        (
            {"task": {"name": "addition", "digits": 2}, "model": {"context": 7}},
            "model.context must be at least 8, as the layout needs, but it is 7",
        ),
        ({"measure": {"positions": 0}}, "measure.positions must be at least 1, but it is 0"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(tree, sentence):
    with pytest.raises(UserError) as error:
        from_tree(Run, tree, "")
    said = str(error.value)
    assert said == sentence or (sentence.endswith((" ", "'?")) and said.startswith(sentence))
    assert "\n" not in said


def test_kinds_and_nothing():
    assert from_tree(Position, {"kind": "sinusoidal"}, "model.position") == SinusoidalPosition()
    layer = from_tree(Layer, {"attention": "none"}, "layer")
    assert layer.attention is None
    assert to_tree(layer)["attention"] == "none"


def test_a_field_that_came_later_is_written_where_it_is_set():
    model = replace(
        make_reference_architecture(context=8),
        token=ArcTable(middle=0.125),
        position=SpiralPosition(slots=(*range(7), "end"), turns=(("end", 2.5),)),
        fixed=(FixedEntry("head.bias", (2,), 1.5),),
    )
    tree = to_tree(model)
    assert (tree["token"]["middle"], tree["position"]["turns"]) == (0.125, [["end", 2.5]])
    assert from_tree(Architecture, tomllib.loads(tomli_w.dumps(tree)), "model") == model
    plain = to_tree(replace(model, token=ArcTable(), position=SpiralPosition(), fixed=()))
    assert "middle" not in plain["token"] and "turns" not in plain["position"] and "fixed" not in plain


def test_the_text_of_an_older_model_is_what_it_was():
    """The verdict that ships names the model by the hash of its text and numbers."""
    verdicts = json.loads((WEIGHTS / "verdicts.json").read_text())
    model = load_model("glass-29")
    assert hash_model(model.architecture, model.params) == verdicts["glass-29"]["sha256"]
