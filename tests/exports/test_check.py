"""The comparison: a good file passes in a process of its own, and a changed one does not."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.exports.check import ExportComparison, compare_export, measure_export_difference
from glassformer.exports.python_file import format_python_file
from glassformer.exports.subject import ExportSubject
from glassformer.exports.targets import TARGETS
from glassformer.runs.load import load_model
from glassformer.tasks.board import EDGE_CASES
from glassformer.tasks.examples import list_example_pairs

HAND = "hand-4"


@pytest.fixture
def text():
    return format_python_file(ExportSubject(load_model(HAND), HAND))


def compared(text: str, path) -> ExportComparison:
    path.write_text(text)
    return compare_export(path, TARGETS["python"], load_model(HAND), count=3)


def test_a_good_file_is_equal(text, tmp_path):
    found = compared(text, tmp_path / "good.py")
    assert found.is_equal
    assert (found.inputs, found.logits) == (3, 3 * 34 * 10)
    assert found.largest_difference <= found.tolerance == 1e-9


def test_one_number_changed_is_found(text, tmp_path):
    assert text.count("token_c1 = Array(") == 1
    found = compared(text.replace("token_c1 = Array(", "token_c1 = Array(0.3 + "), tmp_path / "bad.py")
    assert not found.is_equal
    assert found.largest_difference > found.tolerance


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [("import nothing_of_the_kind", "No module named"), ("def forward(tokens): return [[1.0]]", "of shape")],
)
def test_files_that_do_not_run_are_said_to(spoilt, words, text, tmp_path):
    with pytest.raises(UserError, match=words):
        compared(f"{text}\n{spoilt}\n", tmp_path / "bad.py")


def test_closed_tokens_count_only_as_closed():
    ours = np.array([[[1.0, 2.0, -1e30]]])
    assert measure_export_difference(ours, ours + np.array([0.0, 0.1, 1e20])) == pytest.approx(0.05)
    assert measure_export_difference(ours, np.array([[[1.0, 2.0, 0.0]]])) == float("inf")
    assert measure_export_difference(ours, np.array([[[1.0, np.nan, -1e30]]])) == float("inf")


def test_winners_count_beside_the_difference():
    equal = ExportComparison(1, 1, 0.0, 1e-3, True, 1, True)
    assert equal.is_equal
    for field in ("winners_agree", "sums_agree"):
        assert not ExportComparison(**vars(equal) | {field: False}).is_equal


def test_inputs_are_edge_cases_hard_pairs_and_random_ones():
    loaded = load_model("glass-29")
    pairs = list_example_pairs(loaded.addition, 64)
    assert len(pairs) == 64
    assert pairs[:10] == list(EDGE_CASES)
    assert pairs == list_example_pairs(loaded.addition, 64)
    assert loaded.task.example_inputs(loaded.architecture.context, 64).shape == (32, 64)
