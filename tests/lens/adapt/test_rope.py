"""Rates under each scaling; the numbers are what transformers 5.22 computes for the same parameters."""

from typing import Any

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.adapt.config import CheckpointConfig
from glassformer.lens.adapt.rope import compute_scaled_rates

LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 512,
}
YARN = {"factor": 4.0, "original_max_position_embeddings": 1024}
SHORT = [1, 1, 1.5, 2, 2.5, 3, 3.5, 4]
KNOWN: list[tuple[str, float, dict[str, Any], list[float]]] = [
    (
        "linear",
        1000.0,
        {"factor": 4.0},
        [0.25, 0.105424, 0.044457, 0.0187474, 0.00790569, 0.0033338, 0.00140585, 0.000592843],
    ),
    ("llama3", 1e4, LLAMA3, [1.0, 0.316228, 0.1, 0.0184967, 0.00125, 0.000395285, 0.000125, 3.95285e-05]),
    ("yarn", 1e4, YARN, [1.0, 0.316228, 0.08125, 0.0197642, 0.004375, 0.000790569, 0.00025, 7.90569e-05]),
    (
        "yarn",
        1e4,
        {**YARN, "truncate": False, "beta_fast": 16, "beta_slow": 2},
        [1.0, 0.316228, 0.1, 0.0187018, 0.0025, 0.000790569, 0.00025, 7.90569e-05],
    ),
    (
        "longrope",
        1e4,
        {"short_factor": SHORT, "long_factor": [9] * 8},
        [1.0, 0.316228, 0.0666667, 0.0158114, 0.004, 0.00105409, 0.000285714, 7.90569e-05],
    ),
]


@pytest.mark.parametrize(("scaling", "base", "said", "wanted"), KNOWN)
def test_known_rates(scaling: str, base: float, said: dict[str, Any], wanted: list[float]) -> None:
    rates = compute_scaled_rates(scaling, base, 16, CheckpointConfig(said, "config.json"))
    assert rates is not None
    np.testing.assert_allclose(rates, wanted, rtol=1e-5)


def test_a_missing_factor_is_the_growth_of_the_context() -> None:
    grown = {"original_max_position_embeddings": 1024, "max_position_embeddings": 4096}
    by_growth, by_factor = (
        compute_scaled_rates("yarn", 1e4, 16, CheckpointConfig(said, "")) for said in (grown, YARN)
    )
    assert by_growth is not None and by_factor is not None
    assert np.array_equal(by_growth, by_factor)


def test_an_unknown_scaling_has_no_rates() -> None:
    assert compute_scaled_rates("spiral", 1e4, 16, CheckpointConfig({}, "config.json")) is None


@pytest.mark.parametrize(
    ("scaling", "base", "said", "sentence"),
    [
        ("linear", 1e4, {}, "does not say 'factor'"),
        ("yarn", 1.0, YARN, "the base of the rotations must be above 1, but it is 1"),
        ("llama3", 1e4, {**LLAMA3, "low_freq_factor": 4.0}, "must be above 'low_freq_factor'"),
        ("longrope", 1e4, {"short_factor": [1.0]}, "'short_factor' must hold 8 numbers above 0"),
        ("longrope", 1e4, {"short_factor": ["a"] * 8}, "'short_factor' must hold 8 numbers above 0"),
        ("longrope", 1e4, {"short_factor": [0.0] * 8}, "'short_factor' must hold 8 numbers above 0"),
    ],
)
def test_bad_parameters_are_one_sentence(
    scaling: str, base: float, said: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as caught:
        compute_scaled_rates(scaling, base, 16, CheckpointConfig(said, "config.json"))
    assert sentence in str(caught.value)
