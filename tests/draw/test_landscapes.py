"""Figures 07, 11, 15, 16 to 18 and S6, against the forward pass written out here from the raw weights."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from glassformer.draw.figures import (
    frozen_output,
    output_landscape,
    residual_stream,
    value_demo,
    value_landscape,
)
from glassformer.draw.measure.landscape import final_states, landscape, logits_of, slice_through
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.map_sheet import best_grid
from glassformer.draw.parts.message_sums import carry_of
from glassformer.draw.parts.single_messages import alone
from tests.draw.conftest import NAMES, subject_of

CLOSE = {"rtol": 2e-3, "atol": 2e-3}  # the model's numbers are single, those here double
NEAR_BORDER = 1  # pixels


def weights(subject: Subject) -> dict[str, np.ndarray]:
    return {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}


def fold(subject: Subject, middle: np.ndarray) -> np.ndarray:
    """h for states z."""
    p = weights(subject)
    hidden = np.maximum(middle @ p["ff.up.weight"].T + p["ff.up.bias"], 0)
    written = hidden @ p["ff.down.weight"].T + p["ff.down.bias"]
    return middle + written if subject.model.architecture.layers[-1].residual else written


def chances(subject: Subject, final: np.ndarray) -> np.ndarray:
    p = weights(subject)
    logits = final @ p["head.weight"].T + p["head.bias"]
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def by_hand(subject: Subject, tokens: np.ndarray) -> dict[str, np.ndarray]:
    """e, attention's weights, every place's message, z, h and the probabilities, for the last place."""
    p, heads = weights(subject), subject.heads
    e = p["token.weight"][tokens] + p["position.weight"][: len(tokens)]
    size = p["attn.q.weight"].shape[0] // heads
    q, k, v = (e @ p[f"attn.{name}.weight"].T for name in "qkv")
    out = p.get("attn.out.weight", np.eye(heads * size))
    shares, messages = [], []
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        scores = k[:, own] @ q[-1, own] / np.sqrt(size)
        powers = np.exp(scores - scores.max())
        shares.append(powers / powers.sum())
        messages.append(v[:, own] @ out[:, own].T)
    moved = np.einsum("hp,hpd->d", shares, messages)
    z = e[-1] + moved if subject.model.architecture.layers[-1].residual else moved
    h = fold(subject, z)
    found = {
        "e": e[-1],
        "weights": shares,
        "messages": messages,
        "z": z,
        "h": h,
        "chances": chances(subject, h),
    }
    return {name: np.asarray(array) for name, array in found.items()}


@cache
def computed(module, name: str) -> dict:
    return module.compute(subject_of(name))


def nudged(subject: Subject, name: str) -> Subject:
    """The same subject with one weight changed."""
    params = dict(subject.model.params)
    params[name] = np.asarray(params[name]).copy()
    params[name].flat[0] += 0.5
    return replace(subject, model=replace(subject.model, params=params))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("from_mid", [False, True])
def test_a_landscape_is_the_rest_of_the_model_at_every_point(name, from_mid):
    subject = subject_of(name)
    plane = slice_through(subject.embedded, "stream", "embeddings")
    limits = np.array([[-3.0, 2.0], [-1.0, 4.0]])
    land = landscape(subject.model, plane, limits, from_mid, grid=20)
    random = np.random.default_rng(1)
    for row, column in random.integers(0, 20, (30, 2)):
        x, y = -3 + (column + 0.5) * 0.25, -1 + (row + 0.5) * 0.25
        state = x * plane.directions[0] + y * plane.directions[1]
        state = state + plane.through - plane.directions.T @ (plane.directions @ plane.through)
        expected = chances(subject, fold(subject, state) if from_mid else state)
        np.testing.assert_allclose(land.probability[row, column], expected, **CLOSE)
    logs = np.log(np.maximum(land.probability, 1e-30))
    np.testing.assert_allclose(land.entropy, -(land.probability * logs).sum(-1), atol=1e-4)
    assert (land.entropy >= -1e-6).all() and (land.entropy <= np.log(len(subject.tokens)) + 1e-6).all()


@pytest.mark.parametrize("weight", ["head.bias", "ff.up.weight"])
def test_a_landscape_follows_the_weights(weight):
    subject = subject_of("lucky7")
    states = np.random.default_rng(0).normal(size=(50, 2)) * 3
    before, after = (
        logits_of(one.model, states, from_mid=True) for one in (subject, nudged(subject, weight))
    )
    assert np.abs(before - after).max() > 1e-3
    np.testing.assert_allclose(
        final_states(subject.model, states), fold(subject, states), rtol=1e-3, atol=1e-3
    )


def test_a_slice_holds_its_centre_and_where_states_differ():
    random = np.random.default_rng(0)
    spanned = random.normal(size=(2, 5))
    states = random.normal(size=(40, 2)) @ spanned + np.arange(5)
    plane = slice_through(states, "x", "their mean")
    np.testing.assert_allclose(plane.lift(plane(states)), states, atol=1e-9)  # they lie in one plane
    assert "100%" in plane.note and "5 dimensions" in plane.note
    other = slice_through(states, "x", "the first", centre=states[0] + 1)
    np.testing.assert_allclose(other.lift(other(states[0] + 1)), states[0] + 1, atol=1e-9)


@pytest.mark.parametrize("module", [output_landscape, value_landscape])
@pytest.mark.parametrize("name", ["plus_last_even", "lucky7", "even_to_odd_transition"])
def test_points_of_narrow_models_sit_on_their_own_colour(module, name):
    subject = subject_of(name)
    data = computed(module, name)
    low, high = data["limits"].T
    for kind, predicted in (("points", "predicted"), ("others", "others_predicted")):
        assert ((data[kind] > low) & (data[kind] < high)).all()
        states = data["plane"].lift(data[kind])
        final = states if module is output_landscape else fold(subject, states)
        assert (chances(subject, final).argmax(-1) == data[predicted]).mean() > 0.99  # single precision
    cells = np.floor((data["points"] - low) / (high - low) * len(data["winner"])).astype(int)
    for (column, row), own in zip(cells, data["predicted"], strict=True):
        rows, columns = (slice(max(0, at - NEAR_BORDER), at + NEAR_BORDER + 1) for at in (row, column))
        assert own in data["winner"][rows, columns]
    assert data["agreeing"] >= 0.98 * len(data["points"])  # those on a border may differ by a pixel


@pytest.mark.parametrize("name", NAMES)
def test_the_points_of_a_landscape_are_what_real_contexts_come_to(name):
    subject = subject_of(name)
    final, middle = computed(output_landscape, name), computed(value_landscape, name)
    chosen = np.unique(np.linspace(0, len(subject.trials) - 1, 400).astype(int))
    for index in (0, 17, 399):
        tokens = subject.trials.contexts[chosen[index]]
        found = by_hand(subject, tokens)
        spot = final["plane"](found["h"], subject.context - 1.0)
        np.testing.assert_allclose(final["points"][index], spot, rtol=1e-2, atol=2e-2)
        spot = middle["plane"](found["z"], subject.context - 1.0)
        np.testing.assert_allclose(middle["points"][index], spot, **CLOSE)
        assert final["predicted"][index] == found["chances"].argmax()
    answers = subject.trial_traces["logits"][:, -1].argmax(-1)
    assert final["right"] == sum(map(bool, subject.trials.allowed[np.arange(len(answers)), answers]))
    assert set(final["predicted"]) <= set(final["answers"]) <= set(final["maps"])


def test_every_value_lies_in_the_map_and_is_the_weights_product():
    subject = subject_of("even_repeat_last_odd")
    data, p = computed(value_landscape, "even_repeat_last_odd"), weights(subject)
    low, high = data["limits"].T
    assert ((data["messages"] > low) & (data["messages"] < high)).all()
    e = p["token.weight"][:, None] + p["position.weight"][None]
    out = p.get("attn.out.weight", np.eye(12))
    for head in range(2):
        own = slice(6 * head, 6 * head + 6)
        message = e @ p["attn.v.weight"][own].T @ out[:, own].T
        np.testing.assert_allclose(data["messages"][head], data["plane"](message), **CLOSE)


def test_a_slice_says_how_many_points_it_is_true_for():
    subject = subject_of("even_repeat_last_odd")
    data = computed(output_landscape, "even_repeat_last_odd")
    lifted = chances(subject, data["plane"].lift(data["points"])).argmax(-1)
    same = int((lifted == data["predicted"]).sum())
    assert abs(same - data["agreeing"]) <= 0.03 * len(lifted)  # pixels on a border
    assert 0 < data["agreeing"] < len(lifted)
    assert f"{data['agreeing']} of the {len(lifted)}" in data["remark"] + output_landscape.caption(data)


@pytest.mark.parametrize("name", NAMES)
def test_the_stream_adds_up(name):
    subject = subject_of(name)
    data, found = residual_stream.compute(subject), by_hand(subject, subject.sequences[0])
    steps = data["steps"]
    for step in "ezh":
        np.testing.assert_allclose(steps[step][-1], found[step], rtol=1e-2, atol=1e-2)
    if data["residual"]:
        np.testing.assert_allclose(steps["e"] + steps["attention"], steps["z"], atol=1e-4)
        np.testing.assert_allclose(steps["z"] + steps["feed-forward"], steps["h"], rtol=1e-4, atol=1e-3)
    else:
        np.testing.assert_array_equal(steps["attention"], steps["z"])
        assert "Nothing is added" in residual_stream.title(data)
    np.testing.assert_array_equal(data["predicted"], chances(subject, steps["h"].astype(float)).argmax(-1))
    assert data["lens"]["z"] == chances(subject, found["z"]).argmax()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index", [0, 2])
def test_the_sum_is_the_mean_of_what_each_message_alone_would_do(name, index):
    subject = subject_of(name)
    data, found = value_demo.compute(subject, index), by_hand(subject, subject.sequences[index])
    carry = data["carry"]
    np.testing.assert_allclose(carry.weights, found["weights"], atol=2e-3)
    np.testing.assert_allclose(carry.messages, found["messages"], **CLOSE)
    for head in range(subject.heads):
        mean = found["weights"][head] @ data["states"][head]
        np.testing.assert_allclose(mean, found["z"], rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(data["probability"], found["chances"], atol=5e-3)
    assert next(iter(data["relevant"])) == found["chances"].argmax()
    plane = data["sums"]["plane"]
    np.testing.assert_allclose(plane.lift(plane(carry.mid)), carry.mid, atol=1e-6)  # z lies in the slice


@pytest.mark.parametrize("name", NAMES)
def test_frozen_outputs_are_those_of_one_message_alone(name):
    subject = subject_of(name)
    data, found = frozen_output.compute(subject), by_hand(subject, subject.sequences[0])
    random, count = np.random.default_rng(3), len(subject.sequences[0])
    for _ in range(8):
        head, token, place = (int(random.integers(n)) for n in (subject.heads, len(subject.tokens), count))
        swapped = subject.sequences[0].copy()
        swapped[place] = token
        # a message depends on its own token and place alone; only the last place's own would change the query
        message = by_hand(subject, swapped)["messages"][head, place]
        state = found["z"] - found["weights"][head] @ found["messages"][head] + message
        expected = chances(subject, fold(subject, state))
        np.testing.assert_allclose(
            data["probability"][head, token, place], expected[data["target"]].sum(), atol=1e-2
        )
        assert expected[data["winner"][head, token, place]] >= expected.max() - 1e-2


def test_frozen_outputs_follow_the_values():
    subject = subject_of("plus_last_even")
    before, after = (frozen_output.compute(one) for one in (subject, nudged(subject, "attn.v.weight")))
    assert np.abs(before["probability"] - after["probability"]).max() > 0.01


def test_one_head_alone_is_embedding_plus_message():
    carry = carry_of(subject_of("plus_last_even"), 0)
    np.testing.assert_allclose(alone(carry, carry.messages)[0], carry.embedded + carry.messages[0], atol=1e-5)


@pytest.mark.parametrize(("large", "small"), [(1, 1), (1, 2), (1, 8), (1, 22), (2, 11), (2, 22)])
def test_a_sheet_of_maps_fits_a_page(large, small):
    grid = best_grid(large, small)
    cells = list(grid.cells())
    assert len(cells) >= small and grid.height <= 19.0 and grid.side > 1.5
    assert all(row >= 2 or column >= 2 * large for column, row in cells)


def test_runs_of_equal_cells():
    cells, single = np.array([[1, 1, 2], [3, 3, 3]]), np.array([[False] * 3, [False, True, False]])
    assert frozen_output.runs(cells, single) == [(0, 0, 2), (0, 2, 3), (1, 0, 1), (1, 1, 2), (1, 2, 3)]
