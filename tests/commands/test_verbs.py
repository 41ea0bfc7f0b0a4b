"""What each verb answers, as data and in words; one trained run serves them all."""

import json
import shutil

import pytest

from glassformer.cli import main
from glassformer.commands.run import run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.tasks import TASKS
from glassformer.zoo import ZOO
from tests.selection import chosen

SHARE = {"value": float, "low": float, "high": float, "positions": int}
RUN_FIELDS = {
    "folder": str,
    "seconds": float,
    "seeds": int,
    "best_seed": int,
    "argmax_accuracy": SHARE,
    "sampled_error": float,
    "loss": float,
    "entropy_floor": float,
    "model_steps_per_second": float,
    "verdict": str,
}
COUNT_FIELDS = {
    "stored": int,
    "unique": int,
    "nonzero": int,
    "learned": int,
    "constants": int,
    "rank": int,
    "rank_contexts": int,
    "rank_settled": bool,
    "dead": list,
    "parts": dict,
    "at": str,
}
SETTINGS = "--seeds 2 --steps 200 --train.evaluate_every 100 --measure.positions 1000 --measure.generated 100 --prove.seconds 1 --draw.figures none"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with one finished run in runs/successor, made by the command."""
    folder = tmp_path_factory.mktemp("home")
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    assert main(["run", "successor", *SETTINGS.split(), "--quiet"]) == 0
    patch.undo()
    return folder


@pytest.fixture(autouse=True)
def here(home, monkeypatch):
    monkeypatch.chdir(home)
    return home


def answer(capsys, *words, status=0):
    """The one JSON object on standard output."""
    capsys.readouterr()
    assert main([*words, "--json"]) == status
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out, parse_constant=pytest.fail)


def check_fields(content, fields):
    for name, kind in fields.items():
        if isinstance(kind, dict):
            check_fields(content[name], kind)
        else:
            assert type(content[name]) is kind, name


def test_run_answers_with_all_fields(capsys):
    content = answer(capsys, "run", "successor", *SETTINGS.split())
    check_fields(content, RUN_FIELDS)
    assert (content["folder"], content["seeds"]) == ("runs/successor", 2)
    assert content["argmax_accuracy"]["value"] > 0.9
    assert content["argmax_accuracy"]["positions"] >= 1000
    assert content["entropy_floor"] == 0.0
    assert content["measures"]["by_source"]["absent"] == {
        "value": None,
        "low": 0.0,
        "high": 1.0,
        "positions": 0,
    }


def test_the_folder_holds_what_the_readers_need(here):
    names = {path.name for path in (here / "runs" / "successor").iterdir()}
    assert names == {
        *("run.toml", "env.json", "metrics.csv", "result.json", "report.md", "certificate.json"),
        *("params.safetensors", "population.safetensors", "history.safetensors", "page.html"),
    }
    text = (here / "runs" / "successor" / "report.md").read_text()
    assert "argmax rule accuracy, source in the window: " in text
    env = json.loads((here / "runs" / "successor" / "env.json").read_text())
    assert env["packages"]["jax"] and env["python"].startswith("3.")


def test_a_complete_run_is_not_trained_again(capsys, here):
    folder = here / "runs" / "successor"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    first, second = (answer(capsys, "run", "successor", *SETTINGS.split()) for _ in range(2))
    assert first == second == json.loads(before["result.json"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_another_configuration_is_refused(capsys):
    assert main(["run", "successor", "--steps", "7"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("glassformer: runs/successor holds another run (train.seeds is 2 there and ")
    assert err.count("\n") == 1


def test_words_of_a_run(capsys):
    assert main(["run", "successor", *SETTINGS.split()]) == 0
    out = capsys.readouterr().out
    assert out.startswith("runs/successor: complete after ")
    assert "refuted: after " in out  # two hundred steps do not make a model right on every context
    assert out.endswith("next: glassformer check runs/successor/certificate.json\n")
    assert "758 parameters; 2 of 2 seeds reach 99.9% on the held-out windows; seed " in out


def test_a_run_that_has_moved_says_where_it_is(capsys, here, tmp_path):
    shutil.copytree(here / "runs" / "successor", tmp_path / "moved")
    content = answer(capsys, "run", "successor", *SETTINGS.split(), "--out", str(tmp_path / "moved"))
    assert content["folder"] == str(tmp_path / "moved")


def test_a_copy_of_run_toml_repeats_the_run(capsys, here):
    content = answer(capsys, "run", "runs/successor/run.toml", "--out", "runs/successor")
    assert content["folder"] == "runs/successor"


def test_resume_of_a_complete_run_gives_its_result(capsys):
    assert answer(capsys, "run", "successor", "--resume", "--draw.figures", "none")["seeds"] == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"folder": "x"}', b"\xff"])
def test_a_damaged_result_is_named_and_left(capsys, here, tmp_path, content):
    folder = tmp_path / "copy"
    shutil.copytree(here / "runs" / "successor", folder)
    (folder / "result.json").write_bytes(content)
    assert main(["run", "successor", *SETTINGS.split(), "--out", str(folder)]) == 2
    err = capsys.readouterr().err
    assert err == f"glassformer: {folder / 'result.json'} is damaged; --overwrite makes the run anew\n"
    assert (folder / "result.json").read_bytes() == content


def test_test_of_a_run_and_of_its_weights(capsys):
    by_folder = answer(capsys, "test", "runs/successor", "--positions", "500")
    by_file = answer(capsys, "test", "runs/successor/params.safetensors", "--positions", "500")
    by_name = answer(capsys, "test", "successor", "--positions", "500")
    fields = {name: kind for name, kind in RUN_FIELDS.items() if name in by_folder}
    fields |= {"verdict": type(None)}  # a measurement is no proof
    check_fields(by_folder, fields)
    assert {"argmax_accuracy", "sampled_error", "loss", "entropy_floor", "verdict", "seconds"} <= set(fields)
    timeless = [
        {k: v for k, v in c.items() if k not in ("seconds", "target")} for c in (by_folder, by_file, by_name)
    ]
    assert timeless[0] == timeless[1] == timeless[2]


def test_test_uses_data_that_run_did_not(capsys):
    own = answer(capsys, "run", "successor", *SETTINGS.split())
    other = answer(capsys, "test", "successor", "--positions", "1000")
    again = answer(capsys, "test", "successor", "--positions", "1000", "--seed", "0")
    assert own["loss"] == again["loss"] != other["loss"]


def test_words_of_a_test(capsys):
    assert main(["test", "successor", "--positions", "500"]) == 0
    out = capsys.readouterr().out
    assert "source absent" not in out  # successor has no such positions
    assert "entropy floor 0.0000\n" in out


@pytest.mark.parametrize("target", chosen(["successor", "runs/successor/params.safetensors"], ["successor"]))
def test_count_of_a_run(capsys, target):
    content = answer(capsys, "count", target)
    check_fields(content, COUNT_FIELDS)
    assert (
        content["unique"] == content["stored"] == content["learned"] == sum(content["parts"].values()) == 758
    )
    assert 0 < content["rank"] < 758
    assert (content["rank_contexts"], content["rank_settled"]) == (1024, True)
    assert content["at"] == "trained weights"


def test_count_of_a_name_without_a_run(capsys):
    content = answer(capsys, "count", "plus_last_even")
    check_fields(content, COUNT_FIELDS)
    assert (content["unique"], content["parts"]["token"]) == (250, 24)
    assert main(["count", "plus_last_even"]) == 0
    assert capsys.readouterr().out.startswith("plus_last_even: 250 parameters\n")


def test_count_of_an_architecture_without_weights(capsys, monkeypatch):
    """At first values b = 0 would hide most of the rank; at random numbers z_hi alone is dead."""
    monkeypatch.setattr(type(ZOO["microadder-57"]), "weights", None)
    content = answer(capsys, "count", "microadder-57")
    check_fields(content, COUNT_FIELDS)
    assert (content["at"], content["unique"], content["nonzero"]) == ("random numbers", 57, 57)
    assert (content["rank"], content["dead"]) == (46, ["position.z_hi"])
    assert (content["rank_contexts"], content["rank_settled"]) == (256, True)
    assert main(["count", "microadder-57"]) == 0
    assert capsys.readouterr().out.endswith("dead: position.z_hi\ncounted at random numbers\n")


def test_count_of_a_hand_built_model(capsys):
    content = answer(capsys, "count", "nanogpt-58")
    assert (content["unique"], content["at"]) == (58, "hand-built numbers")


@pytest.mark.slow
def test_count_of_the_whole_zoo(capsys, monkeypatch):
    few = {name: ZOO[name] for name in ("glass-23", "nanogpt-58")}
    monkeypatch.setattr("glassformer.commands.counting.ZOO", few)
    models = answer(capsys, "count", "zoo")["models"]
    assert [(model["id"], model["unique"]) for model in models] == [("glass-23", 23), ("nanogpt-58", 58)]
    for model in models:
        check_fields(model, COUNT_FIELDS)
    assert main(["count", "zoo"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == [
        "model",
        "stored",
        "unique",
        "nonzero",
        "learned",
        "constants",
        "rank",
        "at",
        "dead",
    ]
    assert [line.split()[2] for line in lines] == ["23", "58"]


def test_count_of_a_large_model_leaves_the_rank_out(capsys):
    content = answer(capsys, "count", "parity_based")
    assert (content["rank"], content["dead"]) == (None, None)
    assert main(["count", "parity_based"]) == 0
    assert "dead: not computed (too many parameters)" in capsys.readouterr().out


def test_count_of_a_file(capsys, tmp_path):
    (tmp_path / "x.toml").write_text('base = "plus_last_even"\n[train]\nfirst_seed = 4\n')
    assert answer(capsys, "count", str(tmp_path / "x.toml"))["unique"] == 250


def test_lists(capsys):
    content = answer(capsys, "list")
    assert list(content) == ["tasks", "models", "figures", "runs"]
    assert {item["id"] for item in content["tasks"]} == {*TASKS}
    built = [name for name, entry in ZOO.items() if entry.build]
    assert [item["id"] for item in content["models"]] == [*CONFIGURATIONS, *built]
    for items in content.values():
        assert all(item["id"] and item["about"] for item in items)
    models = {item["id"]: item for item in content["models"]}
    assert models["plus_last_even"]["parameters"] == 250
    assert (models["successor"]["trained"], models["plus_last_even"]["trained"]) == (True, False)
    assert models["successor"]["verdict"] == "refuted"
    assert models["plus_last_even"]["verdict"] is None
    assert models["glass-39"]["verdict"] == "proved"
    assert (models["glass-39"]["parameters"], models["glass-39"]["kind"]) == (39, "trained adder")
    assert models["glass-39"]["trained"] == (ZOO["glass-39"].weights is not None)
    assert (models["nanogpt-58"]["trained"], models["nanogpt-58"]["kind"]) == (True, "hand-built adder")


def test_the_list_of_models_is_grouped(capsys):
    assert main(["list", "models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    headings = [line.strip() for line in lines if line.startswith("  ") and line[2] != " "]
    assert headings == ["rules", "questions", "trained adders", "hand-built adders"]
    assert sum(line.split()[0] == "glass-39" for line in lines) == 1


def test_lists_of_one_kind(capsys):
    assert list(answer(capsys, "list", "tasks")) == ["tasks"]
    settings = {item["id"]: item["about"] for item in answer(capsys, "list", "settings")["settings"]}
    assert settings["task.p"] == "0.3"
    assert main(["list", "tasks"]) == 0
    assert "  plus_last_even" in capsys.readouterr().out


def test_a_damaged_run_does_not_hide_the_others(capsys, here):
    for name, text in {"broken": "[train", "strange": "[train]\nstpes = 4\n"}.items():
        (here / "runs" / name).mkdir()
        (here / "runs" / name / "run.toml").write_text(text)
    found = {item["id"]: item["about"] for item in answer(capsys, "list", "runs")["runs"]}
    for name in ("broken", "strange"):
        shutil.rmtree(here / "runs" / name)
    assert found["runs/successor"] == "successor, complete"
    assert found["runs/broken"].startswith("damaged: ")
    assert found["runs/strange"].startswith("damaged: ")


def test_lists_where_there_is_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["list", "runs"]) == 0
    assert capsys.readouterr().out == "runs:\n  none\n"


def test_python_mirrors_the_command(here):
    options = dict(zip(SETTINGS.split()[4::2], SETTINGS.split()[5::2], strict=True))
    options = {name.removeprefix("--"): value for name, value in options.items()}
    result = run("successor", options=options | {"train.seeds": "2", "train.steps": "200"})
    assert result.argmax_accuracy["value"] > 0.9
