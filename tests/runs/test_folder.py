"""Who may write into a folder, and what stays untouched there."""

from dataclasses import replace

import pytest

from glassformer.core.errors import UserError
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import find_runs, is_complete, open_run_folder, read_stored_run, tidy_run_folder

RUN = CONFIGURATIONS["successor"]
OTHER = replace(RUN, train=replace(RUN.train, steps=77))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "deep" / "run"


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_new_folder_holds_the_whole_configuration(folder):
    assert open_run_folder(folder, RUN) == RUN
    assert read_stored_run(folder) == RUN
    assert not is_complete(folder)
    assert set(files(folder)) == {"run.toml", "env.json"}
    assert find_runs(folder.parent) == [folder]


def test_the_same_run_goes_on(folder):
    open_run_folder(folder, RUN)
    before = files(folder)
    elsewhere = replace(RUN, train=replace(RUN.train, threads=3, device="cpu"))
    assert open_run_folder(folder, elsewhere) == elsewhere  # where it runs makes no other run
    assert files(folder) == before


def test_another_run_is_refused_with_the_setting_that_differs(folder):
    open_run_folder(folder, RUN)
    before = files(folder)
    with pytest.raises(UserError) as error:
        open_run_folder(folder, OTHER)
    there = RUN.train.steps
    assert str(error.value) == (
        f"{folder} holds another run (train.steps is {there} there and 77 here); "
        "--overwrite replaces it, --resume continues it, --out chooses another folder"
    )
    assert files(folder) == before


def test_resume_takes_the_configuration_that_is_there(folder):
    open_run_folder(folder, RUN)
    assert open_run_folder(folder, OTHER, resume=True) == RUN


def test_resume_of_nothing_starts(folder):
    assert open_run_folder(folder, RUN, resume=True) == RUN


def test_overwrite_removes_the_run_and_nothing_else(folder):
    open_run_folder(folder, RUN)
    (folder / "notes.txt").write_text("mine")
    (folder / "figures").mkdir()
    (folder / "figures" / "old.svg").write_text("")
    (folder / "checkpoints").mkdir()
    for name in ("result.json", "state.safetensors", "metrics.csv"):
        (folder / name).write_text("old")
    assert open_run_folder(folder, OTHER, overwrite=True) == OTHER
    assert set(files(folder)) == {"run.toml", "env.json", "notes.txt"}
    assert read_stored_run(folder) == OTHER


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["report.md", "figures/mine.svg", "params.safetensors", "result.json"])
def test_files_of_others_with_our_names_are_not_touched(folder, name, overwrite):
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    with pytest.raises(
        UserError, match=r"is not empty and holds no run \(it has (report|figures|params|result)"
    ):
        open_run_folder(folder, RUN, overwrite=overwrite)
    assert files(folder) == {name: b"mine"}


def test_a_folder_with_other_files_is_refused_unless_asked(folder):
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(UserError) as error:
        open_run_folder(folder, RUN)
    assert str(error.value) == (
        f"{folder} is not empty and holds no run (it has thesis.tex); --out chooses another folder"
    )
    open_run_folder(folder, RUN, overwrite=True)
    assert (folder / "thesis.tex").read_text() == "mine"


def test_hidden_files_are_no_obstacle(folder):
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("*")
    open_run_folder(folder, RUN)
    assert (folder / ".gitignore").read_text() == "*"


def test_a_run_killed_at_its_very_start_is_begun_again(folder):
    open_run_folder(folder, RUN)
    (folder / "run.toml").unlink()
    assert open_run_folder(folder, OTHER) == OTHER


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_is_no_folder(tmp_path, overwrite):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(UserError) as error:
        open_run_folder(path, RUN, overwrite=overwrite)
    assert str(error.value) == f"{path} is a file, not a folder; choose another folder with --out"
    assert path.read_text() == "mine"


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"^cannot make the folder .*: Not a directory$"):
        open_run_folder(tmp_path / "file" / "run", RUN)


@pytest.mark.parametrize("content", [b"", b"[train", b"\xff\xff", b"[train]\nstpes = 4\n"])
def test_a_damaged_configuration_is_left_as_it_is(folder, content):
    open_run_folder(folder, RUN)
    (folder / "run.toml").write_bytes(content)
    with pytest.raises(UserError) as error:
        open_run_folder(folder, RUN)
    assert "\n" not in str(error.value)
    assert (folder / "run.toml").read_bytes() == content


def test_leftovers_of_a_killed_process_go_when_the_run_goes_on(folder):
    open_run_folder(folder, RUN)
    (folder / "checkpoints").mkdir()
    for name in (".run.toml.17.tmp", ".mine.tmp", "checkpoints/.000000005.safetensors.17.tmp"):
        (folder / name).write_text("")
    open_run_folder(folder, RUN)
    assert set(files(folder)) == {"run.toml", "env.json", ".mine.tmp"}


def test_leftovers_of_a_process_killed_at_its_very_start_go(folder):
    folder.mkdir(parents=True)
    for name in (".env.json.17.tmp", ".run.toml.17.tmp", ".rule.py.17.tmp", ".mine.tmp"):
        (folder / name).write_text("")
    open_run_folder(folder, RUN)
    assert set(files(folder)) == {"run.toml", "env.json", ".mine.tmp"}


def test_tidying_leaves_what_a_reader_needs(folder):
    open_run_folder(folder, RUN)
    (folder / "checkpoints").mkdir()
    for name in ("state.safetensors", "checkpoints/000000000.safetensors", "metrics.csv"):
        (folder / name).write_text("")
    tidy_run_folder(folder, keep_checkpoints=True)
    assert (folder / "checkpoints" / "000000000.safetensors").exists()
    tidy_run_folder(folder)
    assert set(files(folder)) == {"run.toml", "env.json", "metrics.csv"}
    assert not (folder / "checkpoints").exists()


def test_clearing_that_fails_says_so(folder, monkeypatch):
    open_run_folder(folder, RUN)

    def refuse(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    with pytest.raises(UserError, match=r"^cannot remove .*result.json: Permission denied$"):
        open_run_folder(folder, RUN, overwrite=True)
