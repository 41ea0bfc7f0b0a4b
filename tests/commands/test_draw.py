"""`glassformer draw` and `glassformer video`: files, data, captions, and one sentence for everything wrong."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import glassformer
from glassformer.cli.program import main
from glassformer.core.atomic import read_arrays
from glassformer.runs.config import DrawSettings
from tests.pictures.conftest import RUNS


@pytest.fixture(autouse=True)
def run(tmp_path, monkeypatch):
    """A finished run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RUNS / "plus_last_even", tmp_path / "runs" / "plus_last_even")
    return Path("runs/plus_last_even")


def answer(capsys, *words):
    assert main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def sentence(capsys, *words):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err.removeprefix("glassformer: ").strip()


def test_files_data_and_captions(capsys, run):
    content = answer(capsys, "draw", str(run), "--only", "05,f4", "--format", "png,svg,pdf")
    assert set(content) >= {"files", "seconds"}
    names = [Path(file).name for file in content["files"]]
    assert names == [
        f"{stem}.{kind}" for stem in ("05_token_embeddings", "F4_head") for kind in ("png", "svg", "pdf")
    ]
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert all(Path(file).read_bytes().startswith(starts[file[-3:]]) for file in content["files"])
    data, about = read_arrays(run / "figures" / "data" / "05.safetensors")
    params = load_file(run / "params.safetensors")
    np.testing.assert_array_equal(data["parameters.token.weight"], params["token.weight"])
    captions = (run / "figures" / "captions.md").read_text()
    assert about["caption"] in captions
    assert captions.index("## 05 token embeddings") < captions.index("## F4 head")


def test_the_same_figure_twice_is_the_same_bytes(capsys, run):
    words = ("draw", str(run), "--only", "05", "--format", "png,svg,pdf")
    first = [Path(file).read_bytes() for file in answer(capsys, *words)["files"]]
    assert first == [Path(file).read_bytes() for file in answer(capsys, *words)["files"]]


def test_captions_keep_figures_that_were_drawn_before(capsys, run):
    for number in ("06", "05"):
        answer(capsys, "draw", str(run), "--only", number)
    captions = (run / "figures" / "captions.md").read_text()
    assert captions.index("## 05") < captions.index("## 06")


def test_another_step_has_its_own_folder(capsys, run):
    last, first = (answer(capsys, "draw", str(run), "--only", "05", *step) for step in ((), ("--step", "0")))
    assert Path(first["files"][0]).parent == run / "figures" / "step_0"
    assert Path(first["files"][0]).read_bytes() != Path(last["files"][0]).read_bytes()


def test_themes_differ(capsys, run):
    pictures = {
        Path(answer(capsys, "draw", str(run), "--only", "05", "--theme", theme)["files"][0]).read_bytes()
        for theme in ("light", "dark", "print")
    }
    assert len(pictures) == 3


def test_a_weights_file_has_no_past(capsys, run, tmp_path):
    shutil.copy(run / "params.safetensors", tmp_path / "mine.safetensors")
    content = answer(capsys, "draw", "mine.safetensors", "--only", "02,06")
    assert content["files"] == ["mine.figures/06_embedding_scatter.png"]
    assert content["skipped"] == {"02": "mine has no saved steps or no metrics (a run folder has both)"}
    assert "mine has no saved steps" in sentence(capsys, "draw", "mine.safetensors", "--only", "02")


def test_a_longer_sequence_is_cut_and_that_is_said(capsys, run):
    content = answer(capsys, "draw", str(run), "--only", "12", "--sequence", "1 2 3 4 5 6 7 8 9 +")
    assert content["notes"] == [
        "'1 2 3 4 5 6 7 8 9 +' has 10 tokens; the context has 8, so the last 8 are drawn"
    ]
    about = read_arrays(run / "figures" / "data" / "12.safetensors")[1]
    assert "3 4 5 6 7 8 9 +" in about["caption"]


def test_an_adder_has_a_poster_and_its_panels(capsys):
    content = answer(capsys, "draw", "microadder-57", "--only", "poster,P7", "--pair", "57+68")
    assert [Path(file).suffix for file in content["files"]] == [".png", ".png"]
    assert all(file.startswith("microadder-57.figures/") for file in content["files"])


def test_panels_of_a_rule_and_figures_of_an_adder(capsys, run):
    content = answer(capsys, "draw", str(run), "--only", "P1,P7,P8")
    assert [Path(file).name for file in content["files"]] == ["P1_big_picture.png", "P7_parameters.png"]
    assert content["skipped"] == {
        "P8": "plus_last_even follows a rule, and this panel is about adding two numbers"
    }
    content = answer(capsys, "draw", "glass-29", "--only", "S8,05")
    assert content["files"] == [
        "glass-29.figures/05_token_embeddings.png", "glass-29.figures/S8_every_parameter.png"
    ]  # fmt: skip


def test_a_question_gets_every_figure_that_fits(capsys):
    run = RUNS / "modular11"
    content = answer(capsys, "draw", str(run), "--out", "mine", "--only", "03,A3,P1", "--sequence", "7 9 =")
    assert [Path(file).name[:2] for file in content["files"]] == ["03", "A3", "P1"]
    assert "as the task demands" in (Path("mine") / "captions.md").read_text()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("draw runs/plus_last_even --only P8", "plus_last_even follows a rule, and this panel is about adding"),
        ("draw glass-29 --only A1", "glass-29 adds: it has no rule"),
        ("draw runs/plus_last_even --only 99", "no figure called '99'; "),
        ("draw runs/plus_last_even --only A9", "no figure called 'A9'; did you mean 'A"),
        ("draw runs/plus_last_even --step 950", "step 950 was not saved; the nearest are 900 and 1,800 (12 are saved"),
        ("draw runs/plus_last_even --theme drk", "no theme called 'drk'; did you mean 'dark'?"),
        ("draw runs/plus_last_even --format gif", "no format called 'gif'; valid: png, svg, pdf"),
        ("draw runs/plus_last_even --format ,", "--format needs at least one of png, svg, pdf"),
        ("draw runs/plus_last_even --pair 1+2", "--pair is for adders; plus_last_even follows a rule: --sequence"),
        ("draw runs/plus_last_even --query 7", "--query must be TOKEN@POSITION with a position from 0 to 7, but it is '7'"),
        ("draw runs/plus_last_even --dims 0", "--dims must be two integers with a comma between them, as 0,1, but it is '0'"),
        ("draw microadder-57 --step 3", "microadder-57 has no saved steps (a run folder has); leave --step out"),
        ("draw microadder-57 --pair 1", "--pair must be two integers from 0 up, as 57+68, but it is '1'"),
        ("draw microadder-57 --pair 1+99999999999", "B must be an integer between 0 and 9999999999, but it is 99999999999"),
        ("draw microadder-57 --query +@7", "--query is for rules; microadder-57 adds: --pair A+B"),
        ("video nanogpt-58", "nanogpt-58 has no saved steps to film: it was built by hand or came as finished weights"),
        ("video runs/plus_last_even --which landscpe", "no video called 'landscpe'; did you mean 'landscape'?"),
        ("video runs/plus_last_even --width 17", "width must be"),
        ("video runs/plus_last_even --every 0", "every must be"),
        ("video runs/plus_last_even --fps 0", "fps must be"),
        ("video runs/plus_last_even --format avi", "no format called 'avi'"),
        ("draw runs/nothing", "no model, run or weights file called 'runs/nothing'"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(capsys, words, expected):
    assert sentence(capsys, *words.split()).startswith(expected)


def test_a_token_outside_the_vocabulary_is_refused_with_the_list(capsys, run):
    said = sentence(capsys, "draw", str(run), "--sequence", "4 1 x")
    assert said == "no token called 'x'; valid: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, +"
    assert "must hold tokens" in sentence(capsys, "draw", str(run), "--sequence", " ")
    assert not (run / "figures").exists()


def test_python_gives_pictures_to_a_notebook(run):
    result = glassformer.draw(run, only=["05"])
    assert result._repr_html_().startswith('<img src="data:image/png;base64,')


def test_list_names_every_figure(capsys):
    figures = answer(capsys, "list", "figures")["figures"]
    assert {"01", "18", "S1", "F1", "A1", "P0", "P1"} <= {figure["id"] for figure in figures}
    assert all(figure["about"] for figure in figures)


def test_drawing_needs_no_jax(run):
    code = "import sys; from glassformer.cli.program import main\n"
    code += f"main(['draw', {str(run)!r}, '--only', '05'])\nprint('jax' in sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "False\n"


def test_a_run_draws_what_is_missing(capsys, run):
    """A finished run whose figures were lost, or never finished, gets them by the same command."""
    words = (
        "run",
        "plus_last_even",
        "--prove.seconds",
        "2",
        "--train.seeds",
        "16",
        "--draw.figures",
        "05,06",
    )
    answer(capsys, *words)
    drawn = {path: path.stat().st_mtime_ns for path in (run / "figures").glob("*.png")}
    assert [path.name[:2] for path in sorted(drawn)] == ["05", "06"]
    lost, kept = sorted(drawn)
    (run / "figures" / "data" / "05.safetensors").unlink()
    answer(capsys, *words)
    assert lost.stat().st_mtime_ns > drawn[lost]
    assert kept.stat().st_mtime_ns == drawn[kept]
    assert DrawSettings().figures == "all"
