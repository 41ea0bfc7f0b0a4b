"""Singular values against LAPACK's in float64, and by which way they were found."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.compute import singular
from glassformer.lens.compute.singular import compute_matrix_spectrum
from glassformer.lens.compute.statistics import compute_ranks
from glassformer.lens.matrix import Matrix


def matrix_of(weights: np.ndarray, name: str = "w") -> Matrix:
    return Matrix(name, weights.shape, lambda rows, columns: weights[rows, columns])


def lapack(weights: np.ndarray) -> np.ndarray:
    return np.linalg.svd(weights.astype(np.float64), compute_uv=False)


def assert_as_promised(weights: np.ndarray) -> str:
    """Within 1e-6 relative above a billionth of the largest, within 1e-15 of the largest under it."""
    found, truth = compute_matrix_spectrum(matrix_of(weights), "none", 0), lapack(weights)
    assert found.values.shape == truth.shape and found.values.dtype == np.float64
    assert np.all(np.diff(found.values) <= 0)
    large = truth > 1e-9 * truth[0]
    assert np.all(np.abs(found.values - truth)[large] <= 1e-6 * truth[large])
    assert np.all(np.abs(found.values - truth)[~large] <= 1e-14 * truth[0])
    return found.precision


def with_values(values: np.ndarray, rows: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    left = np.linalg.qr(random.standard_normal((rows, len(values))))[0]
    right = np.linalg.qr(random.standard_normal((len(values), len(values))))[0]
    return (left * values) @ right


@pytest.mark.parametrize(
    "shape", [(300, 40), (40, 300), (64, 64), (1, 50), (50, 1), (1, 1), (700, 130), (2, 3)]
)
@pytest.mark.parametrize("kind", [np.float64, np.float32, ml_dtypes.bfloat16])
def test_every_shape_and_type_is_as_exact_as_promised(shape: tuple[int, int], kind: type) -> None:
    weights = np.random.default_rng(0).standard_normal(shape).astype(kind)
    exact = weights if kind is np.float64 else weights.astype(np.float32)
    assert assert_as_promised(exact) in {"float64 Gram", "float64 QR"}


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e5, 1e6, 1e8, 1e10, 1e12])
@pytest.mark.parametrize("rows", [120, 400])
def test_ill_conditioned_matrices_are_as_exact(condition: float, rows: int) -> None:
    weights = with_values(np.geomspace(1, 1 / condition, 120), rows)
    precision = assert_as_promised(weights)
    assert precision == ("float64 Gram" if condition <= 1e5 else "float64 QR") or condition == 1e6


@pytest.mark.parametrize("condition", [3e4, 1e5, 2e5, 1e6])
def test_small_values_that_lie_together_are_as_exact(condition: float) -> None:
    assert_as_promised(with_values(np.r_[np.ones(100), np.full(60, 1 / condition)], 160))


def test_rounding_that_goes_the_same_way_everywhere_is_as_exact() -> None:
    """Equal products, whose errors add up to 106 epsilons of the largest eigenvalue."""
    left, right = (np.eye(size) - np.full((size, size), 2 / size) for size in (768, 192))
    assert_as_promised((left[:, :192] * np.repeat([1.0, 3e-5], 96)) @ right)


@pytest.mark.parametrize("rank", [0, 1, 7])
@pytest.mark.parametrize("shape", [(90, 30), (30, 90), (30, 30)])
def test_rank_deficient_and_zero_matrices_work(rank: int, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(1)
    weights = random.standard_normal((shape[0], rank)) @ random.standard_normal((rank, shape[1]))
    found = compute_matrix_spectrum(matrix_of(weights), "in", 4)
    assert np.allclose(found.values, lapack(weights), rtol=1e-9, atol=1e-14 * max(1.0, found.values[0]))
    assert found.vectors is not None and found.vectors.shape == (min(rank, 4), shape[1])


@pytest.fixture
def small_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singular, "MIXED_SHORT", 32)


@pytest.fixture
def always_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singular, "looks_random", lambda panel: True)


@pytest.mark.usefixtures("small_mixed")
def test_float32_is_taken_for_tall_matrices_that_allow_it() -> None:
    weights = (
        np.random.default_rng(0).standard_normal((1200, 200)).astype(ml_dtypes.bfloat16).astype(np.float32)
    )
    assert assert_as_promised(weights) == "float32 Gram"
    assert assert_as_promised(weights.T) == "float32 Gram"
    assert assert_as_promised(weights[:300]) == "float64 Gram"  # not tall


@pytest.mark.usefixtures("small_mixed", "always_tried")
@pytest.mark.parametrize(
    ("condition", "way"), [(1.5, "float32 Gram"), (3e2, "float64 Gram"), (1e7, "float64 QR")]
)
def test_float32_is_repeated_where_it_is_not_exact_enough(condition: float, way: str) -> None:
    assert assert_as_promised(with_values(np.geomspace(1, 1 / condition, 96), 960)) == way


@pytest.mark.slow
@pytest.mark.usefixtures("always_tried")
def test_float32_is_not_trusted_with_small_values_that_lie_together() -> None:
    """A lone one would be exact enough; the outermost of 320 equal ones is 1.3e-6 off."""
    weights = with_values(np.sqrt(np.repeat([1.0, 0.07], [704, 320])), 2048).astype(np.float32)
    assert assert_as_promised(weights) == "float64 Gram"


@pytest.mark.usefixtures("small_mixed", "always_tried")
@pytest.mark.parametrize("outlier", [30.0, 1e3, 1e5])
def test_columns_of_different_size_are_as_exact(outlier: float) -> None:
    weights = np.random.default_rng(0).standard_normal((800, 100)).astype(np.float32)
    weights[:, ::40] *= outlier
    assert_as_promised(weights)


@pytest.mark.usefixtures("small_mixed", "always_tried")
@pytest.mark.parametrize("scale", [1e30, 1e-30, 1e18, 1e-25])
def test_huge_and_tiny_weights_neither_overflow_nor_vanish(scale: float) -> None:
    weights = (np.random.default_rng(0).standard_normal((400, 80)) * scale).astype(np.float32)
    assert_as_promised(weights)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_weights_whose_squares_are_no_numbers_are_scaled(scale: float) -> None:
    weights = np.random.default_rng(0).standard_normal((60, 20)) * scale
    found = compute_matrix_spectrum(matrix_of(weights), "out", 3)
    assert np.allclose(found.values, lapack(weights), rtol=1e-9)
    assert found.vectors is not None and np.isfinite(found.vectors).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(("shape", "row", "column"), [((5000, 900), 4777, 3), ((900, 5000), 3, 4777)])
def test_a_number_that_is_not_finite_is_named(
    bad: float, shape: tuple[int, int], row: int, column: int
) -> None:
    weights = np.zeros(shape, np.float32)
    weights[row, column] = bad
    with pytest.raises(UserError, match=f"mlp.up has {bad} in row {row}, column {column}"):
        compute_matrix_spectrum(matrix_of(weights, "mlp.up"), "none", 0)


def test_a_wrong_spectrum_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singular, "compute_exact_values", lambda *_: (np.array([3.0, 2.0]), "float64 Gram"))
    with pytest.raises(
        UserError, match="the spectrum of w is wrong: its squares add up to 13, but its weights' to 5"
    ):
        compute_matrix_spectrum(matrix_of(np.diag([2.0, 1.0])), "none", 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_ranks_do_not_change_by_transposing_turning_and_scaling(
    rows: int, columns: int, seed: int, scale: float
) -> None:
    random = np.random.default_rng(seed)
    weights = random.standard_normal((rows, columns))
    turned = np.linalg.qr(random.standard_normal((rows, rows)))[0] @ weights
    plain = vars(compute_ranks(compute_matrix_spectrum(matrix_of(weights), "none", 0).values))
    for other in (weights.T, turned, scale * weights):
        assert vars(
            compute_ranks(compute_matrix_spectrum(matrix_of(other), "none", 0).values)
        ) == pytest.approx(plain, rel=1e-6)
