"""Classes and sums over them, against every pair of two-digit numbers."""

from itertools import product

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.checker.columns import (
    NOWHERE,
    OpenPairs,
    PairClass,
    find_step_column,
    list_certified_classes,
    maximise_sums,
    open_class,
)
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.proofs.columns import enumerate_pair_classes
from glassformer.tasks import Addition, add_digits, to_digits
from tests.checker.conftest import inside
from tests.proofs.small import drawn_for

PAIRS = list(product(range(100), repeat=2))
X, Y = (to_digits(side, 2, 10) for side in zip(*PAIRS, strict=True))
Z = add_digits(X, Y, 10)
CARRY = np.stack([np.zeros_like(X[0]), (X[0] + Y[0]) // 10, Z[2]])  # into each column


def holds(task, one, tokens):
    """Which of all pairs are in a class, by its definition."""
    layout = task.written()
    column = find_step_column(layout, one.step)
    held = tokens[layout.prompt_length - 1 + one.step] == one.previous
    if column < 2:
        held &= X[column] + Y[column] == one.sum
    return held & (CARRY[column] == one.carry)


@pytest.mark.parametrize("operation", ["subtract", "times 2", "times 7"])
def test_classes_of_other_operations_are_those_of_the_prover(operation):
    """Listed here and there by code that shares the operation alone; the prover's are tried on all pairs."""
    task = Addition(digits=2, layout="columns", operation=operation)
    found = [(one.step, one.previous, one.sum, one.carry) for one in list_certified_classes(task)]
    classes = enumerate_pair_classes(task.written())
    named = (classes.step, classes.previous, classes.total, classes.carry)
    assert len(set(found)) == len(found)
    assert set(found) == set(zip(*(part.tolist() for part in named), strict=True))


@pytest.mark.parametrize("operation", ["add", "subtract", "times 3"])
@pytest.mark.parametrize("seed", range(2))
def test_certificates_of_other_operations_hold(operation, seed):
    model, task = drawn_for(operation, 2, seed)
    tree = make_adder_certificate(prove_adder(model, task), model, task, "drawn")
    result = check_certificate(tree)
    assert result.valid, result.reason
    assert result.verdict == "refuted" and result.problem == task.write_problem(
        tree["counterexample"]["a"], tree["counterexample"]["b"]
    )


@pytest.mark.parametrize("layout", ["lsb", "lsb24", "msb", "nanogpt"])
def test_classes_are_the_ones_that_hold_a_pair(layout):
    task = Addition(digits=2, layout=layout)
    found, tokens, pairs = list_certified_classes(task), task.written().encode(X, Y, Z), [0, 0, 0]
    assert len(set(found)) == len(found)
    for one in found:
        held = holds(task, one, tokens)
        pairs[one.step] += held.sum()
        assert held.any()
        assert (held == inside(open_class(task, one), X, Y)).all()
    assert pairs == [len(PAIRS)] * 3


def test_a_pair_is_in_one_class_of_each_step():
    task = Addition(digits=2, layout="lsb")
    x, y = to_digits([57], 2, 10)[:, 0], to_digits([68], 2, 10)[:, 0]
    held = [one for one in list_certified_classes(task) if open_class(task, one).has(x, y)]
    assert held == [PairClass(0, 0, 15, 0, 10), PairClass(1, 5, 11, 1, 10), PairClass(2, 2, -1, 1, 10)]
    assert [one.right for one in held] == [5, 2, 1]


@pytest.mark.parametrize("layout", ["lsb", "msb"])
def test_the_largest_sum_over_a_class_is_that_of_its_best_pair(layout):
    task, random = Addition(digits=2, layout=layout), np.random.default_rng(1)
    classes, tokens = list_certified_classes(task), task.written().encode(X, Y, Z)
    x, y, z = (random.integers(-(10**6), 10**6, (len(classes), 2, 10)) for _ in range(3))
    end = random.integers(-(10**6), 10**6, (len(classes), 2))
    every = [open_class(task, one) for one in classes]
    found = maximise_sums(
        np.stack([o.columns for o in every]), np.stack([o.last for o in every]), x, y, z, end
    )
    for i, one in enumerate(classes):
        sums = sum(x[i, c, X[c]] + y[i, c, Y[c]] + z[i, c, Z[c]] for c in range(2)) + end[i, Z[2]]
        assert found[i] == sums[holds(task, one, tokens)].max()


def test_no_pair_has_no_sum():
    nothing = np.zeros((1, 2, 2, 10, 10), bool)
    zeros = np.zeros((1, 2, 10), np.int64)
    assert maximise_sums(nothing, np.ones((1, 2), bool), zeros, zeros, zeros, zeros[:, 0, :2]) == NOWHERE


def test_reachable_cases_are_those_of_some_pair():
    task = Addition(digits=2, layout="lsb")
    here = open_class(task, PairClass(2, 3, -1, 1, 10))  # tens wrote 3 and carried
    held = holds(task, PairClass(2, 3, -1, 1, 10), task.written().encode(X, Y, Z))
    cases = {(int(CARRY[0][i]), int(X[0][i]), int(Y[0][i])) for i in np.flatnonzero(held)}
    assert {tuple(case) for case in np.argwhere(here.reachable(0)).tolist()} == cases
    assert not OpenPairs(here.columns, np.zeros(2, bool)).reachable(1).any()
