"""The engine: on any number of threads the same numbers; an error keeps what is finished."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.analyse import analyse_checkpoint
from glassformer.lens.layout import View, Weight
from glassformer.lens.plan import AnalysisRequest
from glassformer.lens.read.tensor import make_memory_tensor
from glassformer.lens.store import open_store
from glassformer.lens.tables import write_analysis_tables
from glassformer.lens.treatments import parse_treatments
from glassformer.lens.units import MatrixUnit

from .small_llama import HIDDEN, WIDTH, arrays, in_memory_llama

BAD = "model.layers.1.mlp.up_proj.weight"


def analysed(
    folder, model=None, treatments="raw", layers=(0, 1, 2), workers=2, tell=lambda share, name: None, **wishes
):
    checkpoint, layout = model or in_memory_llama()
    wanted = AnalysisRequest(layers, parse_treatments(treatments), **wishes)
    folder.mkdir(exist_ok=True)
    store = open_store(folder, checkpoint, layout.architecture, wanted.numbers)
    analysis = analyse_checkpoint(checkpoint, layout, wanted, store, tell, workers)
    return analysis, {
        path.name: path.read_bytes() for path in write_analysis_tables(folder, analysis, with_values=True)
    }


def with_a_nan():
    checkpoint, layout = in_memory_llama()
    broken = arrays()[BAD]
    broken[3, 4] = np.nan
    checkpoint.tensors[BAD] = make_memory_tensor(BAD, broken)
    return checkpoint, layout


@pytest.fixture
def counted(monkeypatch):
    """Names of the matrices that are worked on."""
    names, work = [], MatrixUnit.work
    monkeypatch.setattr(
        MatrixUnit, "work", lambda unit, *rest: (names.append(unit.name), work(unit, *rest))[1]
    )
    return names


def test_one_thread_and_three_and_a_second_time_give_the_same_bytes(tmp_path, counted):
    _, one = analysed(tmp_path / "one", workers=1)
    _, three = analysed(tmp_path / "three", workers=3)
    assert one == three
    assert {
        "weights.csv",
        "heads.csv",
        "layers.csv",
        "similarity.csv",
        "alignment.csv",
        "composition.csv",
    } < {*one}
    assert len(counted) == 2 * 22
    _, again = analysed(tmp_path / "one")
    assert len(counted) == 2 * 22
    assert again == one


def test_widening_uses_what_is_there_and_ends_with_the_same_bytes(tmp_path, counted):
    _, whole = analysed(tmp_path / "whole", treatments="folded")
    counted.clear()
    analysed(tmp_path / "a", layers=(1,), has_rest=False)
    assert len(counted) == 7
    analysed(tmp_path / "a", layers=(1,), treatments="folded", has_rest=False)
    assert len(counted) == 7 + 5
    _, wide = analysed(tmp_path / "a", treatments="folded")
    assert len(counted) == 3 * 12 + 1
    assert wide == whole


def test_progress_is_told_after_the_tables_are_there(tmp_path):
    told = []

    def tell(share, name):
        assert (tmp_path / "a" / "heads.csv").exists()
        told.append(share)

    analysed(tmp_path / "a", tell=tell, workers=1)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def test_an_error_says_where_and_keeps_what_is_finished(tmp_path):
    with pytest.raises(UserError, match=r"^W_up of layer 1: .*; what is finished is kept in .*a$"):
        analysed(tmp_path / "a", with_a_nan(), workers=1)
    lines = (tmp_path / "a" / "weights.csv").read_text().splitlines()
    assert len(lines) > 1 + 8  # layer 0 and the embeddings were before it
    assert not [line for line in lines if line.startswith("1,W_up")]
    assert (tmp_path / "a" / "heads.csv").read_text().count("\n") == 1 + 2 * 8


def test_what_was_read_is_let_go(tmp_path):
    checkpoint, layout = in_memory_llama(layers=1)
    forgotten = []
    for name, tensor in checkpoint.tensors.items():
        object.__setattr__(tensor, "forget", lambda name=name: forgotten.append(name))
    analysed(tmp_path / "a", (checkpoint, layout), layers=(0,))
    assert {*forgotten} >= {view.view.tensor for view in layout.weights}


def test_a_layer_of_zeros_and_a_small_matrix_do_not_spoil_the_comparison_of_the_others(tmp_path):
    checkpoint, layout = in_memory_llama()
    zeros, router = "model.layers.1.mlp.up_proj.weight", "router"
    checkpoint.tensors[zeros] = make_memory_tensor(zeros, np.zeros((HIDDEN, WIDTH), np.float32))
    checkpoint.tensors[router] = make_memory_tensor(router, arrays()["model.embed_tokens.weight"][:2])
    extra = Weight(0, "W_router", View(router), "in")
    model = checkpoint, replace(layout, weights=(*layout.weights, extra))
    found = analysed(tmp_path / "a", model, top=4)[0].relations
    assert found.top == 4
    assert "W_router" not in found.similarity
    up = found.similarity["W_up"]
    assert np.isnan(up[1]).all()
    assert 0 < up[0, 2] < 1
    assert np.isfinite(found.similarity["W_gate"]).all()
    lines = (tmp_path / "a" / "similarity.csv").read_text()
    assert "nan" not in lines
    assert lines.count("W_up") == 1
