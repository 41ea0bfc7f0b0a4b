"""Composition scores against the products of matrices as wide as the model."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.lens.composition import compute_composition_chance, list_layer_pairs, measure_composition
from glassformer.lens.layout import HeadLayout, ModelLayout, View
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor
from tests.lens.toy_heads import HEADS, toy

FLOAT32 = 2e-6  # relative: one product in float32, whose squares are summed


def plain_scores(model, writer: int, reader: int) -> dict[str, np.ndarray]:
    scores = {kind: np.zeros((HEADS, HEADS)) for kind in "QKV"}
    norm = np.linalg.norm
    for one in range(HEADS):
        _, _, value, output = model.plain(writer, one)
        written = output @ value
        for other in range(HEADS):
            query, key, value, output = model.plain(reader, other)
            score, copied = query.T @ key, output @ value
            scores["Q"][one, other] = norm(score.T @ written) / norm(score) / norm(written)
            scores["K"][one, other] = norm(score @ written) / norm(score) / norm(written)
            scores["V"][one, other] = norm(copied @ written) / norm(copied) / norm(written)
    return scores


@pytest.mark.parametrize(("writer", "reader"), [(0, 1), (0, 2), (1, 2)])
def test_scores_are_those_of_the_dense_products(writer, reader):
    model = toy(layers=3)
    found = measure_composition(model.checkpoint, model.layout, writer, reader)
    for kind, scores in plain_scores(model, writer, reader).items():
        assert found[kind] == pytest.approx(scores, rel=FLOAT32)


def test_a_scale_of_the_weights_does_not_matter():
    model = toy()
    scaled = {
        name: make_memory_tensor(name, array * (1e-8 if name[0] == "0" else 1e6))
        for name, array in model.arrays.items()
    }
    found = measure_composition(replace(model.checkpoint, tensors=scaled), model.layout, 0, 1)
    assert found["Q"] == pytest.approx(plain_scores(model, 0, 1)["Q"], rel=FLOAT32)
    assert found["K"] == pytest.approx(plain_scores(model, 0, 1)["K"], rel=FLOAT32)


def one_dimensional(writes: int, queries: int, keys: int, values: int) -> dict[str, float]:
    """Two layers of one head of one dimension each, that write and read single coordinates of 4."""
    unit = np.eye(4)
    arrays = {"q0": unit[:1], "k0": unit[:1], "v0": unit[:1], "o0": unit[:, [writes]]}
    arrays |= {"q1": unit[[queries]], "k1": unit[[keys]], "v1": unit[[values]], "o1": unit[:, :1]}
    tensors = {name: make_memory_tensor(name, array) for name, array in arrays.items()}
    heads = tuple(
        HeadLayout(layer, 0, 0, *((((View(f"{name}{layer}"),),)) for name in "qkv"), output=View(f"o{layer}"))
        for layer in range(2)
    )
    layout = ModelLayout("Toy", 2, 1, 1, 1, 4, (), heads)
    checkpoint = Checkpoint("toy", "toy", "safetensors", {}, tensors, "")
    return {kind: float(found[0, 0]) for kind, found in measure_composition(checkpoint, layout, 0, 1).items()}


@pytest.mark.parametrize("kind", ["Q", "K", "V"])
def test_who_reads_the_written_direction_has_score_1(kind):
    places = {one: 3 if one == kind else 1 for one in "QKV"}
    found = one_dimensional(3, places["Q"], places["K"], places["V"])
    assert found == pytest.approx({one: float(one == kind) for one in "QKV"})


def test_a_head_of_zeros_reads_and_writes_nothing():
    model = toy()
    silent = {name: make_memory_tensor(name, array * (name != "0.v")) for name, array in model.arrays.items()}
    found = measure_composition(replace(model.checkpoint, tensors=silent), model.layout, 0, 1)
    assert all((scores == 0.0).all() for scores in found.values())


def test_random_heads_score_by_chance():
    squares = [measure_composition(toy(seed).checkpoint, toy().layout, 0, 1) for seed in range(40)]
    chance = compute_composition_chance(14)
    for kind in "QKV":
        seen = np.sqrt(np.mean([scores[kind] ** 2 for scores in squares]))
        assert seen == pytest.approx(chance[kind], rel=0.05) and chance[kind] == pytest.approx(14**-0.5)


def test_pairs_of_layers():
    assert list_layer_pairs([0, 1, 4, 5]) == [(0, 1), (4, 5)]
    assert list_layer_pairs([5, 0, 1, 0], "all") == [(0, 1), (0, 5), (1, 5)]
    assert list_layer_pairs([3]) == list_layer_pairs([], "all") == []
