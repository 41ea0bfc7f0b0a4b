"""Figures of queries, keys, values and scores, against plain NumPy on the raw weights."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.draw.figures import (
    focused_query,
    qk_space,
    qkv_heatmaps,
    qkv_maps,
    qkv_overview,
    query_gradients,
    score_blocks,
)
from glassformer.draw.parts.matrices import PARAMETER
from glassformer.draw.parts.queries_keys_values import label_spots, round_step, variance_shares
from glassformer.draw.parts.slopes import iso_lines, levels
from glassformer.draw.picture import Picture
from glassformer.draw.theme import THEMES
from glassformer.model.architecture import Architecture, Layer, reference
from glassformer.model.attention import Attention
from glassformer.model.feedforward import FeedForward
from glassformer.model.forward import parameters
from glassformer.model.model import Model
from glassformer.model.norm import RMSNorm
from glassformer.model.position import Alibi, Rope
from glassformer.model.projection import Full, RankOne
from tests.draw.conftest import subject_of
from tests.draw.faults import faults

PLAIN = ("plus_last_even", "step_back", "even_repeat_last_odd")  # one head of 2 and of 4, two of 6


def raw(subject, head=0):
    """Queries, keys and values of a head, `tok pos dim`, and the scale: the reference model by hand."""
    params = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    inputs = params["token.weight"][:, None] + params["position.weight"][None]
    size = subject.model.architecture.layers[0].attention.head_size
    rows = slice(head * size, (head + 1) * size)
    return *(inputs @ params[f"attn.{kind}.weight"][rows].T for kind in "qkv"), size**-0.5


def raw_scores(subject, head=0):
    """Every query against every key; later keys are nan."""
    q, k, _, scale = raw(subject, head)
    scores = np.einsum("tpd,uqd->tpuq", q, k) * scale
    places = np.arange(q.shape[1])
    return np.where((places[:, None] >= places)[None, :, None], scores, np.nan)


def changed(subject, name, factor=2.0):
    """The same subject with one parameter multiplied."""
    params = dict(subject.model.params)
    params[name] = params[name] * factor
    return replace(subject, model=replace(subject.model, params=params))


def with_architecture(architecture, seed=0):
    """plus_last_even's rule on another model, of random weights."""
    random = np.random.default_rng(seed)
    params = {
        name: random.normal(size=parameter.shape).astype(np.float32)
        for name, parameter in parameters(architecture).items()
    }
    return replace(subject_of("plus_last_even"), model=Model(architecture, params))


def drawn(module, subject, theme="light"):
    picture = Picture("X", module, "", module)
    data = picture.compute(subject)
    return data, picture.draw(data, THEMES[theme])


@pytest.mark.parametrize("name", PLAIN)
def test_scores_are_those_of_the_raw_weights(name):
    subject = subject_of(name)
    data = score_blocks.compute(subject)
    for head in range(subject.heads):
        expected = raw_scores(subject, head)
        np.testing.assert_allclose(data["scores"][head], expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(data["by_token"][head], np.nanmean(expected, (1, 3)), atol=1e-4)
        np.testing.assert_allclose(data["by_place"][head], expected.mean((0, 2)), atol=1e-4)


def test_scores_follow_a_weight():
    subject = subject_of("plus_last_even")
    before = score_blocks.compute(subject)["scores"][0]
    after = score_blocks.compute(changed(subject, "attn.k.weight", 3.0))["scores"][0]
    np.testing.assert_allclose(after, 3 * before, rtol=1e-4)


def test_block_shares_are_between_group_variances():
    subject = subject_of("step_back")
    data, expected = score_blocks.compute(subject), raw_scores(subject)
    seen = np.isfinite(expected)
    token, key, place, at = np.nonzero(seen)[0], np.nonzero(seen)[2], np.nonzero(seen)[1], np.nonzero(seen)[3]
    for name, groups in (("token_share", token * 100 + key), ("place_share", place * 100 + at)):
        values = expected[seen]
        sizes = np.bincount(groups)
        means = np.bincount(groups, values)[sizes > 0] / sizes[sizes > 0]
        between = (sizes[sizes > 0] * (means - values.mean()) ** 2).sum() / (
            (values - values.mean()) ** 2
        ).sum()
        assert data[name][0] == pytest.approx(between, abs=1e-4)


def test_queries_and_keys_of_width_2_are_drawn_as_they_are():
    subject = subject_of("plus_last_even")
    q, k, v, scale = raw(subject)
    data = qk_space.compute(subject)
    np.testing.assert_allclose(data["queries"][0], q, atol=1e-4)
    np.testing.assert_allclose(data["keys"][0], k, atol=1e-4)
    assert data["scale"] == pytest.approx(scale)
    assert data["kept"] == [pytest.approx(1.0, abs=1e-9)]
    np.testing.assert_allclose(qkv_overview.compute(subject)["points"][0]["v"], v, atol=1e-4)


@pytest.mark.parametrize("name", ["step_back", "even_repeat_last_odd"])
def test_kept_share_is_r_squared_of_projected_products(name):
    subject = subject_of(name)
    data = qk_space.compute(subject)
    for head in range(subject.heads):
        q, k, _, scale = raw(subject, head)
        true = raw_scores(subject, head)
        _, _, directions = np.linalg.svd(np.concatenate([q, k]).reshape(-1, q.shape[-1]), full_matrices=False)
        for found, count in ((data["kept"], 2), (data["kept_along"], 1)):
            projection = directions[:count].T @ directions[:count]
            guess = np.einsum("tpd,de,uqe->tpuq", q, projection, k) * scale
            seen = np.isfinite(true)
            rest = ((true - guess)[seen] ** 2).sum() / ((true[seen] - true[seen].mean()) ** 2).sum()
            assert found[head] == pytest.approx(1 - rest, abs=1e-4)
            assert found[head] < 0.999


def test_a_wide_head_is_folded_and_balanced_without_changing_a_score():
    subject = with_architecture(reference(vocab=12, width=2, context=8, head_size=16))
    subject = changed(subject, "attn.q.weight", 20.0)
    expected = raw_scores(subject)
    np.testing.assert_allclose(score_blocks.compute(subject)["scores"][0], expected, rtol=1e-3, atol=1e-2)
    data = qk_space.compute(subject)
    products = np.einsum("tpd,uqd->tpuq", data["queries"][0], data["keys"][0]) * data["scale"]
    seen = np.isfinite(expected)
    np.testing.assert_allclose(products[seen], expected[seen], rtol=1e-3, atol=1e-2)
    assert "times smaller" in data["note"]
    assert "16 dimensions" in data["note"]
    lengths = [np.linalg.norm(data[side][0], axis=-1).max() for side in ("queries", "keys")]
    assert max(lengths) / min(lengths) < 3


@pytest.mark.parametrize("name", ["plus_last_even", "even_to_odd_transition", "even_repeat_last_odd"])
def test_maps_draw_exactly_the_parameters_of_attention(name):
    subject = subject_of(name)
    _, figure = drawn("qkv_maps", subject)
    images = [image for axes in figure.axes for image in axes.images if image.get_gid()]
    found = {image.get_gid().removeprefix(PARAMETER): np.asarray(image.get_array()) for image in images}
    expected = {key: array for key, array in subject.model.params.items() if key.startswith("attn.")}
    assert len(images) == len(found) == len(expected)
    for key, array in expected.items():
        np.testing.assert_array_equal(found[key], array)


def test_grid_images_are_products_with_the_weights():
    subject = subject_of("plus_last_even")
    data = qkv_maps.compute(subject)
    grid = data["grids"][0]["e"]
    for kind in "qkv":
        weight = subject.model.params[f"attn.{kind}.weight"].astype(np.float64)
        np.testing.assert_allclose(data["grids"][0][kind], grid @ weight.T, atol=1e-4)
        sizes = np.linalg.svd(weight, compute_uv=False)
        flipped = ", flipped" if np.linalg.det(weight) < 0 else ""
        factors = ", ".join(qkv_maps.factor_text(size) for size in sizes)
        assert qkv_maps.grid_title(data, 0, kind) == f"{kind}: {factors}{flipped}"
    inputs = data["points"][0]["e"].reshape(-1, 2)
    assert (grid.reshape(-1, 2).min(0) <= inputs.min(0)).all()
    assert (grid.reshape(-1, 2).max(0) >= inputs.max(0)).all()


def test_grid_images_of_a_wide_stream_lie_in_the_plane_through_the_mean_input():
    subject = subject_of("step_back")
    data = qkv_maps.compute(subject)
    params = subject.model.params
    inputs = (params["token.weight"][:, None] + params["position.weight"]).astype(np.float64)
    mean, two = inputs.mean((0, 1)), subject.stream_plane.directions
    states = mean + (data["grids"][0]["e"] - two @ mean) @ two
    for kind in "qkv":
        images = states @ params[f"attn.{kind}.weight"].T @ data["planes"][0][kind].directions.T
        np.testing.assert_allclose(data["grids"][0][kind], images, atol=1e-4)


@pytest.mark.parametrize("name", PLAIN)
def test_the_focused_query_scores_and_attends_as_the_weights_say(name):
    subject = subject_of(name)
    data, context = focused_query.compute(subject), subject.sequences[0]
    np.testing.assert_array_equal(data["context"], context)
    for head in range(subject.heads):
        q, k, _, scale = raw(subject, head)
        query, keys = q[context[-1], len(context) - 1], k[context, range(len(context))]
        scores = keys @ query * scale
        powers = np.exp(scores - scores.max())
        np.testing.assert_allclose(data["scores"][head], scores, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(data["weights"][head], powers / powers.sum(), atol=1e-3)
        slope, plane = data["slopes"][head], data["planes"][head]
        np.testing.assert_allclose(slope.gradient, plane.directions @ query * scale, atol=1e-4)
        drawn_scores, true = slope(data["keys"][head]), k @ query * scale
        assert drawn_scores.mean() == pytest.approx(true.mean(), abs=1e-3)
        rest = ((true - drawn_scores) ** 2).sum() / ((true - true.mean()) ** 2).sum()
        assert data["kept"][head] == pytest.approx(1 - rest, abs=1e-4)


def test_a_query_of_ones_own_masks_what_is_later():
    subject = replace(subject_of("plus_last_even"), query=(11, 3))
    data, figure = drawn("focused_query", subject)
    assert data["context"].tolist() == [*subject.sequences[0][:3].tolist(), 11]
    assert "4 later places are masked" in focused_query.caption(data)
    assert faults(figure) == []
    beyond = replace(subject, sequences=(subject.sequences[0][:2],), query=(0, 6))
    again = focused_query.compute(beyond)["context"]
    assert again.tolist() == [*np.tile(subject.sequences[0][:2], 3).tolist(), 0]


@pytest.mark.parametrize("name", PLAIN)
def test_gradients_name_the_keys_with_the_highest_scores(name):
    subject = subject_of(name)
    data = query_gradients.compute(subject)
    for head in range(subject.heads):
        last = raw_scores(subject, head)[:, -1]  # tok tok pos
        for token, scores in enumerate(last):
            top = scores[tuple(data["top"][head][token].T)]
            np.testing.assert_allclose(top, np.sort(scores, axis=None)[::-1][:3], rtol=1e-3, atol=1e-3)
            ends = [scores.min(), scores.max()]
            np.testing.assert_allclose(data["ends"][head][token], ends, rtol=1e-3, atol=1e-3)


def test_iso_lines_join_equal_scores():
    data = query_gradients.compute(subject_of("step_back"))
    slope, limits = data["slopes"][0][3], data["planes"][0].limits(data["keys"][0])
    values = levels(slope, limits, 5.0)
    lines = iso_lines(slope, limits, values)
    assert len(values) > 3
    np.testing.assert_allclose(slope(lines), np.repeat(values[:, None], 2, 1), atol=1e-6)
    assert (np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1) > np.ptp(limits, axis=1).max()).all()


@pytest.mark.parametrize("name", PLAIN)
def test_variance_shares_take_token_and_place_apart(name):
    """The reference model's queries are a token's part plus a place's: the shares are theirs, and all."""
    subject = subject_of(name)
    params = subject.model.params
    shares = qkv_overview.compute(subject)["shares"]
    for head in range(subject.heads):
        size = params["attn.q.weight"].shape[0] // subject.heads
        weight = params["attn.q.weight"][head * size : (head + 1) * size].astype(np.float64)
        token, place = ((params[f"{part}.weight"] @ weight.T).var(0).sum() for part in ("token", "position"))
        assert shares[head]["q"][0] == pytest.approx(token / (token + place), abs=1e-5)
        assert sum(shares[head]["q"]) == pytest.approx(1.0, abs=1e-5)


def test_heatmaps_show_the_largest_dimensions_and_say_so():
    subject = with_architecture(reference(vocab=12, width=2, context=8, head_size=40))
    data = qkv_heatmaps.compute(subject)
    params = subject.model.params
    inputs = params["token.weight"][:, None] + params["position.weight"]
    for kind in "qkv":
        vectors = inputs @ params[f"attn.{kind}.weight"].T
        largest = np.sort(np.argsort(-(vectors**2).sum((0, 1)))[:16])
        np.testing.assert_array_equal(data["dims"][kind], largest)
        np.testing.assert_allclose(data["maps"][kind], vectors[..., largest], atol=1e-4)
    assert qkv_heatmaps.heading(data, "q") == "queries: 16 of 40 dimensions"
    assert "16 of the 40 dimensions of keys" in qkv_heatmaps.caption(data)
    assert "None is left out" in qkv_heatmaps.caption(qkv_heatmaps.compute(subject_of("lucky7")))


NORMED = Attention(
    heads=2, kv_heads=1, head_size=4, q=Full(bias=True), v=Full(bias=True), out=Full(bias=True),
    relation=Rope(), qk_norm=RMSNorm(), k_norm=RMSNorm(),
)  # fmt: skip
SLOPED = Attention(heads=2, head_size=1, relation=Alibi(), k=RankOne(), softmax="softmax1")


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


def test_small_helpers():
    assert [round_step(length, 10) for length in (10, 23, 47)] == [1, 2, 5]
    points = np.zeros((2, 3, 2))
    points[1, 2] = 5.0  # the one point of the second path that is away from the first
    np.testing.assert_array_equal(label_spots(points)[1], [5.0, 5.0])
    only_places = np.broadcast_to(np.arange(4.0)[None, :, None], (3, 4, 1))
    assert variance_shares(only_places) == pytest.approx((0.0, 1.0))
