"""A measured share with its exact 95% interval (Clopper and Pearson).

>>> share = Share.of(10, 10)
>>> share.value, round(share.low, 3), share.high
(1.0, 0.692, 1.0)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scipy.special import betaincinv

TAIL = 0.025  # on either side of a 95% interval


@dataclass(frozen=True)
class Share:
    """`value` of `positions` trials; the true share lies in low..high with 95% confidence."""

    value: float
    low: float
    high: float
    positions: int

    @classmethod
    def of(cls, hits: int, trials: int) -> "Share":
        if trials == 0:
            return cls(float("nan"), 0.0, 1.0, 0)
        low = float(betaincinv(hits, trials - hits + 1, TAIL)) if hits else 0.0
        high = float(betaincinv(hits + 1, trials - hits, 1 - TAIL)) if hits < trials else 1.0
        return cls(hits / trials, low, high, trials)


def share_text(share: Mapping[str, Any]) -> str:
    """A stored share with its interval."""
    if not share["positions"]:
        return "no such positions"
    interval = f"95% interval {share['low']:.3%} to {share['high']:.3%}, n = {share['positions']:,}"
    return f"{share['value']:.3%} ({interval})"
