"""`glassformer spectra A B`: the folder and JSON of a comparison, and one sentence for what is wrong."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import glassformer
from glassformer.cli.program import main
from glassformer.lens.figures.draw import draw_analysis
from tests.lens import small_llama
from tests.lens.command.test_spectra import FIELDS
from tests.lens.gguf_writer import write_gguf
from tests.lens.small_llama import HEAD_DIM, HEADS, KV_HEADS, WIDTH, arrays, config, write_llama

QUERY = "model.layers.{}.self_attn.q_proj.weight"
PLAIN = ("--format", "none")
GGUF_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def base(here):
    return str(write_llama(here / "base", 2).relative_to(here))


@pytest.fixture
def tuned(here, base):
    """The base with a matrix of rank one added to the queries of layer 1."""
    stored = load_file("base/model.safetensors")
    column, row = np.random.default_rng(7).standard_normal((2, WIDTH))
    stored[QUERY.format(1)] += np.outer(column, row).astype(np.float32)
    write_llama(here / "tuned", 2)
    save_file(stored, "tuned/model.safetensors")
    return "tuned"


def told(capsys, *words):
    assert main(["spectra", *words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "NaN" not in out
    assert "Infinity" not in out
    return json.loads(out)


def rows(folder, name="comparison"):
    with (Path(folder) / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def refused(capsys, *words):
    assert main(["spectra", *words, *PLAIN]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_a_fine_tune_of_rank_one(capsys, base, tuned):
    content = told(capsys, base, tuned, *PLAIN)
    assert {*FIELDS} <= {*content}
    assert (content["folder"], content["model"]) == ("base-and-tuned.spectra", "base")
    found = content["comparison"]
    assert (found["first"], found["second"], found["other"]["model"]) == ("base", "tuned", "tuned")
    assert (found["changed"], found["subtracted"]) == (1, 15)
    assert found["weights"]["W_Q"]["change_eff_rank"] == pytest.approx(1.0, abs=1e-4)
    assert found["weights"]["W_Q"]["change_n90"] == 1
    assert {one["change_norm"] for name, one in found["weights"].items() if name != "W_Q"} == {0}
    assert {one["layer"] for one in found["heads_changed_most"]} == {1}
    assert all(Path(file).is_file() for file in content["files"])
    assert {"comparison.csv", "comparison_heads.csv", "comparison.md"} <= {
        Path(file).name for file in content["files"]
    }
    page = Path("base-and-tuned.spectra/comparison.md").read_text()
    assert "Of the 15 weights of one shape in both, 1 changed: W_Q in layer 1." in page
    for folder in ("first", "second", "change"):
        assert (Path("base-and-tuned.spectra") / folder / "report.md").is_file()


def test_words_for_people_and_both_ways_to_ask(capsys, base, tuned):
    assert main(["spectra", base, "--compare", tuned, *PLAIN]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "against tuned, mean effective ranks of both:" in out
    assert "1 of 2 changed, by " in out
    assert "effective rank of the change 1.00\n" in out
    assert out.count("nothing changed") == 7
    assert out.endswith("next: base-and-tuned.spectra/comparison.md, and the folders beside it\n")
    assert "one of them is enough" in refused(capsys, base, tuned, "--compare", tuned)


def test_a_second_time_is_only_told(capsys, base, tuned, monkeypatch):
    told(capsys, base, tuned, *PLAIN)
    folder = Path("base-and-tuned.spectra")
    before = {path: path.read_bytes() for path in folder.glob("comparison*")}
    from glassformer.lens.units import HeadsUnit, MatrixUnit

    for kind in (HeadsUnit, MatrixUnit):
        monkeypatch.setattr(kind, "work", None)
    told(capsys, base, tuned, *PLAIN)
    assert {path: path.read_bytes() for path in folder.glob("comparison*")} == before
    content = told(capsys, base, tuned, "--heads", *PLAIN)
    assert content["comparison"]["weights"] == {}
    assert sorted(path.name for path in folder.glob("comparison*")) == [
        "comparison.md",
        "comparison_heads.csv",
    ]


def test_figures_are_drawn_once_and_tried_again_where_they_failed(capsys, base, tuned, monkeypatch):
    drawn = []

    def draw(both, folder, formats, theme, tell):
        drawn.append(formats)
        folder.mkdir(exist_ok=True)
        (folder / "C01.png").write_bytes(b"picture")
        if len(drawn) == 1:
            tell("C02 could not be drawn")
        return [folder / "C01.png"]

    monkeypatch.setattr("glassformer.lens.figures.draw.draw_comparison", draw)
    monkeypatch.setattr("glassformer.lens.figures.draw.draw_analysis", lambda *_: [])
    first = told(capsys, base, tuned, "--layers", "1", "--relations", "none")
    assert first["notes"] == ["C02 could not be drawn"]
    for _ in range(2):
        content = told(capsys, base, tuned, "--layers", "1", "--relations", "none")
        assert content["notes"] == []
        assert content["files"][2] == "base-and-tuned.spectra/figures/C01.png"
    assert drawn == [("png",), ("png",)]


def test_identical_models_and_figures_of_no_change(capsys, here, base, monkeypatch):
    def draw(analysis, *rest):  # the change is a model of zeros; the others are drawn elsewhere
        return draw_analysis(analysis, *rest) if " minus " in analysis.name else []

    monkeypatch.setattr("glassformer.lens.figures.draw.draw_analysis", draw)
    write_llama(here / "other" / "base", 2)
    content = told(capsys, base, "other/base", "--layers", "0", "--relations", "none")
    found = content["comparison"]
    assert (found["changed"], found["heads_changed_most"]) == (0, [])
    assert content["notes"] == []
    assert found["first"].endswith("/base")
    assert found["second"] == "other/base"
    for one in found["weights"].values():
        assert (one["change_norm"], one["change_eff_rank"], one["similarity"]) == (0, 0, 1)
    figures = [Path(file).name.partition("_")[0] for file in content["files"] if "/figures/" in file]
    assert figures == ["C01", "S06", "S07", "S09"]  # nothing has no energy, and no edge


def test_a_model_against_itself(capsys, base):
    content = told(capsys, base, base, "--layers", "0", *PLAIN)
    assert content["folder"] == "base-and-base again.spectra"


def test_models_of_other_depth(capsys, here, base):
    write_llama(here / "deep", 4, seed=1)
    content = told(capsys, base, "deep", *PLAIN)
    assert "the models have 2 and 4 layers, paired by index" in content["notes"]
    assert content["notes"][-1].endswith("different numbers of layers: heads are not compared one by one")
    found = content["comparison"]
    assert found["weights"]["W_O"]["subtracted"] == 2
    assert found["other"]["layers"] == 4
    assert found["heads_changed_most"] == []
    assert len(rows(content["folder"])) == 15
    assert "layers 0 to 1" in refused(capsys, base, "deep", "--layers", "3")


def test_models_that_share_nothing(capsys, here, base, monkeypatch):
    for name, value in {"WIDTH": 12, "HEADS": 3, "KV_HEADS": 1, "HIDDEN": 20, "WORDS": 9}.items():
        monkeypatch.setattr(small_llama, name, value)
    write_llama(here / "small", 2)
    content = told(capsys, base, "small", *PLAIN)
    assert content["notes"][0] == (
        "base and small share no weight of one shape: their ranks are compared, not their weights"
    )
    found = content["comparison"]
    assert found["subtracted"] == 0
    assert found["weights"]["W_Q"]["change_norm"] is None
    assert found["weights"]["W_Q"]["other_mean"] < found["weights"]["W_Q"]["mean"]
    assert {row["change_norm"] for row in rows(content["folder"])} == {""}
    assert not Path(content["folder"], "change").exists()
    assert "changed" not in Path(content["folder"], "comparison.md").read_text().split("|")[0]


def test_some_layers_and_heads_alone(capsys, base, tuned):
    content = told(capsys, base, tuned, "--layers", "0", *PLAIN, "--out", "some")
    assert {row["layer_idx"] for row in rows("some")} == {"0"}
    assert content["comparison"]["changed"] == 0
    content = told(capsys, base, tuned, "--heads", *PLAIN, "--out", "heads")
    assert content["comparison"]["weights"] == {}
    assert not Path("heads/comparison.csv").exists()
    found = rows("heads", "comparison_heads")
    assert len(found) == 2 * HEADS * 2
    assert {row["layer_idx"] for row in found if abs(float(row["eff_rank_change"])) > 1e-6} == {"1"}


@pytest.mark.parametrize(("dtype", "largest"), [(np.float32, 0.0), (np.float16, 5e-4)])
def test_permuted_rows_of_a_gguf_file_are_put_in_order(capsys, here, base, dtype, largest):
    write_llama_gguf(here / "same.gguf", dtype)
    found = told(capsys, base, "same.gguf", *PLAIN)["comparison"]
    assert found["subtracted"] == 15
    assert max(one["change_norm"] for one in found["weights"].values()) <= largest
    if largest:
        assert found["changed"] == 15
        assert found["weights"]["W_Q"]["change_relative"] > 0.8  # rounding: no direction is preferred
    else:
        assert found["changed"] == 0


def write_llama_gguf(path, dtype, layers=2):
    """The base as converters for GGUF write it: the rows of queries and keys pair by pair."""
    metadata = {
        "general.architecture": "llama",
        "llama.block_count": layers,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": config()["intermediate_size"],
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KV_HEADS,
        "llama.rope.dimension_count": HEAD_DIM,
        "llama.rope.freq_base": 10000.0,
    }
    write_gguf(path, metadata, {gguf_name(name): stored_rows(name, array).astype(dtype) for name, array in arrays(layers).items()})  # fmt: skip


def gguf_name(name):
    if not name.startswith("model.layers."):
        return {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}[
            name
        ]
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    return f"blk.{layer}.{GGUF_NAMES[part]}.weight"


def stored_rows(name, array):
    if "q_proj" not in name and "k_proj" not in name:
        return array
    halves = array.reshape(-1, 2, HEAD_DIM // 2, array.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(array.shape))


def test_what_cannot_be_compared_is_one_sentence(capsys, here, base, tuned):
    (here / "t.csv").write_text("layer_idx,weight_type,shape,eff_rank\n0,W_Q,4x4,3.0\n")
    for words in ((base, "t.csv"), ("t.csv", base)):
        assert "t.csv is a table; two models are compared by their weights" in refused(capsys, *words)
    (here / "file").write_text("")
    assert "file is a file, not a folder" in refused(capsys, base, tuned, "--out", "file")
    told(capsys, base, "--heads", "--out", "one", *PLAIN)
    assert "one holds the analysis of one model" in refused(capsys, base, tuned, "--out", "one")
    assert "nowhere" in refused(capsys, base, "nowhere.gguf")


def test_from_python(base, tuned):
    result = glassformer.spectra(base, tuned, layers="1", formats=["none"], workers=1)
    assert result.comparison["weights"]["W_Q"]["changed"] == 1
    assert result.heads == HEADS
