"""Positions on a spiral are exported as their formula, which makes the table that the model has."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from glassformer.exports.spiral import format_spiral
from glassformer.exports.subject import ExportSubject
from glassformer.exports.torch_file import format_torch_file
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.position import SpiralPosition
from glassformer.runs.load import load_model
from glassformer.zoo import ZOO
from tests.exports.exported import module_of

FIXED = ["glass-39", "glass-23", "glass-16", "glass-10", "glass-8"]  # nothing on their spirals is learned


@pytest.mark.parametrize("name", FIXED)
def test_the_table_is_a_formula(name):
    """glass-8 has 96 numbers of positions; none stands in the file."""
    text = format_torch_file(ExportSubject(load_model(name), name))
    (line,) = (line for line in text.splitlines() if 'register_buffer("fixed_embedded"' in line)
    assert "spiral([*range(" in line
    assert f"period={ZOO[name].architecture.position.period}" in line
    made = module_of(text).Model().fixed_embedded[:, :, 0].T
    model = ZOO[name].architecture
    table = model.position.table(NumpyOps("float32"), {}, "", model.context, 3)
    assert made.dtype == torch.float32
    np.testing.assert_allclose(made, table, rtol=0, atol=2e-6)  # PyTorch has sines of its own


def test_other_arrays_are_written_out():
    model = ZOO["glass-8"].architecture
    table = model.position.table(NumpyOps("float32"), {}, "", model.context, 3).T[:, :, None]
    assert format_spiral(model, table) is not None
    other = np.array(table)
    other[0, 0, 0] += 1e-3
    assert format_spiral(model, other) is None
    assert format_spiral(model, table[:2]) is None
    learned = replace(model, position=replace(model.position, learned=True))
    assert format_spiral(learned, table) is None
    assert format_spiral(ZOO["any-8"].architecture, table) is None
    assert isinstance(model.position, SpiralPosition)
