"""The file for the board: its interface, its protocol, and that the model alone adds."""

import ast

import pytest
import torch

from glassformer.core.errors import UserError
from glassformer.exports.adderboard_file import format_adderboard_file
from glassformer.exports.subject import ExportSubject
from glassformer.models.adding import write_sum
from glassformer.runs.load import load_model
from glassformer.tasks.board import draw_board_pairs
from glassformer.tasks.examples import list_example_pairs
from glassformer.verify.addition import QUALIFIES, make_protocol_pairs
from tests.exports.exported import module_of, subject_of
from tests.models.test_forward import drawn
from tests.selection import chosen

FEW = 24  # pairs of the protocol: its edge cases and some random ones
LAYOUTS = ["glass-29", "rope-62", "nanogpt-58-repaired", "tinyadder-95-repaired"]  # one of each layout


def board(name: str):
    return module_of(format_adderboard_file(ExportSubject(load_model(name), name)))


@pytest.mark.parametrize("name", chosen(LAYOUTS, LAYOUTS[:3]))  # the last takes as long as the others
def test_it_passes_the_protocol(name):
    exported = board(name)
    model, _ = exported.build_model()
    task = load_model(name).addition
    for a, b in make_protocol_pairs(task, seed=2025, pairs=FEW - 10):
        assert exported.add(model, a, b) == a + b


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_it_qualifies_on_all_pairs_of_the_board(name):
    exported = board(name)
    model, _ = exported.build_model()
    right = [exported.add(model, a, b) == a + b for a, b in draw_board_pairs()]
    assert len(right) == 10_010
    assert sum(right) * 100 >= QUALIFIES * len(right)
    assert all(right)  # these are proved


def test_the_metadata_are_those_that_the_board_asks_for():
    model, about = board("glass-29").build_model()
    assert set(about) == {"name", "author", "params", "architecture", "tricks"}
    assert about["params"] == 29 == sum(one.numel() for one in model.parameters())
    assert about["name"] == "glass-29"
    assert about["architecture"] == "1L decoder, d=5, 1h"
    assert "token embedding: arc" in about["tricks"]


def test_a_wrong_model_is_wrong_in_the_same_way():
    """5999999999 + 0 is what tinyadder-95 gets wrong; nothing outside the model puts it right."""
    exported, loaded = board("tinyadder-95"), load_model("tinyadder-95")
    model, _ = exported.build_model()
    for a, b in [(5_999_999_999, 0), *list_example_pairs(loaded.addition, 12)]:
        assert exported.add(model, a, b) == write_sum(loaded, loaded.addition, a, b).got
    assert exported.add(model, 5_999_999_999, 0) == 6_000_000_000


def test_without_its_numbers_it_cannot_add():
    exported = board("glass-29")
    model, _ = exported.build_model()
    with torch.no_grad():
        for one in model.parameters():
            one.zero_()
    assert exported.add(model, 57, 68) != 125


def test_tokens_that_are_no_digits_give_no_number():
    exported = board("tinyadder-95")
    always = torch.zeros(14)
    always[12] = 1.0
    assert exported.add(lambda tokens: always.expand(1, tokens.shape[1], 14), 57, 68) == -1


def test_nothing_outside_the_model_adds():
    """No + or % in `add` and `prompt`; a and b are only ever written as digits."""
    tree = ast.parse(format_adderboard_file(ExportSubject(load_model("glass-29"), "glass-29")))
    outside = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in ("add", "prompt")
    ]
    assert len(outside) == 2
    assert not [node for one in outside for node in ast.walk(one) if isinstance(node, ast.BinOp)]


def test_other_tasks_are_refused():
    from glassformer.models.architecture import make_reference_architecture

    rule = subject_of(
        make_reference_architecture(vocab=12), drawn(make_reference_architecture(vocab=12), dtype="float32")
    )
    with pytest.raises(UserError, match="the board is for adders"):
        format_adderboard_file(rule)


def test_other_sizes_are_refused():
    from dataclasses import replace

    loaded = load_model("hand-4")
    short = replace(loaded, task=replace(loaded.addition, digits=3))
    with pytest.raises(UserError, match="the board adds numbers of 10 digits, and short those of 3"):
        format_adderboard_file(ExportSubject(short, "short"))
