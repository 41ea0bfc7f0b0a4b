"""How fast positions turn queries and keys: the rates after whatever scaling a checkpoint asks for.

Rates are what position differences meet: pair i of n turns by base^(-i / n) radians per position, before
scaling.

>>> compute_plain_rates(10_000.0, 8).round(3).tolist()
[1.0, 0.1, 0.01, 0.001]

The scalings are those of transformers (modeling_rope_utils: linear, llama3, yarn, longrope) and of llama.cpp.
A factor on the attention scores (yarn, longrope) changes no direction and is left out.
"""

from collections.abc import Callable, Mapping
from math import ceil, floor, log, pi

import numpy as np
from jaxtyping import Float

from glassformer.core.errors import UserError
from glassformer.lens.adapt.config import CheckpointConfig

Rates = Float[np.ndarray, "pair"]


def compute_plain_rates(base: float, dims: int) -> Rates:
    """The unscaled rates of `dims` dimensions."""
    return np.asarray(base ** (-np.arange(0, dims, 2) / dims), np.float64)


def compute_scaled_rates(scaling: str, base: float, dims: int, config: CheckpointConfig) -> Rates | None:
    """Rates under a scaling, whose parameters are in `config`; None for a scaling that is not known here."""
    if base <= 1:
        raise UserError(f"{config.source}: the base of the rotations must be above 1, but it is {base:g}")
    scale = _SCALINGS.get(scaling)
    return None if scale is None else scale(base, dims, config)


def _compute_unscaled_rates(base: float, dims: int, config: CheckpointConfig) -> Rates:
    return compute_plain_rates(base, dims)


def _compute_linear_rates(base: float, dims: int, config: CheckpointConfig) -> Rates:
    return compute_plain_rates(base, dims) / config.number("factor")


def _compute_llama3_rates(base: float, dims: int, config: CheckpointConfig) -> Rates:
    """Slow pairs by the factor, fast ones as they are, and in between a mixture by wavelength."""
    rates, factor = compute_plain_rates(base, dims), config.number("factor")
    low, high = config.number("low_freq_factor"), config.number("high_freq_factor")
    if high <= low:
        raise UserError(f"{config.source}: 'high_freq_factor' must be above 'low_freq_factor'")
    turns = config.number("original_max_position_embeddings") * rates / (2 * pi)
    fast = np.clip((turns - low) / (high - low), 0, 1)
    return np.asarray(fast * rates + (1 - fast) * rates / factor)


def _compute_yarn_rates(base: float, dims: int, config: CheckpointConfig) -> Rates:
    """Pairs that turn often in the trained length as they are, seldom ones by the factor, a ramp between."""
    rates = compute_plain_rates(base, dims)
    length = config.number("original_max_position_embeddings", "max_position_embeddings")
    growth = config.number("max_position_embeddings", default=length) / length

    def pair_turning(times: float) -> float:
        return dims * log(length / (times * 2 * pi)) / (2 * log(base))

    first = pair_turning(config.number("beta_fast", default=32))
    last = pair_turning(config.number("beta_slow", default=1))
    if config.flag("truncate", default=True):
        first, last = floor(first), ceil(last)
    first, last = max(first, 0), min(last, dims - 1)
    ramp = np.clip((np.arange(dims // 2) - first) / (last - first or 0.001), 0, 1)
    return np.asarray((1 - ramp) * rates + ramp * rates / config.number("factor", default=growth))


def _compute_longrope_rates(base: float, dims: int, config: CheckpointConfig) -> Rates:
    """Each pair by its own factor; the short ones, which hold within the trained length."""
    factors = require_pair_factors(config.get("short_factor"), dims, f"{config.source}: 'short_factor'")
    return np.asarray(compute_plain_rates(base, dims) / factors)


def require_pair_factors(values: object, dims: int, place: str) -> Rates:
    """One factor above 0 per pair; one sentence where there is anything else."""
    try:
        factors = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        factors = np.empty(0)
    if factors.shape != (dims // 2,) or not np.all(factors > 0):
        raise UserError(f"{place} must hold {dims // 2} numbers above 0, one for each pair of dimensions")
    return factors


_SCALINGS: Mapping[str, Callable[[float, int, CheckpointConfig], Rates]] = {
    "default": _compute_unscaled_rates,
    "none": _compute_unscaled_rates,
    "dynamic": _compute_unscaled_rates,  # changes nothing within the trained length
    "linear": _compute_linear_rates,
    "llama3": _compute_llama3_rates,
    "yarn": _compute_yarn_rates,
    "longrope": _compute_longrope_rates,
    "su": _compute_longrope_rates,
}
