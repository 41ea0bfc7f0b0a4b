import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.lens.compute.statistics import compute_spectrum_statistics
from glassformer.lens.layout import View, Weight
from glassformer.lens.relations import measure_overlap, measure_relations
from glassformer.lens.results import MatrixResult, Ranks

WIDTH, TOP = 12, 3


def directions(seed: int, top: int = TOP, width: int = WIDTH) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(width, top)))[0].T.astype(np.float32)


def result(layer, kind, vectors, treatment="raw", expert=None):
    weight, random = Weight(layer, kind, View("w"), "in", expert), Ranks(1.0, 1.0, 1.0, 1.0)
    values = np.ones(2)
    return MatrixResult(
        weight, treatment, (2, 12), "F32", values, compute_spectrum_statistics(values), random, "", vectors
    )


def angles_by_svd(one, other):
    return np.mean(np.linalg.svd(one @ other.T, compute_uv=False) ** 2)


def test_similarity_is_the_mean_squared_cosine_of_all_pairs():
    there = [directions(seed) for seed in range(4)]
    found = measure_relations([result(layer, "W_Q", vectors) for layer, vectors in enumerate(there)], WIDTH)
    by_hand = [[angles_by_svd(one, other) for other in there] for one in there]
    assert found.similarity["W_Q"] == pytest.approx(np.array(by_hand), abs=1e-6)
    assert (found.top, found.layers) == (TOP, (0, 1, 2, 3)) and found.chance == TOP / WIDTH


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_a_subspace_with_itself_and_with_what_is_left(seed, top):
    whole = directions(seed, WIDTH)
    one, rest = whole[:top], whole[top : 2 * top]
    mixed = directions(seed + 1, top, top) @ one  # another basis of the same subspace
    assert measure_overlap(one, mixed) == pytest.approx(1.0, abs=1e-5)
    assert measure_overlap(one, rest) == pytest.approx(0.0, abs=1e-9)


def test_random_subspaces_are_alike_by_chance():
    seen = [measure_overlap(directions(2 * seed), directions(2 * seed + 1)) for seed in range(400)]
    assert np.mean(seen) == pytest.approx(TOP / WIDTH, rel=0.05)


def test_attention_is_aligned_with_the_feed_forward_of_its_layer():
    kinds = ("W_Q", "W_K", "W_V", "W_O", "W_gate", "W_up", "W_down")
    vectors = {(layer, kind): directions(10 * layer + i) for layer in (2, 5) for i, kind in enumerate(kinds)}
    found = measure_relations([result(layer, kind, one) for (layer, kind), one in vectors.items()], WIDTH)
    assert list(found.alignment) == ["W_O W_gate", "W_O W_up", "W_Q W_gate", "W_K W_gate", "W_V W_gate"]
    for pair, scores in found.alignment.items():
        one, other = pair.split()
        by_hand = [angles_by_svd(vectors[layer, one], vectors[layer, other]) for layer in (2, 5)]
        assert scores == pytest.approx(by_hand, abs=1e-6)


def test_a_layer_without_the_matrix_is_nan():
    found = measure_relations([result(0, "W_O", directions(0)), result(1, "W_up", directions(1))], WIDTH)
    assert np.isnan(found.alignment["W_O W_up"]).all()
    assert found.similarity["W_O"] == pytest.approx(np.array([[1, np.nan], [np.nan, np.nan]]), nan_ok=True)


def test_experts_are_averaged_and_not_compared_between_layers():
    gates = [directions(seed) for seed in (1, 2)]
    matrices = [result(0, "W_gate", one, expert=i) for i, one in enumerate(gates)]
    found = measure_relations([result(0, "W_O", directions(0)), *matrices], WIDTH)
    by_hand = np.mean([angles_by_svd(directions(0), one) for one in gates])
    assert found.alignment["W_O W_gate"] == pytest.approx([by_hand], abs=1e-6)
    assert list(found.similarity) == ["W_O"]


def test_the_shortest_list_of_directions_counts():
    long = directions(0, 5)
    found = measure_relations([result(0, "W_Q", long), result(1, "W_Q", long[:2])], WIDTH)
    assert found.top == 2 and found.similarity["W_Q"] == pytest.approx(np.ones((2, 2)), abs=1e-6)


def test_what_does_not_face_the_stream_is_left_out():
    others = [
        result(0, "W_E", None),
        result(None, "W_U", directions(0)),
        result(0, "W_Q", directions(0), treatment="folded"),
        result(0, "W_K", directions(0, width=8)),
    ]
    found = measure_relations(others, WIDTH)
    assert (found.top, found.similarity, found.alignment, found.layers) == (0, {}, {}, ())
    assert (found.composition, found.pairs, found.composition_chance) == ({}, (), {})


def test_compositions_are_stacked_in_the_order_of_their_pairs():
    scores = {(1, 2): 3.0, (0, 1): 1.0, (0, 2): 2.0}
    given_scores = {pair: dict.fromkeys("QKV", np.full((2, 2), one)) for pair, one in scores.items()}
    found = measure_relations([], WIDTH, given_scores)
    assert found.pairs == ((0, 1), (0, 2), (1, 2))
    assert found.composition["K"][:, 0, 1].tolist() == [1.0, 2.0, 3.0]
    assert found.composition_chance["V"] == pytest.approx(WIDTH**-0.5)
