"""Best pairs by their sum are the best of all pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassformer.proofs.ways import ColumnTerms, find_open_pairs, find_open_ways, sum_pair_terms
from glassformer.tasks.operations import ADD, OPERATIONS


def _make_terms(seed, base, is_flat):
    random = np.random.default_rng(seed)
    shape = (3, 4, base)
    return ColumnTerms(*(random.normal(size=shape).round(1 if is_flat else 9) for _ in range(3)))


@given(st.integers(0, 10**6), st.integers(2, 12), st.booleans())
def test_the_best_sum_is_the_best_pair_of_all(seed, base, is_flat):
    terms = _make_terms(seed, base, is_flat)
    carry, x, y = np.ogrid[:2, :base, :base]
    written, carried = (carry + x + y) % base, (carry + x + y) // base
    found = find_open_ways(terms, ADD)
    query, column = (part.ravel() for part in np.indices((3, 4)))
    every = sum_pair_terms(terms, query, column, written).reshape(3, 4, 2, base * base)
    for start in range(2):
        for end in range(2):
            open_now = np.where(carried[start].ravel() == end, every[:, :, start], -np.inf)
            np.testing.assert_array_equal(found.value[:, :, start, end], open_now.max(2))
            pairs = find_open_pairs(terms, np.arange(3), found.pair[:, :, start, end])
            chosen = np.take_along_axis(open_now, pairs[:, :, None], 2)[:, :, 0]
            np.testing.assert_array_equal(chosen, open_now.max(2))


@given(st.integers(0, 10**6), st.integers(3, 10), st.sampled_from(["subtract", "times 2", "times 3"]))
def test_the_best_case_of_any_operation(seed, base, name):
    operation, terms = OPERATIONS[name], _make_terms(seed, base, False)
    found, best = find_open_ways(terms, operation), {}
    seconds = range(base) if operation.has_second else [0]
    for x in range(base):
        for y in seconds:
            for start in range(operation.carries):
                written, end = operation.run_column(x, y, start, base)
                value = terms.x[:, :, x] + terms.y[:, :, y] + terms.z[:, :, written]
                best[start, end] = np.maximum(value, best.get((start, end), -np.inf))
    for (start, end), value in best.items():
        np.testing.assert_allclose(found.value[:, :, start, end], value, rtol=1e-12)


def test_pairs_that_are_known_stay():
    terms = _make_terms(0, 10, False)
    known = np.array([[7, 99, 0, 58], [100 + 18, 3, 4, 5]])
    found = find_open_pairs(terms, np.array([2, 0]), known)
    assert found.tolist() == [[7, 99, 0, 58], [99, 3, 4, 5]]  # 18 is 9 + 9
