"""`glassformer spectra`: its folder, its JSON, how it goes on, and one sentence for everything that is wrong."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import glassformer
from glassformer.cli.program import main
from glassformer.lens.matrix import read_map, view_matrix
from tests.lens.real_weights import minilm, smollm2
from tests.lens.small_llama import arrays, write_llama

FIELDS = ("folder", "architecture", "layers", "heads", "kv_heads", "head_dim", "qk_effective_rank", "weights")
FIELDS += (
    "seconds",
    "peak_memory_mb",
    "first_result_seconds",
    "notes",
    "files",
    "treatments",
    "ov_effective_rank",
)
HEAVY = ("jax", "torch", "transformers", "scipy", "matplotlib", "rich", "hypothesis")
SUICIDAL = """
import os, signal, sys
from pathlib import Path
from glassformer.cli.program import program
moment, real, done = int(sys.argv[1]), Path.replace, [0]
def replace(path, target):
    done[0] += 1
    if done[0] == moment:
        os.kill(os.getpid(), signal.SIGKILL)
    real(path, target)
Path.replace = replace
sys.argv[:] = ["glassformer", *sys.argv[2:]]
program()
"""


@pytest.fixture
def llama(here):
    return str(write_llama(here / "llama").relative_to(here))


def told(capsys, *words):
    assert main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def tables(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.csv"))}


def test_the_folder_and_the_fields(capsys, llama):
    content = told(capsys, "spectra", llama, "--format", "none")
    assert {*FIELDS} <= {*content}
    assert content["folder"] == "llama.spectra"
    assert {*content["qk_effective_rank"]} >= {"min", "max", "mean", "std", "argmin", "argmax"}
    assert all(Path(file).is_file() for file in content["files"])
    assert {"weights.csv", "heads.csv", "layers.csv", "report.md"} <= {
        Path(file).name for file in content["files"]
    }
    assert "NaN" not in json.dumps(content)


def test_words_for_people(capsys, llama):
    assert main(["spectra", llama, "--heads", "--format", "none"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("llama.spectra: llama, llama, 3 layers, in ")
    assert "QK effective rank: mean " in out
    assert "next: glassformer spectra llama " in out


def test_a_second_time_is_only_told_and_narrower_tables_leave_nothing_old(capsys, llama, monkeypatch):
    words = ("spectra", llama, "--format", "none", "--singular-values")
    told(capsys, *words)
    before = tables("llama.spectra")
    from glassformer.lens.units import HeadsUnit, MatrixUnit

    for kind in (HeadsUnit, MatrixUnit):
        monkeypatch.setattr(kind, "work", None)
    told(capsys, *words)
    assert tables("llama.spectra") == before
    told(capsys, "spectra", llama, "--format", "none", "--heads", "--relations", "none")
    assert [*tables("llama.spectra")] == ["heads.csv", "layers.csv"]


def test_figures_are_drawn_once_and_their_errors_lose_nothing(capsys, llama, monkeypatch):
    drawn = []

    def draw(analysis, folder, formats, theme, tell):
        drawn.append(formats)
        folder.mkdir(exist_ok=True)
        (folder / "S01.png").write_bytes(b"picture")
        if formats == ("svg",):
            tell("S02 could not be drawn")
        return [folder / "S01.png"]

    monkeypatch.setattr("glassformer.lens.figures.draw.draw_analysis", draw)
    for _ in range(2):
        content = told(capsys, "spectra", llama, "--layers", "0")
        assert "llama.spectra/figures/S01.png" in content["files"]
    assert drawn == [("png",)]
    told(capsys, "spectra", llama, "--layers", "0-1")
    for _ in range(2):  # what failed is told, and tried again
        content = told(capsys, "spectra", llama, "--layers", "0-1", "--format", "svg")
        assert content["notes"] == ["S02 could not be drawn"]
    assert drawn == [("png",), ("png",), ("svg",), ("svg",)]
    monkeypatch.setattr("glassformer.lens.figures.draw.draw_analysis", lambda *_: 1 / 0)
    content = told(capsys, "spectra", llama, "--layers", "2")
    assert content["notes"] == ["the figures could not be drawn (ZeroDivisionError: division by zero)"]
    assert "llama.spectra/weights.csv" in content["files"]


def test_a_killed_process_goes_on_and_ends_with_the_same_bytes(here, llama):
    words = ["spectra", llama, "--format", "none", "--json", "--out"]

    def process(folder, moment=0):
        command = [sys.executable, "-c", SUICIDAL, str(moment), *words, folder]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert process("whole").returncode == 0
    for moment in (3, 14):  # an early unit; a unit or a table in the middle
        assert process("killed", moment).returncode == -signal.SIGKILL
    done = process("killed")
    assert (done.returncode, done.stderr) == (0, "")
    assert tables("killed") == tables("whole")
    assert not list(Path("killed").rglob(".*.tmp"))


def test_a_plain_analysis_imports_nothing_heavy(llama):
    code = (
        "import sys; from glassformer.cli.program import main\n"
        f"main(['spectra', {llama!r}, '--format', 'none', '--json'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_our_own_models_too(capsys):
    content = told(capsys, "spectra", "nanogpt-58", "--format", "none")
    assert (content["folder"], content["architecture"], content["heads"]) == (
        "nanogpt-58.spectra",
        "glassformer",
        2,
    )


def test_a_table_in_the_published_columns(capsys, here):
    ranks = (9.0, 8.0, 7.5, 6.0, 5.5, 4.0)
    lines = [f"{layer},W_Q,12x12,{rank}" for layer, rank in enumerate(ranks)]
    (here / "t.csv").write_text("\n".join(["layer_idx,weight_type,shape,eff_rank", *lines]) + "\n")
    content = told(capsys, "spectra", "t.csv")
    assert content["weights"]["W_Q"]["trend"]["label"] == "falling"
    assert (content["folder"], content["layers"]) == (None, 6)
    assert main(["spectra", "t.csv"]) == 0
    assert "falling, p = 0.003" in capsys.readouterr().out


def test_from_python(llama):
    result = glassformer.spectra(llama, layers="1", formats=["none"], workers=1)
    assert result.heads == 4
    assert result.weights["W_Q"]["phases"]["early"] > 0
    assert result._repr_html_() == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("llama --layers 50", "--layers asks for layer 50, but the model has layers 0 to 2"),
        ("llama --layers 2-1", "--layers must be numbers and ranges, such as 0-5,8, but it is '2-1'"),
        ("llama --treatments foldet", "no treatment called 'foldet'; did you mean 'folded'?"),
        ("llama --relations nere", "no choice of --relations called 'nere'; did you mean 'near'?"),
        ("llama --device tpu", "no choice of --device called 'tpu'; "),
        ("llama --workers 0", "--workers must be at least 1, but it is 0"),
        ("llama --top 0", "--top must be at least 1, but it is 0"),
        ("llama --format gif", "no format called 'gif'; "),
        ("llama --theme lite", "no theme called 'lite'; "),
        ("llama --out llama", "llama is not empty and holds no analysis (it has config.json); --out "),
        (
            "llama --out llama/config.json",
            "llama/config.json is a file, not a folder; choose another folder with --out",
        ),
        ("llama --device gpu", "--device gpu needs a GPU that JAX sees, but it sees none"),
        ("none.csv --layers 0", "none.csv is a table, always shown whole; "),
        ("none.csv", "cannot read the table none.csv: No such file or directory"),
        ("llama llama extra", "'extra' is one word too many for glassformer spectra"),
    ],
)
def test_bad_input_gets_one_sentence(capsys, here, llama, words, sentence):
    before = sorted(here.rglob("*"))
    assert main(["spectra", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"glassformer: {sentence}")
    assert sorted(here.rglob("*")) == before


def test_bad_numbers_end_with_a_sentence_and_keep_the_others(capsys, here):
    write_llama(here / "bad", bad=["model.layers.2.mlp.down_proj.weight"])
    assert main(["spectra", "bad", "--workers", "1"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("glassformer: W_down of layer 2: ")
    assert err.endswith("; what is finished is kept in bad.spectra\n")
    assert Path("bad.spectra/weights.csv").read_text().count("\n") > 1 + 14
    assert main(["spectra", "bad", "--layers", "0-1", "--format", "none"]) == 0


@pytest.mark.parametrize(
    "tensor",
    ["self_attn.k_proj.weight", "self_attn.o_proj.weight", "self_attn.k_proj.bias", "input_layernorm.weight"],
)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_bad_number_of_a_head_is_named_by_its_tensor(capsys, here, tensor, number):
    """A bias, too, which no spectrum is taken of, and a gain that is folded in."""
    write_llama(here / "bad", layers=1)
    stored, name = arrays(layers=1), f"model.layers.0.{tensor}"
    stored[name] = np.full(stored.get(name, np.ones(8)).shape, number, np.float32)
    save_file(stored, here / "bad" / "model.safetensors")
    assert main(["spectra", "bad", "--heads", "--treatments", "folded"]) == 2
    said = f"the heads of layer 0: {name} has {number}, where a finite number was expected; "
    assert capsys.readouterr().err.startswith(f"glassformer: {said}")


def test_smollm2(capsys):
    """The heads of all layers, and every matrix of two, against LAPACK on the same dequantised weights."""
    file = str(smollm2())
    content = told(
        capsys, "spectra", file, "--heads", "--relations", "none", "--format", "none", "--out", "smol"
    )
    ranks = content["qk_effective_rank"]
    assert round(ranks["mean"], 1) == 51.6
    assert round(ranks["min"], 1) == 15.5
    assert ranks["argmin"] == {"layer": 0, "head": 8}
    compare_with_lapack(file, layers="0,29", heads=(8,), types=("W_Q", "W_O", "W_down"))


@pytest.mark.slow
def test_minilm(capsys):
    folder = str(minilm())
    content = told(capsys, "spectra", folder, "--layers", "0,5", "--format", "none", "--out", "mini")
    assert (content["architecture"], content["layers"], content["heads"]) == ("bert", 6, 12)
    compare_with_lapack(folder, layers="0,5", heads=(2,), types=("W_Q", "W_O", "W_up"))


def compare_with_lapack(target, layers, heads, types):
    """All singular values of chosen matrices and kernels within 1e-6 relative of the dense float64 SVD."""
    from glassformer.lens.adapt.opened import open_target
    from glassformer.lens.command.analyse import StageClock, analyse_into_folder
    from glassformer.lens.command.input import AnalysisStyle
    from glassformer.lens.plan import AnalysisRequest
    from glassformer.lens.treatments import parse_treatments

    checkpoint, layout = open_target(target)
    chosen = AnalysisRequest(
        tuple(map(int, layers.split(","))), parse_treatments("raw"), has_rest=False, relations="none"
    )
    style = AnalysisStyle(formats=("none",))
    analysis, _ = analyse_into_folder(checkpoint, layout, chosen, Path("dense"), style, StageClock(0.0))
    for one in analysis.matrices:
        if one.weight.type in types:
            dense = view_matrix(checkpoint, one.weight.view).dense().astype(np.float64)
            np.testing.assert_allclose(one.values, np.linalg.svd(dense, compute_uv=False), rtol=1e-6)
    for one in analysis.kernels:
        if one.head.index in heads:
            np.testing.assert_allclose(one.values, dense_kernel(checkpoint, one)[: one.size], rtol=1e-6)


def dense_kernel(checkpoint, one):
    """Singular values of the whole kernel, as wide as the model."""
    head = one.head
    if one.kernel == "QK":
        kernel = read_map(checkpoint, head.query).T @ read_map(checkpoint, head.key)
    else:
        kernel = view_matrix(checkpoint, head.output).dense().astype(np.float64) @ read_map(
            checkpoint, head.value
        )
    return np.linalg.svd(kernel, compute_uv=False)
