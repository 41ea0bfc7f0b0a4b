"""Classes of pairs, against every pair of numbers of two digits."""

import numpy as np
import pytest

from glassformer.proofs.columns import (
    drop_impossible_digits,
    enumerate_pair_classes,
    find_members,
    has_pair,
    join_classes,
    list_written_columns,
)
from glassformer.tasks import Addition
from tests.proofs.every_pair import CARRY, PAIRS, X, Y, Z, inside

LAYOUTS = ["lsb", "lsb24", "msb", "nanogpt"]


def members(classes):
    rows = np.arange(len(classes))
    return np.array([inside(*one) for one in zip(classes.masks(rows), classes.last, strict=True)])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pair_is_in_one_class_of_each_step_which_says_its_digit(layout):
    layout = Addition(digits=2, layout=layout).written()
    classes = enumerate_pair_classes(layout)
    held, written = members(classes), list_written_columns(layout)
    assert held.any(1).all()
    for step in range(3):
        those = held[classes.step == step]
        assert (those.sum(0) == 1).all()
        assert (classes.right[classes.step == step][those.argmax(0)] == Z[written[step]]).all()
    tokens = layout.encode(X, Y, Z)[layout.prompt_length - 1 : -1]
    assert all(
        (tokens[step, held[row]] == classes.previous[row]).all() for row, step in enumerate(classes.step)
    )


def test_a_class_has_a_pair_exactly_where_one_can_be_found():
    classes = enumerate_pair_classes(Addition(digits=2).written())
    masks = np.random.default_rng(0).random((len(classes), 2, 10, 10)) < 0.02
    narrowed = classes.pinned(np.zeros(len(classes), int), masks)
    found = has_pair(narrowed)
    assert 0 < found.sum() < len(found)
    assert (found == members(narrowed).any(1)).all()


def test_rows_are_taken_in_any_order_and_joined():
    classes = enumerate_pair_classes(Addition(digits=2).written())
    rows = np.array([7, 3, 7, 100])
    held = members(classes)[rows]
    assert (members(classes.take(rows)) == held).all()
    assert (members(join_classes([classes.take(rows[:1]), classes.take(rows[1:])])) == held).all()
    assert held.shape[1] == len(PAIRS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_impossible_digits_are_those_that_no_pair_of_the_class_has(layout):
    classes = enumerate_pair_classes(Addition(digits=2, layout=layout).written())
    fewer = drop_impossible_digits(classes)
    assert (members(fewer) == members(classes)).all()
    assert fewer.pin_mask.sum() < classes.pin_mask.sum()
    held_by = members(classes)
    for row, column, mask in zip(fewer.pin_row, fewer.pin_column, fewer.pin_mask, strict=True):
        held, seen = held_by[row], np.zeros(mask.shape, bool)
        seen[CARRY[column, held], X[column, held], Y[column, held]] = True
        assert (mask == seen).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_members_are_the_pairs_of_a_class(layout):
    classes = enumerate_pair_classes(Addition(digits=2, layout=layout).written())
    held, random = members(classes), np.random.default_rng(0)  # row pair
    for which in random.integers(0, held.shape[1], 20):
        digits = np.stack([X[:, which], Y[:, which]], 1)  # column number
        given = np.broadcast_to(digits, (len(classes), *digits.shape))
        assert (find_members(classes, given) == held[:, which]).all()
