"""What changed between two models: an added matrix of rank one is found as such, in any order of rows."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.difference import LensModel, subtract_models
from glassformer.lens.layout import HeadLayout, ModelLayout, RopeLayout, View, Weight
from glassformer.lens.matrix import view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor

WIDTH, HEADS, SIZE = 6, 2, 4
RATES = (1.0, 0.1)


def model(arrays: dict[str, np.ndarray], pairs="halves", spans=()) -> LensModel:
    """A layer of queries and outputs; the query weight may lie in any spans of its tensor."""
    query = View("q", spans=spans)
    rope = RopeLayout(RATES, pairs)
    heads = tuple(
        HeadLayout(0, index, 0, ((query,),), ((query,),), ((query,),), View("o"), rope=rope)
        for index in range(HEADS)
    )
    weights = tuple(Weight(0, name, query if name == "W_Q" else View("o"), "in") for name in ("W_Q", "W_O"))
    layout = ModelLayout("toy", 1, HEADS, HEADS, SIZE, WIDTH, weights, heads)
    tensors = {name: make_memory_tensor(name, array) for name, array in arrays.items()}
    return LensModel(Checkpoint("toy", "toy", "safetensors", {}, tensors, "mark"), layout)


def found(change: LensModel, name: str) -> np.ndarray:
    return view_matrix(change.checkpoint, View(name)).dense()


@pytest.fixture
def arrays():
    rng = np.random.default_rng(5)
    return {"q": rng.standard_normal((HEADS * SIZE, WIDTH)), "o": rng.standard_normal((WIDTH, HEADS * SIZE))}


def test_the_change_is_second_less_first(arrays):
    added = np.outer(np.arange(8.0), np.ones(WIDTH))
    change = subtract_models(model(arrays), model({**arrays, "q": arrays["q"] + added}))
    np.testing.assert_allclose(found(change, "0.W_Q"), added, atol=1e-14)
    assert not found(change, "0.W_O").any()
    assert [weight.type for weight in change.layout.weights] == ["W_Q", "W_O"]


def test_pairs_stored_side_by_side_meet_pairs_stored_in_halves(arrays):
    halves = arrays["q"].reshape(HEADS, 2, SIZE // 2, WIDTH)
    adjacent = halves.swapaxes(1, 2).reshape(HEADS * SIZE, WIDTH)  # what a llama file of GGUF holds
    stored = model({**arrays, "q": adjacent}, "adjacent")
    assert not found(subtract_models(model(arrays), stored), "0.W_Q").any()
    assert not found(subtract_models(stored, model(arrays)), "0.W_Q").any()
    assert found(subtract_models(model(arrays), model({**arrays, "q": adjacent})), "0.W_Q").any()


def test_spans_of_a_fused_tensor_are_kept(arrays):
    fused = np.concatenate([np.zeros((3, WIDTH)), arrays["q"][:4], np.zeros((2, WIDTH)), arrays["q"][4:]])
    spans = ((3, 7), (9, 13))
    assert not found(
        subtract_models(model(arrays), model({**arrays, "q": fused}, spans=spans)), "0.W_Q"
    ).any()
    halves = arrays["q"].reshape(HEADS, 2, SIZE // 2, WIDTH)
    rows = halves.swapaxes(1, 2).reshape(HEADS * SIZE, WIDTH)
    fused = np.concatenate([np.zeros((3, WIDTH)), rows[:4], np.zeros((2, WIDTH)), rows[4:]])
    other = model({**arrays, "q": fused}, "adjacent", spans)
    assert not found(subtract_models(model(arrays), other), "0.W_Q").any()


def test_other_shapes_are_left_out(arrays):
    other = {**arrays, "o": np.ones((WIDTH, 2))}
    change = subtract_models(model(arrays), model(other))
    assert [weight.type for weight in change.layout.weights] == ["W_Q"]
    with pytest.raises(UserError, match="share no weight of one shape"):
        subtract_models(model(arrays), model({"q": np.ones((2, 2)), "o": np.ones((2, 2))}))


def test_the_change_has_a_mark_of_both(arrays):
    change = subtract_models(model(arrays), model(arrays))
    assert change.checkpoint.fingerprint == "mark-mark"
