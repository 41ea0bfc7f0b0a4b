"""A finished run is sealed: what is damaged, missing or exchanged is named by whatever uses it."""

import json
import shutil

import pytest

from glassformer.cli.program import main
from glassformer.runs.seal import (
    digest_files,
    find_damaged,
    read_digests,
    replace_sealed_files,
    require_whole_run,
)

TINY = "--model.context 4 --seeds 2 --steps 20 --train.evaluate_every 10 --train.held_out 32 --train.batch 8 --data.count 50 --quiet"
TINY += " --measure.positions 50 --measure.generated 4 --prove.seconds 1 --draw.figures 02,05"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sealed") / "run"
    assert main(["run", "successor", *TINY.split(), "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def run(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def sentence(capsys, *words):
    capsys.readouterr()
    assert main(words) == 2
    return capsys.readouterr().err


def test_every_file_is_in_the_seal(run):
    digests = read_digests(run)
    files = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()} - {"result.json"}
    assert {*digests} == files
    assert {"params.safetensors", "run.toml", "page.html", "metrics.csv"} <= files
    assert any(name.startswith("figures/02") for name in files)
    assert digests == digest_files(run)
    require_whole_run(run)


@pytest.mark.parametrize("name", ["params.safetensors", "run.toml", "metrics.csv", "env.json", "report.md"])
@pytest.mark.parametrize("content", [None, b"garbage"])
def test_train_names_what_is_not_as_it_was(run, capsys, name, content):
    (run / name).unlink()
    if content:
        (run / name).write_bytes(content)
    said = sentence(capsys, "train", "successor", *TINY.split(), "--out", str(run))
    assert name in said
    assert not content or (run / name).read_bytes() == content


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ("test {} --positions 10", "params.safetensors"),
        ("prove {} --time 1", "run.toml"),
        ("draw {} --only 02", "metrics.csv"),
        ("draw {} --only 05 --step 10", "history.safetensors"),
        ("count {}", "params.safetensors"),
        ("export {} --to python --out x.py", "params.safetensors"),
    ],
)
def test_a_verb_names_the_file_that_it_uses(run, capsys, verb, name):
    content = (run / name).read_bytes()
    (run / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert f"{run / name} is damaged or was changed" in sentence(capsys, *verb.format(run).split())
    (run / name).unlink()
    assert f"{run / name} is missing, and belongs to the run" in sentence(capsys, *verb.format(run).split())


def test_what_is_made_anew_is_made_anew(run, finished):
    for name in ("page.html", next(path.name for path in run.glob("figures/05*"))):
        next(run.rglob(name)).write_bytes(b"garbage")
    assert len(find_damaged(run)) == 2
    assert main(["run", "successor", *TINY.split(), "--out", str(run)]) == 0
    assert find_damaged(run) == set()
    assert {*read_digests(run)} == {*read_digests(finished)}


def test_later_commands_keep_the_seal(run):
    for words in ("draw {} --only 02 --theme dark", "page {} --time 1", "prove {} --time 1"):
        assert main(words.format(run).split()) in (0, 1, 3)
        require_whole_run(run)
        assert find_damaged(run) == set()
    assert read_digests(run) == digest_files(run)


def test_a_kill_while_a_file_is_replaced_leaves_it_without_a_seal(run):
    with pytest.raises(KeyboardInterrupt), replace_sealed_files(run, "page.html"):
        (run / "page.html").write_text("half")
        raise KeyboardInterrupt
    assert "page.html" not in read_digests(run)
    require_whole_run(run)


def test_a_run_of_an_older_version_has_no_seal_and_is_taken_as_it_is(run):
    result = json.loads((run / "result.json").read_text())
    del result["digests"]
    (run / "result.json").write_text(json.dumps(result))
    (run / "report.md").write_text("changed")
    require_whole_run(run)
    assert main(["test", str(run), "--positions", "10"]) == 0


def test_overwrite_touches_nothing_behind_a_link(run, tmp_path, capsys):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    shutil.rmtree(run / "figures")
    (run / "figures").symlink_to(outside)
    before = {path.name for path in run.iterdir()}
    said = sentence(capsys, "run", "successor", *TINY.split(), "--out", str(run), "--overwrite")
    assert "figures is a symbolic link; nothing is written or removed through it" in said
    assert {path.name for path in run.iterdir()} == before
    (tmp_path / "link").symlink_to(run)
    assert "link is a symbolic link" in sentence(
        capsys, "run", "successor", *TINY.split(), "--out", str(tmp_path / "link"), "--overwrite"
    )
    assert "symbolic link" in sentence(capsys, "draw", str(run), "--only", "02")
    assert [path.name for path in outside.iterdir()] == ["kept"]


@pytest.mark.parametrize(
    "words",
    [
        "--train.start_from none.safetensors",
        "--train.margin_steps 5",
        "--train.mine 2",
        "--device gpu",
        "--rule no.py",
    ],
)
def test_what_cannot_start_leaves_no_folder(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    sentence(capsys, "run", "successor", *TINY.split(), *words.split())
    assert list(tmp_path.iterdir()) == []
