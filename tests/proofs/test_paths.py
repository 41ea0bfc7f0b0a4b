"""The best pair of every class, against all pairs of numbers of two digits."""

import numpy as np
import pytest

from glassformer.proofs.columns import enumerate_pair_classes
from glassformer.proofs.paths import find_best_path
from glassformer.proofs.ways import ColumnTerms
from glassformer.tasks import Addition
from tests.proofs.every_pair import CARRY, X, Y, inside


@pytest.mark.parametrize("layout", ["lsb", "msb"])
def test_the_best_pair_is_that_of_all_pairs(layout):
    random, classes = (
        np.random.default_rng(0),
        enumerate_pair_classes(Addition(digits=2, layout=layout).written()),
    )
    terms, first, last = (
        ColumnTerms(*random.normal(size=(3, 3, 2, 10))),
        random.normal(size=3),
        random.normal(size=(3, 2)),
    )
    owner = random.integers(0, 3, len(classes))
    found = find_best_path(terms, first, last, owner, classes)
    worth = first[:, None] + last[:, CARRY[2]]
    for column in range(2):
        written = (X[column] + Y[column] + CARRY[column]) % 10
        worth += terms.x[:, column, X[column]] + terms.y[:, column, Y[column]] + terms.z[:, column, written]
    for row, masks in enumerate(classes.masks(np.arange(len(classes)))):
        held = inside(masks, classes.last[row])
        assert found.value[row] == pytest.approx(worth[owner[row], held].max(), abs=1e-12)
        x, y = found.digits[row].T
        here = (x[:, None] == X).all(0) & (y[:, None] == Y).all(0) & held
        assert worth[owner[row], here] == pytest.approx(found.value[row], abs=1e-12)
