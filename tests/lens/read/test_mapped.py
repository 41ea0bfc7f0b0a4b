import os

import pytest

from glassformer.core.errors import UserError
from glassformer.lens.read.mapped import MappedFile


def test_bytes_are_views_and_survive_being_forgotten(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(bytes(range(256)) * 100)
    mapped = MappedFile(path)
    view = mapped.bytes(10, 20_000)
    mapped.forget(5000, 9000)
    mapped.forget(0, mapped.size)
    assert view.tobytes() == (bytes(range(256)) * 100)[10:20_000]
    assert not view.flags.owndata and not view.flags.writeable


def test_bytes_outside_the_file(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    with pytest.raises(UserError, match=r"a has 3 bytes, but bytes 2 to 9 are asked for"):
        MappedFile(tmp_path / "a").bytes(2, 9)


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("none", "there is no file"),
        (".", "is a folder, but a file is expected"),
        ("empty", "is empty"),
        ("pipe", "is no regular file"),
    ],
)
def test_what_cannot_be_mapped(tmp_path, name, sentence):
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match=sentence):
        MappedFile(tmp_path / name)
