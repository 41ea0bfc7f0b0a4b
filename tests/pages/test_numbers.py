"""The page's numbers are NumPy's: every named intermediate, for every kind of model, in a real Chromium."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import erf

from glassformer.models.architecture import Architecture
from glassformer.models.forward import finish_layer, forward, read_out_logits
from glassformer.models.generate import measure_top_margin
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.program import trace_programs
from glassformer.runs.history import read_history
from glassformer.runs.load import load_model, load_run, load_zoo_model
from glassformer.tasks.hard import draw_hard_pairs
from glassformer.zoo import ZOO
from tests.models.test_forward import BATCH, CONTEXT, architectures, contexts, drawn
from tests.pictures.conftest import RUNS

from .engine import Engine

# Relative to a number itself; one that is less than a thousandth of the largest beside it is what larger ones
# leave when they cancel, and has lost digits in both computations: it is compared with that thousandth.
CLOSE, SMALL = 1e-9, 1e-3
TOLD = 1e-5  # of the largest logit: what the roundings of a pass in float32 may amount to
EVERY = 100  # inputs whose every intermediate is compared, not the logits alone
MASKED = 1e29  # scores of later places and of closed tokens: no measure of the others
WITH_WEIGHTS = [name for name, entry in ZOO.items() if entry.build or entry.weights]


@pytest.fixture(scope="module")
def engine(browser):
    page = browser.new_page()
    yield Engine(page)
    page.close()


def assert_close(found: np.ndarray, expected: np.ndarray, name: str) -> None:
    expected = np.broadcast_to(expected, found.shape) if found.ndim == expected.ndim else expected
    size = np.abs(expected)
    largest = np.max(size, initial=0.0, where=size < MASKED)
    gap = np.abs(found - expected) / np.maximum(np.maximum(size, SMALL * largest), np.finfo(float).tiny)
    assert found.shape == expected.shape, name
    assert gap.max() <= CLOSE, f"{name}: {gap.max()}"


def in_float64(model: Model, tokens: np.ndarray) -> dict[str, np.ndarray]:
    """Every named intermediate of the pass, as NumPy computes it in double precision."""
    seen: dict[str, np.ndarray] = {}
    exact = {name: np.asarray(array, np.float64) for name, array in model.params.items()}
    logits = forward(model.architecture, NumpyOps(), exact, tokens, record=seen.__setitem__)
    return seen | {"logits": logits}


def assert_same_pass(engine: Engine, model: Model, tokens: np.ndarray) -> dict[str, np.ndarray]:
    program = trace_programs(model.architecture, len(tokens))["forward"]
    found = engine.run(program, {**model.params, "tokens": tokens}, tokens.shape[1])
    expected = in_float64(model, tokens)
    assert set(found) == set(expected)
    for name, array in found.items():
        assert_close(array, expected[name], name)
    return found


@given(architectures())
@settings(max_examples=30)
def test_any_architecture(engine, architecture: Architecture):
    architecture = replace(architecture, precision="float64")
    model = Model(architecture, drawn(architecture))
    assert_same_pass(engine, model, contexts(CONTEXT, BATCH))


@given(architectures(most_layers=2))
@settings(max_examples=15)
def test_points_of_the_plane_go_through_the_last_part(engine, architecture: Architecture):
    """From after the last attention, and from the last stream, as NumPy has it from there on."""
    architecture = replace(architecture, precision="float64")
    params, programs = drawn(architecture), trace_programs(architecture, CONTEXT)
    state = np.random.default_rng(2).normal(size=(architecture.width, 1, 7))
    ops, seen = NumpyOps(), dict[str, np.ndarray]()
    table = architecture.token.table(ops, params, "token", architecture.vocab, architecture.token_dims)
    name = "" if len(architecture.layers) == 1 else f"layer{len(architecture.layers) - 1}."
    note = seen.__setitem__
    stream = finish_layer(architecture.layers[-1], ops, params, name, state, None, lambda key, value: None)
    for kind, start in (("settle", stream), ("readout", state)):
        read_out_logits(architecture, ops, params, start, table, note)
        found = engine.run(programs[kind], {**params, "state": state}, 7)
        assert_close(found["logits"], seen["logits"], kind)
    found = engine.run(programs["settle"], {**params, "state": state}, 7, ["stream"])
    assert_close(found["stream"], stream, "stream")


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_every_zoo_model_on_sums(engine, name: str):
    """Teacher-forced sums: all intermediates, and the digits that the model's own precision writes."""
    loaded = load_zoo_model(name)
    assert loaded is not None
    layout, random = loaded.addition.written(), np.random.default_rng(3)
    plain = random.integers(0, layout.base, (2, 10, 24))
    hard = loaded.addition.match_pair(*draw_hard_pairs(random, 24, 10, layout.base))
    x, y = (np.concatenate([plain[i], hard[i]], axis=1).astype(np.int32) for i in (0, 1))
    tokens = layout.encode(x, y, layout.solve_digits(x, y))[:-1]
    found = assert_same_pass(engine, loaded, tokens)["logits"][:, layout.predicting]
    own = loaded.logits(tokens)[:, layout.predicting]
    np.testing.assert_array_equal(found.argmax(0), own.argmax(0))


@pytest.mark.parametrize(("name", "inputs"), [("plus_last_even", 1000), ("step_back", 50)])
def test_random_inputs_at_several_checkpoints(engine, name: str, inputs: int):
    """The winners too: NumPy's in double precision always, the run's own wherever float32 can tell two apart."""
    folder = RUNS / name
    loaded, history = load_run(folder), read_history(folder)
    assert history is not None
    random, context = np.random.default_rng(4), loaded.architecture.context
    tokens = random.integers(0, loaded.architecture.vocab, (context, inputs)).astype(np.int32)
    chosen = np.linspace(0, len(history.steps) - 1, 4).astype(int)
    for params in [*(history.at(int(place)) for place in chosen), loaded.params]:
        model = Model(loaded.architecture, params)
        assert_same_pass(engine, model, tokens[:, :EVERY])
        program = trace_programs(model.architecture, len(tokens))["forward"]
        given = {**model.params, "tokens": tokens}
        found, own = engine.run(program, given, inputs, ["logits"])["logits"], model.logits(tokens)
        assert_close(found, in_float64(model, tokens)["logits"], "logits")
        np.testing.assert_array_equal(found.argmax(0), in_float64(model, tokens)["logits"].argmax(0))
        told = measure_top_margin(own) > TOLD * np.abs(own).max()
        assert told.mean() > 0.9
        np.testing.assert_array_equal(found.argmax(0)[told], own.argmax(0)[told])


def test_a_short_input_is_read_as_if_nothing_followed(engine):
    """Padding behind the input changes no number before it."""
    loaded = load_model("nanogpt-58")
    program = trace_programs(loaded.architecture, 32)["forward"]
    tokens = np.random.default_rng(5).integers(0, 10, (32, 3))
    tokens[20:] = 0
    found = engine.run(program, {**loaded.params, "tokens": tokens}, 3, ["logits"])["logits"]
    assert_close(found[:, :20], in_float64(loaded, tokens[:20])["logits"], "logits")


def test_the_error_function_is_exact(engine):
    points = np.concatenate([np.linspace(-7, 7, 4001), np.geomspace(1e-300, 1, 200)])
    found = np.array(engine.evaluate("(points) => points.map(engine.erf)", points.tolist()))
    np.testing.assert_allclose(found, erf(points), rtol=1e-15, atol=0)
