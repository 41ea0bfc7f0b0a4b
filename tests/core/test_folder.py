"""One's own folder is gone on with or replaced, everybody else's stays as it is."""

import pytest

from glassformer.core.errors import UserError
from glassformer.core.folder import FolderKind, describe_difference, refuse_file

KIND = FolderKind(
    noun="run",
    marker="run.toml",
    made=("result.json", "figures", "run.toml"),
    leftovers=(".result.json.*.tmp", "figures/.*.tmp"),
    ways="--overwrite replaces it",
    early=frozenset({"env.json"}),
)


@pytest.fixture
def folder(tmp_path):
    for name in ("run.toml", "result.json", "notes.txt", "figures/a.svg"):
        path = tmp_path / "run" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path / "run"


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_only_what_was_made_there_is_removed(folder):
    assert KIND.is_in(folder)
    KIND.remove_made(folder)
    assert names(folder) == ["notes.txt"] and not KIND.is_in(folder)


def test_the_marker_goes_last(folder, monkeypatch):
    monkeypatch.setattr("shutil.rmtree", lambda path: (_ for _ in ()).throw(OSError(5, "no", str(path))))
    with pytest.raises(UserError, match="cannot remove"):
        KIND.remove_made(folder)
    assert KIND.is_in(folder) and not (folder / "result.json").exists()


def test_links_are_refused_before_anything_is_removed(folder, tmp_path):
    (folder / "run.toml").unlink()
    (folder / "run.toml").symlink_to(tmp_path)
    before = names(folder)
    for refuse in (KIND.refuse_links, KIND.remove_made):
        with pytest.raises(UserError, match="symbolic link"):
            refuse(folder)
    assert names(folder) == before


def test_leftovers_of_killed_processes_go_and_others_stay(folder):
    for name in (".result.json.7.tmp", "figures/.a.svg.7.tmp", ".notes.txt.7.tmp"):
        (folder / name).write_text("")
    KIND.remove_leftovers(folder)
    assert names(folder) == [".notes.txt.7.tmp", "figures/a.svg", "notes.txt", "result.json", "run.toml"]


def test_what_others_made_is_named(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(UserError) as error:
        KIND.refuse_foreign(tmp_path)
    sentence = f"{tmp_path} is not empty and holds no run (it has notes.txt); --out chooses another folder"
    assert str(error.value) == sentence
    KIND.refuse_foreign(tmp_path, beside=True)
    (tmp_path / "figures").mkdir()
    with pytest.raises(UserError, match="it has figures"):
        KIND.refuse_foreign(tmp_path, beside=True)


def test_nothing_hidden_files_and_what_comes_early_are_no_strangers(tmp_path):
    KIND.refuse_foreign(tmp_path / "nowhere")
    for name in (".hidden", "env.json"):
        (tmp_path / name).write_text("")
    KIND.refuse_foreign(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    refuse_file(tmp_path)
    (tmp_path / "a").write_text("")
    for refuse in (refuse_file, KIND.refuse_foreign):
        with pytest.raises(UserError, match="a file, not a folder; choose another folder with --out"):
            refuse(tmp_path / "a")


def test_the_first_difference_is_told():
    assert describe_difference({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == "b is 2 there and 3 here"
    assert describe_difference({"a": 1}, {}) == "a is 1 there and None here"
    assert describe_difference({"a": 1}, {}, "the default") == "a is 1 there and the default here"
    assert describe_difference({"a": None}, {}) == ""
