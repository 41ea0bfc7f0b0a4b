"""The readout's errors hold what rounding does."""

import numpy as np
import pytest

from glassformer.proofs.columns import PairClasses, list_written_columns, pin_classes
from glassformer.proofs.readout import bound_gaps
from glassformer.proofs.search import compute_pair_mix, make_mix_boxes
from glassformer.runs.load import load_model
from tests.proofs.tabulated import SHIPPED, tables_of
from tests.selection import each


@pytest.mark.parametrize("name", each(2, SHIPPED))
def test_rounding_stays_within_its_bound(name):
    """Gaps of the deployed logits against those of the proof, pair by pair."""
    model = load_model(name)
    layout, tables = model.addition.written(), tables_of(model)
    random = np.random.default_rng(1)
    digits = random.integers(0, layout.base, (300, layout.digits, 2))
    classes = classes_of(layout, digits, step=random.integers(0, layout.digits + 1, 300))
    mix = compute_pair_mix(tables, classes, digits)
    with np.errstate(all="ignore"):
        found = bound_gaps(tables, make_mix_boxes(tables, classes, mix, mix))
    deployed = deployed_gaps(model, classes, digits)
    slack = found.middle - found.least  # how well the proof knows its own middle
    assert (np.abs(deployed - found.middle) <= 2 * found.error + slack).all()
    assert (found.error > 0).all()


def classes_of(layout, digits, step) -> PairClasses:
    x, y = digits[:, :, 0].T, digits[:, :, 1].T
    tokens, column = layout.encode(x, y, layout.solve_digits(x, y)), list_written_columns(layout)[step]
    does, rows = layout.operation, np.arange(len(digits))
    carry = np.full((layout.digits + 1, len(digits)), does.start)
    for k in range(layout.digits):
        carry[k + 1] = does.run_column(x[k], y[k], carry[k], layout.base)[1]
    totals = does.add_up(x, y, layout.base)
    total = np.where(column == layout.digits, -1, totals[np.minimum(column, layout.digits - 1), rows])
    return pin_classes(
        layout, step, tokens[layout.prompt_length + step - 1, rows], total, carry[column, rows]
    )


def deployed_gaps(model, classes, digits):
    layout = classes.layout
    x, y = digits[:, :, 0].T, digits[:, :, 1].T
    tokens, found = layout.encode(x, y, layout.solve_digits(x, y)), np.empty(len(digits))
    for row, step in enumerate(classes.step):
        logits = model.logits(tokens[: layout.prompt_length + step, row : row + 1], last=1)[:, 0, 0].astype(
            float
        )
        right = classes.right[row]
        found[row] = logits[right] - np.delete(logits, right).max()
    return found
