"""A head's kernel, by problems of its size, against the kernel itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.compute import heads
from glassformer.lens.compute.heads import (
    compute_kernel_spectra,
    compute_kernel_spectrum,
    make_kernel_side,
    make_small_kernel,
)


def assert_as_dense(left: np.ndarray, right: np.ndarray, turn: np.ndarray | None = None) -> None:
    dense = left.T @ (np.eye(len(left)) if turn is None else turn) @ right
    found, count = compute_kernel_spectrum(left, right, turn), min(left.shape)
    values = np.linalg.svd(dense, compute_uv=False)[:count]
    scale = values[0]
    large = values > 1e-9 * scale
    assert found.values.shape == (count,)
    assert np.all(np.abs(found.values - values)[large] <= 1e-6 * values[large])
    assert np.all(np.abs(found.values - values) <= 1e-13 * scale)
    assert found.eigenvalues.shape == (count,) and np.all(np.diff(np.abs(found.eigenvalues)) <= 1e-9 * scale)
    assert np.sum(found.eigenvalues) == pytest.approx(np.trace(dense), abs=1e-9 * scale * count)
    assert np.sum(found.eigenvalues**2) == pytest.approx(np.trace(dense @ dense), abs=1e-9 * scale**2 * count)
    assert found.frobenius == pytest.approx(np.linalg.norm(dense), rel=1e-12)
    truth = np.linalg.norm(dense - dense.T) / np.linalg.norm(dense)
    assert found.asymmetry**2 == pytest.approx(truth**2, abs=1e-9)


def rotation(random: np.random.Generator, size: int) -> np.ndarray:
    return np.linalg.qr(random.standard_normal((size, size)))[0]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 24), st.integers(0, 2**32 - 1), st.booleans())
def test_it_is_that_of_the_dense_kernel(head: int, width: int, seed: int, is_turned: bool) -> None:
    random = np.random.default_rng(seed)
    left, right = random.standard_normal((2, head, width))
    assert_as_dense(left, right, rotation(random, head) if is_turned else None)


def test_a_turn_that_is_not_symmetric_is_applied_the_right_way_round() -> None:
    random = np.random.default_rng(0)
    left, right, turn = random.standard_normal((4, 9)), random.standard_normal((4, 9)), rotation(random, 4)
    found, swapped = compute_kernel_spectrum(left, right, turn), compute_kernel_spectrum(left, right, turn.T)
    dense = left.T @ turn @ right
    eigenvalues = np.linalg.eigvals(dense)
    assert np.allclose(np.sort(np.abs(eigenvalues))[::-1][:4], np.abs(found.eigenvalues))
    assert not np.allclose(np.abs(swapped.eigenvalues), np.abs(found.eigenvalues))
    assert not np.allclose(swapped.values, found.values)


@pytest.mark.parametrize("condition", [1e3, 1e5, 1e8])
def test_ill_conditioned_heads_keep_their_small_values(condition: float) -> None:
    random = np.random.default_rng(0)
    scales = np.geomspace(1, 1 / condition, 16)[:, None]
    left = rotation(random, 16) @ (scales * rotation(random, 40)[:16])
    assert_as_dense(left, random.standard_normal((16, 40)))


def test_heads_of_lower_rank_work() -> None:
    random = np.random.default_rng(0)
    left = random.standard_normal((8, 3)) @ random.standard_normal((3, 20))
    assert_as_dense(left, random.standard_normal((8, 20)))
    nothing = compute_kernel_spectrum(np.zeros((3, 5)), np.ones((3, 5)))
    assert nothing.values.tolist() == [0, 0, 0] and nothing.asymmetry == 0 and nothing.frobenius == 0


def test_symmetric_and_antisymmetric_kernels_are_told_apart() -> None:
    rows = np.random.default_rng(0).standard_normal((2, 10))
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert compute_kernel_spectrum(rows, rows).asymmetry < 1e-6
    assert compute_kernel_spectrum(rows, rows, turn).asymmetry == pytest.approx(2.0)


def test_shared_sides_change_nothing() -> None:
    left, right = np.random.default_rng(0).standard_normal((2, 6, 30))
    plain, shared = (
        compute_kernel_spectrum(left, right),
        compute_kernel_spectrum(make_kernel_side(left), make_kernel_side(right)),
    )
    assert np.array_equal(plain.values, shared.values) and np.array_equal(
        plain.eigenvalues, shared.eigenvalues
    )


def test_wrong_numbers_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = np.random.default_rng(0).standard_normal((2, 4, 10))
    with monkeypatch.context() as patch:
        patch.setattr(heads.np.linalg, "eigvals", lambda stack: np.ones(stack.shape[:2]))
        with pytest.raises(UserError, match="the eigenvalues of a head's kernel are wrong"):
            compute_kernel_spectrum(left, right)
    monkeypatch.setattr(heads, "factor_gram", lambda rows, gram: np.linalg.cholesky(gram))  # not transposed
    with pytest.raises(UserError, match="the spectrum of a head's kernel is wrong"):
        compute_kernel_spectrum(left, right)


def test_numbers_that_are_not_finite_are_one_sentence() -> None:
    with pytest.raises(UserError, match="not finite"):
        compute_kernel_spectrum(np.full((2, 3), np.nan), np.ones((2, 3)))


def test_many_kernels_at_once_are_those_one_by_one() -> None:
    random = np.random.default_rng(1)
    shapes = [(3, 9), (5, 9), (3, 9), (4, 2)]
    sides = [
        (make_kernel_side(random.standard_normal(shape)), make_kernel_side(random.standard_normal(shape)))
        for shape in shapes
    ]
    together = compute_kernel_spectra([make_small_kernel(*pair) for pair in sides])
    for pair, found in zip(sides, together, strict=True):
        alone = compute_kernel_spectrum(*pair)
        assert np.array_equal(found.values, alone.values)
        assert np.array_equal(found.eigenvalues, alone.eigenvalues)


def test_sides_that_never_meet_have_a_kernel_of_zero() -> None:
    """RoPE can turn a query away from every key; rounding must not pass for a wrong spectrum."""
    turn = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    left = np.array([[1.0, 2.0, 0.1]]).T @ np.array([[0.3, 0.7]])  # 3 x 2: rows are copies of one direction
    away = turn @ np.array([0.7, -0.3])
    found = compute_kernel_spectrum(left.T, np.outer(turn.T @ turn.T @ away, [1e6, 3e5, 1.0]), turn)
    assert found.values.max() < 1e-6
