"""A power law p(x) ~ x^-alpha fitted to the tail of a spectrum, x = sigma^2.

After Clauset, Shalizi and Newman (2009), "Power-law distributions in empirical data": for every start of the
tail (`_STARTS` of them in a long spectrum, which moves alpha by about 1%) the exponent of largest likelihood,
alpha = 1 + n / sum(log(x / start)); of all starts the one whose fit lies nearest to the data
(Kolmogorov-Smirnov). Any alpha above 1 is allowed; the package `powerlaw` by itself stops at 3.

>>> fit = fit_power_law(np.linspace(0.001, 1, 400)[::-1] ** (-1 / 1.5))  # exact quantiles of alpha = 2.5
>>> round(fit.alpha, 1)
2.5
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

SHORTEST = 8  # values in a tail: with fewer the fit follows noise
_STARTS = 192  # of tails that are tried, evenly over the ranks; all of them in a spectrum of up to that many


@dataclass(frozen=True)
class _PowerLaw:
    """A fitted tail."""

    alpha: float
    tail: int  # values in it
    distance: float  # Kolmogorov-Smirnov


NO_FIT = _PowerLaw(float("nan"), 0, float("nan"))


def fit_power_law(values: Float[np.ndarray, "value"]) -> _PowerLaw:
    """The tail of positive values that a power law fits best; no fit where there are too few."""
    logs = np.sort(np.log(values[values > 0]))[::-1]
    if len(logs) < SHORTEST or logs[0] == logs[-1]:
        return NO_FIT
    tails = np.unique(np.linspace(SHORTEST, len(logs), _STARTS).astype(int))
    spread = np.cumsum(logs)[tails - 1] - tails * logs[tails - 1]  # sum of log(x / start)
    tails, spread = tails[spread > 0], spread[spread > 0]
    steep = tails / spread
    gaps = _measure_tail_distances(logs, tails, steep)
    best = int(np.argmin(gaps))
    return _PowerLaw(float(1 + steep[best]), int(tails[best]), float(gaps[best]))


def _measure_tail_distances(
    logs: Float[np.ndarray, "value"], tails: Int[np.ndarray, "start"], steep: Float[np.ndarray, "start"]
) -> Float[np.ndarray, "start"]:
    """Largest gap between the share of a tail above x and (x / start)^-steep, on both sides of each step."""
    above = logs - logs[tails - 1][:, None]  # start value
    share = np.exp(-steep[:, None] * np.maximum(above, 0.0))
    steps = np.arange(len(logs)) / tails[:, None]
    gap = np.maximum(share - steps, steps + 1 / tails[:, None] - share)
    inside = np.arange(len(logs)) < tails[:, None]
    return np.asarray(np.max(gap, axis=1, where=inside, initial=0.0))
