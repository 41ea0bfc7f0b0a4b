"""Two analyses side by side: pairs, sizes and ranks of the change, tables without a nan."""

import json
import math
from itertools import count

import numpy as np
import pytest

from glassformer.lens.analyse import analyse_checkpoint
from glassformer.lens.compare import SEEN, compare_analyses, compare_subspaces
from glassformer.lens.compare_tables import make_comparison_tables, summarise_comparison, summarise_type_pair
from glassformer.lens.difference import LensModel, subtract_models
from glassformer.lens.plan import AnalysisRequest
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor
from glassformer.lens.store import open_store
from glassformer.lens.table_files import format_csv
from glassformer.lens.treatments import parse_treatments
from tests.lens.small_llama import WIDTH, arrays, config, find_layout

QUERY = "model.layers.{}.self_attn.q_proj.weight"


@pytest.fixture
def compared(tmp_path):
    """A comparison of two models that are given by their arrays and numbers of layers."""

    folders = (tmp_path / str(number) for number in count())

    def analysis(model):
        folder = next(folders)
        folder.mkdir()
        layers = tuple(range(model.layout.layers))
        wanted = AnalysisRequest(layers, parse_treatments("raw"), relations="none", top=4)
        store = open_store(folder, model.checkpoint, "llama", wanted.numbers)
        return analyse_checkpoint(model.checkpoint, model.layout, wanted, store, workers=1)

    def both(first, second, layers=(3, 3), **other):
        models = [
            model_of("base", first, config(layers[0])),
            model_of("tuned", second, config(layers[1]) | other),
        ]
        change = analysis(subtract_models(*models)) if not other else None
        return compare_analyses(analysis(models[0]), analysis(models[1]), change)

    return both


def model_of(name, stored, settings):
    tensors = {key: make_memory_tensor(key, array) for key, array in stored.items()}
    checkpoint = Checkpoint(name, name, "safetensors", settings, tensors, name)
    return LensModel(checkpoint, find_layout(checkpoint))


def tuned(stored, layers=(1,), size=0.5):
    """A matrix of rank one added to some query weights, in float64 so that nothing is rounded."""
    column, row = np.random.default_rng(9).standard_normal((2, WIDTH))
    added = size * np.outer(column, row)
    return stored | {
        QUERY.format(layer): stored[QUERY.format(layer)].astype(float) + added for layer in layers
    }


def by_name(both):
    return {one.name: summarise_type_pair(one) for one in both.types}


def test_an_update_of_rank_one_is_one_and_the_rest_is_unchanged(compared):
    stored = arrays()
    both = compared(stored, tuned(stored))
    (pair,) = both.changed
    assert (pair.first.weight.type, pair.first.weight.layer) == ("W_Q", 1)
    update = tuned(stored)[QUERY.format(1)] - stored[QUERY.format(1)]
    weight = np.linalg.norm(stored[QUERY.format(1)].astype(float))
    assert pair.change_norm == pytest.approx(np.linalg.norm(update) / weight, rel=1e-9)
    assert pair.change_rank == pytest.approx(1.0, abs=1e-6)
    assert pair.change_components == 1
    assert pair.change_relative == pytest.approx(1.0 / pair.first.random.eff_rank)
    assert 0.1 < pair.similarity < 1
    found = by_name(both)
    assert (found["W_Q"]["changed"], found["W_Q"]["subtracted"]) == (1, 3)
    assert found["W_Q"]["change_eff_rank"] == pytest.approx(1.0, abs=1e-6)  # not a third: of what changed
    assert all(one["change_norm"] == 0 for name, one in found.items() if name != "W_Q")
    assert {pair.first.head.layer for pair in both.most_changed_heads} == {1}
    assert {pair.first.kernel for pair in both.most_changed_heads} == {"QK"}


def test_the_usual_order_of_types(compared):
    both = compared(arrays(), arrays())
    assert [one.name for one in both.types] == [
        *("W_Q", "W_K", "W_V", "W_O", "W_gate", "W_up", "W_down", "W_E"),
    ]


def test_identical_models_divide_nothing_by_zero(compared):
    both = compared(arrays(), arrays())
    assert both.changed == []
    assert len(both.subtracted) == len(both.weights) == 22
    for pair in both.weights:
        assert (pair.change_norm, pair.change_rank, pair.change_relative, pair.similarity) == (0, 0, 0, 1)
    assert both.most_changed_heads == []


def test_weights_of_zeros_are_compared_too(compared):
    stored, name = arrays(), QUERY.format(0)
    empty = stored | {name: np.zeros_like(stored[name])}
    both = compared(empty, empty)
    assert (both.weights[1].change_norm, both.weights[1].change_rank) == (0, 0)
    assert math.isnan(both.weights[1].similarity)
    (pair,) = compared(empty, stored).changed
    assert math.isnan(pair.change_norm)
    assert pair.change_rank > 1


def test_nothing_that_is_written_holds_a_nan(compared):
    stored, name = arrays(), QUERY.format(0)
    both = compared(stored | {name: np.zeros_like(stored[name])}, stored)
    tables = make_comparison_tables(both)
    assert [*tables] == ["comparison", "comparison_heads"]
    for table in tables.values():
        assert "nan" not in format_csv(table)
    assert "NaN" not in json.dumps(summarise_comparison(both), allow_nan=False)


def test_models_of_other_depth_pair_by_number_and_keep_their_own_means(compared):
    long, short = arrays(5, seed=1), arrays(3)
    both = compared(short, long, (3, 5))
    one = next(one for one in both.types if one.name == "W_O")
    assert (len(one.first), len(one.second), len(one.pairs)) == (3, 5, 3)
    own = [m.eff_rank for m in both.second.matrices if m.weight.type == "W_O"]
    assert summarise_type_pair(one)["other_mean"] == pytest.approx(np.mean(own))
    assert both.heads == ()


def test_other_shapes_have_ranks_but_no_change(compared):
    narrow = {
        name: array[:12]
        if "gate" in name or "up_proj" in name
        else array[:, :12]
        if "down" in name
        else array
        for name, array in arrays().items()
    }
    both = compared(arrays(), narrow, intermediate_size=12)
    found = by_name(both)["W_gate"]
    assert found["subtracted"] == 0
    assert math.isnan(found["change_norm"])
    assert found["other_mean"] < found["mean"]
    assert summarise_comparison(both)["weights"]["W_gate"]["change_norm"] is None


def test_a_type_of_several_shapes_is_several(compared):
    stored = arrays()
    name = "model.layers.2.mlp.gate_proj.weight"
    names = (name, name.replace("gate", "up"))
    odd = stored | {one: stored[one][:20] for one in names}
    odd["model.layers.2.mlp.down_proj.weight"] = stored["model.layers.2.mlp.down_proj.weight"][:, :20]
    types = {one.name: len(one.pairs) for one in compared(odd, odd).types}
    assert types["W_gate 24x16"] == 2
    assert types["W_gate 20x16"] == 1


def test_rounding_everywhere_does_not_hide_an_update_somewhere(compared):
    stored = arrays()
    rounded = {name: array.astype(np.float16).astype(float) for name, array in stored.items()}
    found = by_name(compared(stored, tuned(rounded, size=3.0)))
    assert found["W_Q"]["changed"] == 3
    assert found["W_Q"]["change_eff_rank"] < 1.1
    assert found["W_Q"]["change_n90"] == pytest.approx(1, abs=1e-4)
    assert found["W_O"]["change_relative"] > 0.8
    assert found["W_O"]["change_norm"] < 1e-3


def test_similarity_of_subspaces():
    axes = np.eye(6, dtype=np.float32)
    assert compare_subspaces(axes[:2], axes[:2][::-1]) == 1.0
    assert compare_subspaces(axes[:2], axes[2:4]) == 0.0
    assert math.isnan(compare_subspaces(axes[:2], axes[:3]))
    assert math.isnan(compare_subspaces(axes[:0], axes[:0]))
    assert math.isnan(compare_subspaces(None, axes))


def test_a_head_that_moved_by_rounding_did_not_change(compared):
    stored = arrays()
    both = compared(stored, tuned(stored, size=1e-7))
    assert len(both.changed) == 1
    assert max(abs(pair.by) for pair in both.heads) < SEEN
    assert both.most_changed_heads == []
