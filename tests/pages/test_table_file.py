"""A table from a file, or none and why."""

import pytest

from glassformer.pages.table_file import read_table


def test_tables_are_read(tmp_path):
    (tmp_path / "a.json").write_text('{"x": [1, 2]}')
    (tmp_path / "a.toml").write_text("x = [1, 2]\n")
    assert read_table(tmp_path / "a.json") == read_table(tmp_path / "a.toml") == ({"x": [1, 2]}, None)


@pytest.mark.parametrize("name", ["a.json", "a.toml"])
def test_what_cannot_be_read_is_an_empty_table_and_why(tmp_path, name):
    table, why = read_table(tmp_path / name)
    assert (table, why) == ({}, f"{name} cannot be read: No such file or directory")
    (tmp_path / name).write_text("[1,")
    table, why = read_table(tmp_path / name)
    assert table == {}
    assert name in why
