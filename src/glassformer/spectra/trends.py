"""Whether a number goes up, down or through a turn over depth, and how sure that is.

Two answers, because there are two questions. The *label* compares the means of the early, middle and late
third, as the published table of Qwen2.5-3B does; every series has one. What is *tested* is what a test finds
at `LEVEL`, and on noise it is "none" 19 times in 20:

- rising, falling: Mann-Kendall, on the order of all pairs of layers (exact without ties).
- U-shape, inverted U: the two-lines test (Simonsohn 2018) on ranks: one line left and one line right
  of the turning point of a fitted parabola, with opposite slopes that are both significant. A parabola's own
  significance would not do: a curve that only levels off has it too.

Both see the order of values only, so one odd layer makes no trend.

>>> trend_of(np.array([9.0, 7, 6, 4, 3, 1])).tested, round(mann_kendall(np.arange(6.0)), 4)
('falling', 0.0028)
>>> trend_of(np.array([8.0, 5, 3, 1, 0, 1.5, 4, 6, 9])).tested
'U-shape'
"""

import math
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from glassformer.spectra.results import Course, Trend

LEVEL = 0.05  # of each test: the chance to see a trend in noise
FEWEST = 5  # layers: of 4, even a perfect order has p = 2 / 4! = 0.08
EXACT = 100  # layers up to which Mann-Kendall counts orders; above, and with ties, it is taken as normal
MARGIN = 0.2  # of the layers that lie on each side of a turning point, at least: else the turn is an end
FEWEST_ON_A_SIDE = 2  # layers that a line needs
ROUNDING = 1e-12  # of the total sum of squares: a smaller residual is an exact fit

Series = Float[np.ndarray, "layer"]


def trend_of(series: Series) -> Trend:
    """What the thirds do, what a test stands behind, its p-value, and the slope."""
    label, slope = course_of(third_means(series)), theil_sen(series)
    if len(series) < FEWEST:
        return Trend(label, "too few layers", math.nan, slope)
    turn, turn_p = two_lines(series)
    if turn != "none" and turn_p < LEVEL:
        return Trend(label, turn, turn_p, slope)
    p = mann_kendall(series)
    direction: Course = "rising" if pair_score(series) > 0 else "falling"
    return Trend(label, direction if p < LEVEL else "none", p, slope)


def third_means(series: Series) -> tuple[float, ...]:
    """Means of the early, middle and late third; fewer where there are fewer layers."""
    return tuple(float(part.mean()) for part in np.array_split(series, 3) if len(part))


def course_of(thirds: tuple[float, ...]) -> Course:
    """What three means do, tested or not.

    >>> course_of((1508.4, 1419.6, 1430.7)), course_of((250.4, 249.7, 247.8))
    ('U-shape', 'falling')
    """
    courses: dict[tuple[float, ...], Course] = {
        (1, 1): "rising",
        (-1, -1): "falling",
        (-1, 1): "U-shape",
        (1, -1): "inverted U",
    }
    return courses.get(tuple(np.sign(np.diff(thirds)).tolist()), "none")


def theil_sen(series: Series) -> float:
    """The median change a layer over all pairs of layers."""
    first, second = np.triu_indices(len(series), 1)
    return float(np.median((series[second] - series[first]) / (second - first))) if len(first) else 0.0


def mann_kendall(series: Series) -> float:
    """Two-sided p-value of the number of rising pairs less the number of falling ones."""
    score, n = abs(pair_score(series)), len(series)
    ties = np.unique(series, return_counts=True)[1]
    if n <= EXACT and ties.max() == 1:
        return exact_tail(score, n)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return 1.0
    return math.erfc(max(score - 1, 0) / math.sqrt(2 * variance))  # less 1: for continuity


def pair_score(series: Series) -> int:
    first, second = np.triu_indices(len(series), 1)
    return int(np.sign(series[second] - series[first]).sum())


def exact_tail(score: int, n: int) -> float:
    """The share of all orders of n different values whose score is as far from 0.

    >>> round(exact_tail(6, 4), 12) == round(2 / 24, 12)
    True
    """
    shares = falling_pairs(n)
    scores = n * (n - 1) // 2 - 2 * np.arange(len(shares))
    return float(shares[np.abs(scores) >= score].sum())


@lru_cache(maxsize=16)
def falling_pairs(n: int) -> Float[np.ndarray, "count"]:
    """The share of all orders of n values that have 0, 1, 2.. falling pairs.

    >>> (6 * falling_pairs(3)).round(12).tolist()
    [1.0, 2.0, 2.0, 1.0]
    """
    shares = np.ones(1)
    for size in range(2, n + 1):  # the last of them falls below 0 to size - 1 of the others
        shares = np.convolve(shares, np.full(size, 1 / size))
    return shares


def two_lines(series: Series) -> tuple[Course, float]:
    """The turn that two lines show, and the larger of their slopes' p-values; none with p = 1 for no turn."""
    place, ranks = np.arange(len(series)) - (len(series) - 1) / 2, ranks_of(series)
    parabola, _ = fit(np.stack([np.ones_like(place), place, place**2], axis=1), ranks)
    if np.ptp(ranks) == 0 or parabola[2] == 0:  # of equal ranks a fit keeps rounding alone
        return "none", 1.0
    turn = -parabola[1] / (2 * parabola[2])
    is_left = place <= turn
    needed = max(FEWEST_ON_A_SIDE, math.ceil(MARGIN * len(series)))
    if min(is_left.sum(), (~is_left).sum()) < needed:
        return "none", 1.0
    left, right = np.where(is_left, place - turn, 0), np.where(is_left, 0, place - turn)
    slopes, p_values = fit(np.stack([left, right, is_left, ~is_left], axis=1), ranks)
    if slopes[0] * slopes[1] >= 0:
        return "none", 1.0
    return "U-shape" if slopes[1] > 0 else "inverted U", float(p_values[:2].max())


def ranks_of(series: Series) -> Series:
    """Place in the order, from 1; equal values share the mean of their places.

    >>> ranks_of(np.array([5.0, 2.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    below = (series[None, :] < series[:, None]).sum(axis=1)
    not_above = (series[None, :] <= series[:, None]).sum(axis=1)
    return np.asarray((below + not_above + 1) / 2)


def fit(
    columns: Float[np.ndarray, "layer term"], series: Series
) -> tuple[Float[np.ndarray, "term"], Float[np.ndarray, "term"]]:
    """Least squares, and the two-sided p-value of every coefficient."""
    freedom = columns.shape[0] - columns.shape[1]
    inverse = np.linalg.inv(columns.T @ columns)
    coefficients = inverse @ (columns.T @ series)
    residual = series - columns @ coefficients
    total = float(((series - series.mean()) ** 2).sum())
    left_over = float(residual @ residual)
    if left_over <= ROUNDING * total or freedom < 1:
        return coefficients, np.where(np.abs(coefficients) > 0, 0.0 if freedom > 0 else 1.0, 1.0)
    errors = np.sqrt(np.diag(inverse) * left_over / freedom)
    return coefficients, np.array([student_tail(t, freedom) for t in np.abs(coefficients / errors)])


def student_tail(t: float, freedom: int) -> float:
    """Two-sided tail of Student's t, by its finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4).

    >>> round(student_tail(2.0369, 32), 4), round(student_tail(1.0, 1), 4)
    (0.05, 0.5)
    """
    angle = math.atan(t / math.sqrt(freedom))
    is_odd, cosine = freedom % 2, math.cos(angle)
    term = cosine if is_odd else 1.0
    total = 0.0
    for index in range(1 + is_odd, freedom, 2):
        total += term
        term *= cosine**2 * index / (index + 1)
    inside = math.sin(angle) * total
    return max(0.0, 1 - (2 / math.pi * (angle + inside) if is_odd else inside))
