"""Result files: valid or not there; a damaged one, or one of another unit, is never taken."""

import json

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.sweeps.store import read_unit_plan, read_unit_result, write_unit_plan, write_unit_result

from .small import known_result, small_sweep


@pytest.fixture
def unit():
    return small_sweep().units()[0]


@pytest.fixture
def folder(tmp_path, unit):
    write_unit_result(tmp_path, unit, known_result(unit))
    return tmp_path


def test_a_result_is_read_as_it_was_written(folder, unit):
    there, wrong = read_unit_result(folder, unit)
    made = known_result(unit)
    assert wrong == ""
    assert (there.rows, there.seconds, there.made) == (made.rows, made.seconds, made.made)
    assert all(np.array_equal(there.params[name], array) for name, array in made.params.items())


def test_what_is_not_there_is_not_wrong(tmp_path, unit):
    assert read_unit_result(tmp_path, unit) == (None, "")


def change(path, **parts):
    table = json.loads(path.read_text())
    path.write_text(json.dumps(table | parts))


def test_rows_that_were_changed_are_not_taken(folder, unit):
    path = folder / f"{unit.name}.json"
    rows = json.loads(path.read_text())["rows"]
    change(path, rows=[row | {"proved": True} for row in rows])
    assert read_unit_result(folder, unit) == (None, f"{path.name} is damaged")


@pytest.mark.parametrize("text", ["", "{", "[]", "\0"])
def test_a_file_that_cannot_be_read_is_not_taken(folder, unit, text):
    (folder / f"{unit.name}.json").write_text(text)
    assert read_unit_result(folder, unit)[1] == f"{unit.name}.json is damaged"


def test_numbers_that_were_changed_are_not_taken(folder, unit):
    path = folder / f"{unit.name}.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert read_unit_result(folder, unit)[1] == f"{path.name} is damaged or missing"
    path.unlink()
    assert read_unit_result(folder, unit)[1] == f"{path.name} is damaged or missing"


@pytest.mark.parametrize(("which", "wrong"), [(1, "has other seeds"), (3, "has other settings")])
def test_the_result_of_another_unit_under_this_name_is_not_taken(tmp_path, unit, which, wrong):
    other = small_sweep().units()[which]
    write_unit_result(tmp_path, other, known_result(other))
    for ending in ("json", "safetensors"):
        (tmp_path / f"{other.name}.{ending}").rename(tmp_path / f"{unit.name}.{ending}")
    assert wrong in read_unit_result(tmp_path, unit)[1]


def test_a_plan_is_read_as_it_was_written(tmp_path, unit):
    read = read_unit_plan(write_unit_plan(tmp_path, unit))
    assert (read.name, read.run) == (unit.name, unit.run)


def test_a_plan_that_was_changed_is_refused(tmp_path, unit):
    path = write_unit_plan(tmp_path, unit)
    change(path, first_seed=99)
    with pytest.raises(UserError, match="was changed: its settings and seeds are those of"):
        read_unit_plan(path)
    path.write_text("{}")
    with pytest.raises(UserError, match="is no unit of a sweep"):
        read_unit_plan(path)
