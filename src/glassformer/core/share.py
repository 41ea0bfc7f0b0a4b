"""A measured share with its exact 95% interval (Clopper and Pearson).

>>> share = MeasuredShare.of(10, 10)
>>> share.value, round(share.low, 3), share.high
(1.0, 0.692, 1.0)
"""

from dataclasses import dataclass

_TAIL = 0.025  # on either side of a 95% interval


@dataclass(frozen=True)
class MeasuredShare:
    """`value` of `positions` trials; the true share lies in low..high with 95% confidence."""

    value: float
    low: float
    high: float
    positions: int

    @classmethod
    def of(cls, hits: int, trials: int) -> "MeasuredShare":
        if trials == 0:
            return cls(float("nan"), 0.0, 1.0, 0)
        from scipy.special import betaincinv  # late: words for shares need no SciPy

        # scipy.stats.binomtest finds the same ends to 1e-12, by a search that takes 150 times as long.
        low = float(betaincinv(hits, trials - hits + 1, _TAIL)) if hits else 0.0
        high = float(betaincinv(hits + 1, trials - hits, 1 - _TAIL)) if hits < trials else 1.0
        return cls(hits / trials, low, high, trials)
