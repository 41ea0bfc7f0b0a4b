"""The cache of compiled programs: where it is, who could write to it, and that none is no error."""

import os

import jax
import pytest

from glassformer.core.errors import UserError
from glassformer.training.setup import find_cache_folder, set_up_jax

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


def test_the_variable_names_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "a" / "b"))
    assert find_cache_folder() == tmp_path / "a" / "b"
    assert find_cache_folder().is_dir()


def test_the_users_cache_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("GLASSFORMER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find_cache_folder() == tmp_path / "glassformer" / "xla"


def test_a_place_that_cannot_be_made_is_no_cache(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "file" / "xla"))
    assert find_cache_folder() is None


def offer(monkeypatch, folder):
    """What a command takes for its cache where this folder is named."""
    monkeypatch.setenv("GLASSFORMER_CACHE", str(folder))
    return find_cache_folder()


def make(folder, mode=0o700):
    folder.mkdir(parents=True)
    folder.chmod(mode)  # mkdir's own is less by the umask
    return folder


def test_what_is_made_is_closed_to_others(monkeypatch, tmp_path):
    before = os.umask(0)
    try:
        folder = offer(monkeypatch, tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (folder, folder.parent)} == {0o700}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777, 0o720])
def test_a_folder_that_others_can_write_to_is_no_cache(monkeypatch, tmp_path, mode):
    """Not with the sticky bit either: it keeps others from removing, not from adding."""
    assert offer(monkeypatch, make(tmp_path / "open", mode)) is None


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_folder_that_others_can_at_most_read_is_one(monkeypatch, tmp_path, mode):
    assert offer(monkeypatch, make(tmp_path / "own", mode)) == tmp_path / "own"


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_nor_is_one_whose_parent_lets_others_replace_it(monkeypatch, tmp_path, mode):
    parent = make(tmp_path / "open", mode)
    assert offer(monkeypatch, parent / "deep" / "xla") is None
    assert list(parent.iterdir()) == []  # and nothing is made there


def test_a_sticky_parent_lets_nobody_replace_it(monkeypatch, tmp_path):
    parent = make(tmp_path / "like_tmp", 0o1777)
    assert offer(monkeypatch, parent / "xla") == parent / "xla"


def test_a_link_is_judged_by_where_it_leads(monkeypatch, tmp_path):
    for name, mode in (("open", 0o777), ("own", 0o700)):
        (tmp_path / f"to_{name}").symlink_to(make(tmp_path / name, mode))
    assert offer(monkeypatch, tmp_path / "to_open") is None
    assert offer(monkeypatch, tmp_path / "to_open" / "xla") is None
    assert offer(monkeypatch, tmp_path / "to_own") == tmp_path / "own"


def test_links_in_a_circle_are_no_cache(monkeypatch, tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert offer(monkeypatch, tmp_path / "a") is None


@as_root
@pytest.mark.parametrize("foreign", ["", "xla", "xla/program", "xla/deep/program"])
def test_nothing_of_another_user_is_trusted(monkeypatch, tmp_path, foreign):
    """The parent, the folder, or a program that was put there while the folder was open."""
    folder = make(tmp_path / "of" / "xla")
    make(folder / "deep")
    for file in (folder / "program", folder / "deep" / "program"):
        file.write_bytes(b"")
    assert offer(monkeypatch, folder) == folder
    os.chown(tmp_path / "of" / foreign, NOBODY, -1)
    assert offer(monkeypatch, folder) is None


@as_root
def test_a_foreign_parent_is_not_trusted_for_its_sticky_bit(monkeypatch, tmp_path):
    """A folder's owner may remove what is in it, sticky or not."""
    parent = make(tmp_path / "theirs", 0o1777)
    os.chown(parent, NOBODY, -1)
    assert offer(monkeypatch, parent / "xla") is None


def test_programs_that_others_can_write_to_are_not_run(monkeypatch, tmp_path):
    folder = make(tmp_path / "xla", 0o755)
    (folder / "program").write_bytes(b"")
    (folder / "program").chmod(0o664)
    assert offer(monkeypatch, folder) is None
    folder.chmod(0o700)  # others no longer reach the file
    assert offer(monkeypatch, folder) == folder


def test_a_relative_folder_is_taken_from_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert offer(monkeypatch, "here/xla") == tmp_path / "here" / "xla"


def test_an_empty_variable_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert offer(monkeypatch, "") == tmp_path / "glassformer" / "xla"


def test_where_modes_do_not_say_who_may_write_there_is_no_cache(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "geteuid")
    assert offer(monkeypatch, tmp_path / "xla") is None


def test_where_there_is_no_home_there_is_no_cache(monkeypatch):
    def fail():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", fail)
    assert offer(monkeypatch, "") is None


def test_precision_is_switched_on_and_off():
    set_up_jax("cpu", "float64")
    try:
        assert jax.numpy.zeros(1, "float64").dtype == "float64"
    finally:
        set_up_jax("cpu", "float32")
    assert jax.config.jax_enable_x64 is False


def test_a_gpu_that_is_not_there_is_said():
    with pytest.raises(UserError, match=r"train\.device is gpu, but JAX finds none here"):
        set_up_jax("gpu")
