"""Writing: the new file or the old one, never anything between; reading: the arrays or one sentence."""

import errno
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from glassformer.core.atomic import (
    lock_folder,
    make_folder,
    read_arrays,
    remove_unfinished,
    replace_nonfinite,
    write_arrays,
    write_bytes,
    write_json,
)
from glassformer.core.errors import UserError


def fail(number):
    def failing(*_):
        raise OSError(number, os.strerror(number))

    return failing


def test_no_file_takes_the_place_of_a_device_or_a_pipe(tmp_path):
    """As root, a rename to /dev/null would make it a file for everybody."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UserError, match="it is not a regular file"):
        write_bytes(pipe, b"new")
    assert pipe.is_fifo()
    assert [*tmp_path.iterdir()] == [pipe]


@pytest.mark.parametrize("call", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_leaves_the_old_file(monkeypatch, tmp_path, call):
    path = tmp_path / "file"
    write_bytes(path, b"old")
    monkeypatch.setattr(call, fail(errno.ENOSPC))
    with pytest.raises(UserError) as error:
        write_bytes(path, b"new")
    assert str(error.value) == f"cannot write {path}: No space left on device; what was there is unchanged"
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_an_interrupted_write_leaves_the_old_file(monkeypatch, tmp_path):
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"


def test_content_is_on_the_disk_before_it_has_its_name(monkeypatch, tmp_path):
    order = []
    fsync, replace = os.fsync, type(tmp_path).replace
    monkeypatch.setattr("os.fsync", lambda number: (order.append("fsync"), fsync(number)))
    monkeypatch.setattr("pathlib.Path.replace", lambda *paths: (order.append("rename"), replace(*paths)))
    write_bytes(tmp_path / "file", b"new")
    assert order == ["fsync", "rename"]


def test_a_file_may_keep_the_time_of_the_one_before(tmp_path):
    write_bytes(tmp_path / "file", b"new", (10**18, 2 * 10**18))
    assert (tmp_path / "file").stat().st_mtime_ns == 2 * 10**18


def test_what_a_killed_process_left_goes_and_all_else_stays(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead, alive = process.pid, os.getpid()
    left = [f".a[b].html.{dead}.tmp", f".a[b].html.{10**30}.tmp"]
    others = [
        f".a[b].html.{alive}.tmp",
        ".a[b].html.1.tmp",
        ".a[b].html.x.tmp",
        f".b.html.{dead}.tmp",
        "a[b].html",
    ]
    for name in left + others:
        (tmp_path / name).write_text("")
    remove_unfinished(tmp_path / "a[b].html")
    assert {path.name for path in tmp_path.iterdir()} == {*others}


def test_places_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"^cannot write .*: Not a directory; what was there is unchanged$"):
        write_bytes(tmp_path / "file" / "inner", b"")
    with pytest.raises(UserError, match=r"^cannot write .*: No such file or directory; "):
        write_bytes(tmp_path / "none" / "inner", b"")
    with pytest.raises(UserError, match=r"^cannot make the folder .*: Not a directory$"):
        make_folder(tmp_path / "file" / "inner")


def test_arrays_come_back_with_what_they_say(tmp_path):
    arrays = {"a": np.arange(6.0).reshape(2, 3).T, "b": np.array(3, np.int32)}
    write_arrays(tmp_path / "x.safetensors", arrays, {"step": 5, "nested": {"list": [1, 2]}})
    found, about = read_arrays(tmp_path / "x.safetensors")
    assert about == {"step": 5, "nested": {"list": [1, 2]}}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


def test_damaged_arrays_get_one_sentence_and_stay(tmp_path):
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"a": np.zeros(100)}, {})
    whole = path.read_bytes()
    for damaged in (
        b"",
        b"hello",
        whole[:50],
        whole[:-8],
        b"\xff" * 8 + whole[8:],
        whole[:8] + b"?" + whole[9:],
    ):
        path.write_bytes(damaged)
        with pytest.raises(UserError) as error:
            read_arrays(path)
        assert str(error.value).startswith(f"{path} is damaged or not a safetensors file (")
        assert str(error.value).endswith("; it was left as it is")
        assert path.read_bytes() == damaged


def test_no_file(tmp_path):
    with pytest.raises(UserError, match=r"^no file .*none.safetensors$"):
        read_arrays(tmp_path / "none.safetensors")


def test_json_has_no_nan(tmp_path):
    content = {"a": math.nan, "b": [1.5, math.inf], "c": (1, "x", None, True)}
    assert replace_nonfinite(content) == {"a": None, "b": [1.5, None], "c": [1, "x", None, True]}
    write_json(tmp_path / "x.json", content)
    assert json.loads((tmp_path / "x.json").read_text(), parse_constant=pytest.fail) == replace_nonfinite(
        content
    )


def test_an_error_inside_a_locked_folder_stays_itself(tmp_path):
    with pytest.raises(BlockingIOError), lock_folder(tmp_path / "new"):
        raise BlockingIOError


def test_single_numbers_keep_their_shape(tmp_path):
    arrays = {"one": np.float32(3.0), "row": np.ones(1), "turned": np.arange(6.0).reshape(2, 3).T}
    write_arrays(tmp_path / "x.safetensors", arrays, {})
    read, _ = read_arrays(tmp_path / "x.safetensors")
    assert {name: array.shape for name, array in read.items()} == {"one": (), "row": (1,), "turned": (3, 2)}
    np.testing.assert_array_equal(read["turned"], arrays["turned"])
