"""`glassformer sweep`: its JSON, its words, its plan, and what it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import glassformer
from glassformer.cli.program import main
from glassformer.core.atomic import lock_folder
from glassformer.sweeps.folder import read_stored_sweep
from glassformer.sweeps.store import write_unit_plan, write_unit_result
from glassformer.sweeps.unit import main as unit_main
from tests.sweeps.small import known_result

GRID = ["--grid", "train.peak_rate=0.01,0.03", "--seeds", "5", "--block", "4"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    return tmp_path


@pytest.fixture
def done(here):
    """A folder with the results of all units, as another machine would bring them."""
    folder = here / "sweeps" / "successor"
    glassformer.sweep("successor", grid={"train.peak_rate": [0.01, 0.03]}, seeds=5, block=4, plan=True)
    for unit in read_stored_sweep(folder).units():
        write_unit_result(folder / "units", unit, known_result(unit))
    return folder


def test_json(done, capsys):
    assert main(["sweep", "successor", *GRID, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert {"table", "rows", "folder", "seconds", "models"} <= set(content)
    assert content["table"] == "sweeps/successor/table.csv"
    wanted = {"configuration", "parameters", "seeds", "reached", "proved", "rate", "low", "high", "seconds"}
    assert all(wanted <= set(row) for row in content["rows"])
    assert [(row["seeds"], row["reached"], row["proved"], row["rate"]) for row in content["rows"]] == [
        (5, 3, 2, 0.6)
    ] * 2
    assert content["models"] == [
        f"sweeps/successor/models/successor-peak_rate-{rate}-seed{seed}.safetensors"
        for rate in ("0.01", "0.03")
        for seed in (0, 4)
    ]
    assert all(Path(path).exists() for path in (*content["models"], content["page"]))
    assert json.loads((done / "result.json").read_text()) == content


def test_words(done, capsys):
    assert main(["sweep", str(done), "--quiet"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"{done}: 4 work units complete after ")
    assert said[1] == (
        "  successor-peak_rate-0.01    758 parameters: 5 seeds, 3 reached, 2 of 2 proved; reached 60.00% (14.66% to 94.73%)"
    )
    assert said[-2:] == [
        f"  4 proved models: {done}/models",
        f"next: glassformer prove {done}/models/successor-peak_rate-0.01-seed0.safetensors",
    ]


def test_python(done):
    result = glassformer.sweep("successor", grid={"train.peak_rate": [0.01, 0.03]}, seeds=5, block=4)
    assert [row["proved"] for row in result.rows] == [2, 2]
    assert "<iframe" in result._repr_html_()


def test_plan(here, capsys):
    assert main(["sweep", "successor", *GRID, "--plan"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "sweeps/successor: 4 work units in plan/, 0 done; run some on any machine with"
    assert (
        said[1] == "  python -m glassformer.sweeps.unit sweeps/successor/plan/*.json sweeps/successor/units"
    )
    assert len(list(Path("sweeps/successor/plan").glob("*.json"))) == 4
    assert not list(Path("sweeps/successor/units").iterdir())


def test_a_plan_has_what_is_left_and_the_table_what_is_done(done, capsys):
    unit = read_stored_sweep(done).units()[1]
    (done / "units" / f"{unit.name}.json").unlink()
    assert main(["sweep", str(done), "--plan", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["plan"] == [str(done / "plan" / f"{unit.name}.json")]
    assert [row["seeds"] for row in content["rows"]] == [4, 5]
    assert len(list((done / "plan").iterdir())) == 1


def test_the_entry_of_units_says_how_it_is_used_and_what_is_wrong(here, capsys):
    assert unit_main([]) == 2
    assert "usage: python -m glassformer.sweeps.unit" in capsys.readouterr().err
    assert unit_main(["no.json", "units"]) == 2
    assert "no.json is no unit of a sweep" in capsys.readouterr().err


def test_units_that_are_done_are_not_done_again(done, capsys):
    plans = [str(write_unit_plan(done / "plan", unit)) for unit in read_stored_sweep(done).units()]
    assert unit_main([*plans, str(done / "units")]) == 0
    assert [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()] == ["done already"] * 4


def test_the_driver_leaves_jax_to_the_workers(done):
    """A driver that took hold of the GPU would leave none for them."""
    code = "import sys; from glassformer.cli.program import main; main(sys.argv[1:]); sys.exit('jax' in sys.modules)"
    words = ["sweep", str(done), "--engine", "processes", "--quiet"]
    ran = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_page(done, capsys):
    assert main(["page", str(done), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(done / "page.html")]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["succesor"], "no task called 'succesor'; did you mean 'successor'? (glassformer list tasks)"),
        (["successor", "--grid", "train.rate=1,2"], "no setting of train called 'rate'"),
        (["successor", "--engine", "hare"], "no engine called 'hare'; did you mean 'here'?"),
        (["successor", "--address", "auto"], "--address is for --engine ray, but the engine is 'here'"),
        (["successor", "--workers", "-1"], "--workers must be at least 1"),
        (["successor", "--resume", "--overwrite"], "--resume and --overwrite exclude each other"),
        (["successor", "--seeds", "0"], "seeds must be at least 1, but it is 0"),
        (["missing.toml"], "cannot read missing.toml: No such file or directory"),
        (["hand-6"], "'hand-6' is hand-built, there is nothing to train"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(here, capsys, words, sentence):
    assert main(["sweep", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert not list(here.iterdir())


def test_two_at_once_are_refused(done, capsys):
    with lock_folder(done):
        assert main(["sweep", "successor", *GRID]) == 2
    assert "another process is working in sweeps/successor" in capsys.readouterr().err
