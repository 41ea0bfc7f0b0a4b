"""The tables are what the deployed pass computes, and the readout's errors hold what rounding does."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.models.adding import write_sum
from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import forward, list_parameters
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.projection import FullProjection
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.columns import find_allowed_tokens
from glassformer.proofs.tables import NotProvableError, tabulate_model
from glassformer.runs.load import load_model
from tests.proofs.small import drawn
from tests.proofs.tabulated import SHIPPED, tables_of

TWO_HEADS = Attention(heads=2, head_size=2, value_size=2, out=FullProjection())
HIDDEN = FeedForward(hidden=5, bend="gelu")
EXACT = [name for name in SHIPPED if not name.startswith("tinyadder")]


@pytest.mark.parametrize("name", EXACT)
def test_scores_and_values_are_the_deployed_ones_whatever_the_batch_and_the_window(name):
    """Bit for bit: what a place computes by itself does not depend on what stands beside it."""
    model = load_model(name)
    layout, tables = model.addition.written(), tables_of(model)
    random = np.random.default_rng(0)
    for batch, length in ((2, 25), (3, 33), (257, 30), (2048, 33)):
        x, y = random.integers(0, layout.base, (2, layout.digits, batch))
        tokens = layout.encode(x, y, layout.solve_digits(x, y))[: min(length, layout.length - 1)]
        seen = {}
        forward(
            model.architecture,
            NumpyOps(model.architecture.precision),
            model.params,
            tokens,
            last=1,
            record=seen.__setitem__,
        )
        step, keys = len(tokens) - layout.prompt_length, np.arange(len(tokens))[:, None]
        for number, head in enumerate(tables.heads):
            deployed = np.broadcast_to(seen[f"attn.scores.{number}"][0], tokens.shape)  # key batch
            assert np.array_equal(head.scores[step, tokens[-1], keys, tokens], deployed)
            values = np.broadcast_to(carried(model, number, seen), (len(head.centre), *tokens.shape))
            close = (
                5e-7 if model.architecture.layers[0].attention.reads_first else 0
            )  # read here in another order
            assert np.allclose(head.values.centre[:, keys, tokens], values, rtol=close, atol=0)
        assert np.array_equal(
            np.broadcast_to(seen["embedded"][:, -1], (model.architecture.width, batch)),
            tables.stream.centre[:, step, tokens[-1]],
        )


def carried(model, number, seen):
    """What a head mixes, from what a pass has shown."""
    attention = model.architecture.layers[0].attention
    if attention.carries_stream(model.architecture.width):
        return seen["attn.input"]
    size = attention.values
    group = attention.group(number)
    values = seen["attn.v"][group * size : (group + 1) * size]
    if attention.reads_first:
        read = model.params["attn.out.read"][number * size : (number + 1) * size]
        values = NumpyOps(model.architecture.precision).linear(read[None], values)
    signs = attention.relation.value_signs(values.shape[1])
    return values if signs is None else values * np.array(signs, np.float32)[None, :, None]


@pytest.mark.parametrize("name", ["rope-62", "microadder-57", "hand-4"])
def test_a_sequence_alone_gets_the_same_logits(name):
    """But for the mix, whose sums are added in another order for another batch."""
    model = load_model(name)
    layout = model.addition.written()
    x, y = np.random.default_rng(0).integers(0, 10, (2, layout.digits, 4))
    tokens = layout.encode(x, y, layout.solve_digits(x, y))[:-1]
    together, alone = model.logits(tokens, last=3), model.logits(tokens[:, 2:3], last=3)
    assert alone.shape[2] == 1
    assert np.allclose(alone[:, :, 0], together[:, :, 2], rtol=1e-4, atol=0.5)


def test_what_layers_before_and_behind_the_mix_bring_is_enclosed():
    """Every mix of a later layer, and every stream before one, of all contexts of a random model."""
    shape = Architecture(
        vocab=3, context=4, width=4, layers=(Layer(TWO_HEADS, HIDDEN), Layer(TWO_HEADS, HIDDEN))
    )
    every = np.stack(np.unravel_index(np.arange(3**4), (3,) * 4))  # pos context
    for seed in range(4):
        random = np.random.default_rng(seed)
        params = {name: random.normal(size=one.shape) for name, one in list_parameters(shape).items()}
        model, seen = Model(shape, params), {}
        forward(shape, NumpyOps("float64"), params, every, record=seen.__setitem__)
        behind, before = (tabulate_model(model, np.ones((4, 3), bool), 4, mixing=layer) for layer in (0, 1))
        mixed = seen["layer1.attn.mixed"].reshape(2, 2, *every.shape)  # head dim pos context
        for mix, real in zip(behind.later[1], mixed, strict=True):
            require_inside(mix, real, every)
        require_inside(before.stream, seen["layer0.stream"], every)
        assert before.is_enclosed and behind.is_enclosed


def require_inside(table, real, every):
    """Real values `dim pos context` of contexts lie in the ranges of `dim pos tok`."""
    centre, room = table.centre, table.reach + table.off
    where = np.arange(len(every))[:, None]
    assert (np.abs(real - centre[:, where, every]) <= room[:, where, every] + 1e-12).all()


def test_two_layers_that_mix_are_refuted():
    model, task = drawn("glass-39", 2, 0)
    shape = replace(model.architecture, layers=model.architecture.layers * 2, ties=())
    random = np.random.default_rng(0)
    numbers = {key: random.normal(size=part.shape) for key, part in list_parameters(shape).items()}
    proof = prove_adder(Model(shape, numbers), task, seconds=5)
    assert proof.verdict == "refuted"
    wrong = proof.counterexample
    assert (
        write_sum(Model(shape, numbers), task, wrong["a"], wrong["b"]).got
        == wrong["got"]
        != wrong["expected"]
    )


def test_no_attention_at_all_is_refuted():
    model, task = drawn("glass-39", 2, 0)
    layer = replace(model.architecture.layers[0], attention=None)
    names = {key: part for key, part in model.params.items() if not key.startswith("attn")}
    plain = type(model)(replace(model.architecture, layers=(layer,)), names)
    assert prove_adder(plain, task).verdict == "refuted"
    with pytest.raises(NotProvableError, match="no layer of the model has attention"):
        tabulate_model(plain, find_allowed_tokens(task.written(), 10), 3)
