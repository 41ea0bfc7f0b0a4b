"""Lists as they are printed, of whatever lies in the folder."""

import shutil

import pytest

from glassformer.cli.program import main
from tests.commands.answers import answer

pytestmark = pytest.mark.usefixtures("at_home")


def test_the_list_of_models_is_grouped(capsys):
    assert main(["list", "models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    headings = [line.strip() for line in lines if line.startswith("  ") and line[2] != " "]
    assert headings == ["rules", "questions", "trained adders", "hand-built adders"]
    assert sum(line.split()[0] == "glass-39" for line in lines) == 1


def test_a_damaged_run_does_not_hide_the_others(capsys, home):
    for name, text in {"broken": "[train", "strange": "[train]\nstpes = 4\n"}.items():
        (home / "runs" / name).mkdir()
        (home / "runs" / name / "run.toml").write_text(text)
    found = {item["id"]: item["about"] for item in answer(capsys, "list", "runs")["runs"]}
    for name in ("broken", "strange"):
        shutil.rmtree(home / "runs" / name)
    assert found["runs/successor"] == "successor, complete"
    assert found["runs/broken"].startswith("damaged: ")
    assert found["runs/strange"].startswith("damaged: ")


def test_lists_where_there_is_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["list", "runs"]) == 0
    assert capsys.readouterr().out == "runs:\n  none\n"
