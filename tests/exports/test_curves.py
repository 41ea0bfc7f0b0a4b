"""Positions on a spiral or a circle are exported as their formula, which makes the table that the model has."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from glassformer.exports.curves import format_curve
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
    assert format_curve(model, table) is not None
    other = np.array(table)
    other[0, 0, 0] += 1e-3
    assert format_curve(model, other) is None
    assert format_curve(model, table[:2]) is None
    learned = replace(model, position=replace(model.position, learned=True))
    assert format_curve(learned, table) is None
    assert format_curve(ZOO["any-8"].architecture, table) is None
    assert isinstance(model.position, SpiralPosition)


@pytest.mark.parametrize("name", ["nanogpt-58", "nanogpt-58-repaired"])
def test_a_circle_is_a_formula_too(name):
    """Its period, how many positions are loud and how loud stand in the file, and no table."""
    model = ZOO[name].architecture
    text = format_torch_file(ExportSubject(load_model(name), name))
    (line,) = (line for line in text.splitlines() if "circle(" in line and "register_buffer" in line)
    assert "circle(32, 4, period=11, at=1, loud=22, loud_amplitude=100" in line
    (made,) = (one for key, one in module_of(text).Model().named_buffers() if key.startswith("fixed_emb"))
    table = model.position.table(NumpyOps(model.precision), {}, "", model.context, 4)
    np.testing.assert_allclose(made[:, :, 0].T, table, rtol=3e-7, atol=1e-13)


def test_other_circles_are_told_apart():
    model = ZOO["nanogpt-58"].architecture
    table = model.position.table(NumpyOps("float32"), {}, "", model.context, 4).T[:, :, None]
    assert format_curve(model, table) is not None
    for other in (replace(model.position, period=12), replace(model.position, loud=21)):
        assert format_curve(replace(model, position=other), table) is None
