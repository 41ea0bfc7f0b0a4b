"""Text files from anybody are read within limits, whatever they are."""

import os

import pytest

from glassformer.core.errors import UserError
from glassformer.core.text_files import read_bytes, read_json, read_text, read_toml


def refused(read, path):
    with pytest.raises(UserError) as error:
        read(path)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400
    return str(error.value)


def test_what_is_no_plain_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert refused(read_text, tmp_path / "pipe").endswith("pipe is a device or a pipe, not a file")
    assert refused(read_text, tmp_path / "zero").endswith("zero is a device or a pipe, not a file")
    assert "is a folder, not a file" in refused(read_text, tmp_path)
    assert "cannot read" in refused(read_text, tmp_path / "loop")
    assert "File name too long" in refused(read_text, tmp_path / ("x" * 300))
    assert "is not a valid file name" in refused(read_text, tmp_path / "a\0b")


def test_a_large_file_is_refused_by_its_size(tmp_path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(10**12)  # holes only
    assert "has 1,000,000,000,000 bytes; at most" in refused(read_bytes, tmp_path / "huge")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("x = " + "[" * 3000, "it is nested too deep"),
        ("x = 1" + "0" * 5000, "a number is too long"),
        ("x = 0x1" + "0" * 5000, "a number is too long"),
        ("x = ", "is not valid TOML"),
    ],
)
def test_toml_that_cannot_be_read(tmp_path, content, sentence):
    (tmp_path / "a.toml").write_text(content)
    assert sentence in refused(read_toml, tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[" * 100_000, "it is nested too deep"),
        ('{"x": 1' + "0" * 400 + "}", "a number is too long"),
        ("[1]", "must hold a JSON object"),
        ("{", "is not JSON, or was cut off"),
    ],
)
def test_json_that_cannot_be_read(tmp_path, content, sentence):
    (tmp_path / "a.json").write_text(content)
    assert sentence in refused(read_json, tmp_path / "a.json")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a").write_bytes(b"ab\xff")
    assert refused(read_text, tmp_path / "a").endswith("is not UTF-8 text: invalid start byte at byte 2")
