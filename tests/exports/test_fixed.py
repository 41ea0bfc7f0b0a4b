"""Fixed arrays of a file: which tables are rules of positions and columns, and which are numbers."""

import numpy as np
import pytest

from glassformer.exports.fixed import FixedArray, find_fixed_arrays
from glassformer.exports.plain_arrays import columns_up, mask_columns, square_columns
from glassformer.exports.simplify import ProgramStep, SimplifiedProgram

POSITIONS = 14
TABLES = {
    "columns_up": lambda columns, _: columns_up(POSITIONS, columns),
    "square_columns": lambda columns, setting: square_columns(POSITIONS, columns, setting),
    "mask_columns": lambda columns, setting: mask_columns(POSITIONS, columns, setting),
}


def find_rule(table: np.ndarray) -> FixedArray:
    """What is found of a table over queries and keys."""
    steps = SimplifiedProgram()
    steps.add(ProgramStep("input", (), None, (POSITIONS, -1)))
    place = steps.add(ProgramStep("constant", (), table.ravel().tolist(), table.shape))
    return find_fixed_arrays(steps, "float32")[place]


@pytest.mark.parametrize("columns", [2, 4, 5, 7])
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("columns_up", None),
        *(("square_columns", peak) for peak in (1.0, 0.0, -1.0, 0.5, -0.5, 3.0)),
        *(("mask_columns", highest) for highest in (-1, 0, 1)),
    ],
)
def test_a_table_of_columns_is_found_as_the_function_that_makes_it(name, setting, columns):
    table = np.array(TABLES[name](columns, setting).rows, np.float32)
    found = find_rule(table)
    if name == "mask_columns" and setting >= columns - 1:
        assert found.rule == "causal"  # nothing is masked but later keys
        return
    assert (found.rule, found.by_columns.setting) == (name, setting)
    assert found.by_columns.columns == columns
    last = "" if setting is None else f", {setting}"
    assert found.format_rule("length", "digits + 2") == f"{name}(length, digits + 2{last})"
    assert found.format_rule("POSITIONS") == f"{name}(POSITIONS, {columns}{last})"


@pytest.mark.parametrize(
    ("name", "setting"), [("columns_up", None), ("square_columns", 1.0), ("mask_columns", 1)]
)
def test_one_other_entry_and_it_is_no_rule(name, setting):
    table = np.array(TABLES[name](4, setting).rows, np.float32)
    for query, key in ((0, 0), (5, 3), (13, 13), (2, 9)):
        changed = table.copy()
        changed[query, key] = 7 if changed[query, key] == 0 else 0
        assert not find_rule(changed).is_rule, (query, key)
