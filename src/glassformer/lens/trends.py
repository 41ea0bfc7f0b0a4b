"""Whether a number goes up, down or through a turn over depth, and how sure that is.

Two answers, because there are two questions. The *label* compares the means of the early, middle and late
third, as the published table of Qwen2.5-3B does; every series has one. What is *tested* is what a test finds
at `LEVEL`, and on noise it is "none" 19 times in 20:

- rising, falling: Mann-Kendall, on the order of all pairs of layers (exact without ties).
- U-shape, inverted U: the two-lines test (Simonsohn 2018) on ranks: one line left and one line right
  of the turning point of a fitted parabola, with opposite slopes that are both significant. A parabola's own
  significance would not do: a curve that only levels off has it too.

Both see the order of values only, so one odd layer makes no trend. The tests' distributions are SciPy's;
`scipy.stats` is imported where a series is long enough to be tested, since that takes half a second.

>>> measure_trend(np.array([9.0, 7, 6, 4, 3, 1])).tested, round(mann_kendall(np.arange(6.0)), 4)
('falling', 0.0028)
>>> measure_trend(np.array([8.0, 5, 3, 1, 0, 1.5, 4, 6, 9])).tested
'U-shape'
"""

import math

import numpy as np
from jaxtyping import Float

from glassformer.lens.results import Course, Trend

LEVEL = 0.05  # of each test: the chance to see a trend in noise
FEWEST = 5  # layers: of 4, even a perfect order has p = 2 / 4! = 0.08
_MARGIN = 0.2  # of the layers that lie on each side of a turning point, at least: else the turn is an end
_FEWEST_ON_A_SIDE = 2  # layers that a line needs
_ROUNDING = 1e-12  # of the total sum of squares: a smaller residual is an exact fit

_Series = Float[np.ndarray, "layer"]


def measure_trend(series: _Series) -> Trend:
    """What the thirds do, what a test stands behind, its p-value, and the slope."""
    label, slope = choose_course(average_thirds(series)), theil_sen(series)
    if len(series) < FEWEST:
        return Trend(label, "too few layers", math.nan, slope)
    turn, turn_p = find_two_line_turn(series)
    if turn != "none" and turn_p < LEVEL:
        return Trend(label, turn, turn_p, slope)
    p = mann_kendall(series)
    direction: Course = "rising" if score_rising_pairs(series) > 0 else "falling"
    return Trend(label, direction if p < LEVEL else "none", p, slope)


def average_thirds(series: _Series) -> tuple[float, ...]:
    """Means of the early, middle and late third; fewer where there are fewer layers."""
    return tuple(float(part.mean()) for part in np.array_split(series, 3) if len(part))


def choose_course(thirds: tuple[float, ...]) -> Course:
    """What three means do, tested or not.

    >>> choose_course((1508.4, 1419.6, 1430.7)), choose_course((250.4, 249.7, 247.8))
    ('U-shape', 'falling')
    """
    courses: dict[tuple[float, ...], Course] = {
        (1, 1): "rising",
        (-1, -1): "falling",
        (-1, 1): "U-shape",
        (1, -1): "inverted U",
    }
    return courses.get(tuple(np.sign(np.diff(thirds)).tolist()), "none")


def theil_sen(series: _Series) -> float:
    """The median change per layer over all pairs of layers.

    The same as `scipy.stats.theilslopes`, which short series, too, would have to import.
    """
    first, second = np.triu_indices(len(series), 1)
    return float(np.median((series[second] - series[first]) / (second - first))) if len(first) else 0.0


def mann_kendall(series: _Series) -> float:
    """Two-sided p-value of the number of rising pairs minus the number of falling ones."""
    from scipy.stats import kendalltau

    n, ties = len(series), np.unique(series, return_counts=True)[1]
    if ties.max() == 1:
        return float(kendalltau(np.arange(n), series, method="exact").pvalue)
    # With ties the score is taken as normal. SciPy does so without the correction for continuity, which makes
    # every p-value smaller.
    score = abs(score_rising_pairs(series))
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return 1.0
    return math.erfc(max(score - 1, 0) / math.sqrt(2 * variance))  # minus 1: for continuity


def score_rising_pairs(series: _Series) -> int:
    first, second = np.triu_indices(len(series), 1)
    return int(np.sign(series[second] - series[first]).sum())


def find_two_line_turn(series: _Series) -> tuple[Course, float]:
    """The turn that two lines show, and the larger of their slopes' p-values; none with p = 1 for no turn."""
    from scipy.stats import rankdata

    place, ranks = np.arange(len(series)) - (len(series) - 1) / 2, rankdata(series)
    parabola, _ = fit_least_squares(np.stack([np.ones_like(place), place, place**2], axis=1), ranks)
    if np.ptp(ranks) == 0 or parabola[2] == 0:  # of equal ranks a fit keeps rounding alone
        return "none", 1.0
    turn = -parabola[1] / (2 * parabola[2])
    is_left = place <= turn
    needed = max(_FEWEST_ON_A_SIDE, math.ceil(_MARGIN * len(series)))
    if min(is_left.sum(), (~is_left).sum()) < needed:
        return "none", 1.0
    left, right = np.where(is_left, place - turn, 0), np.where(is_left, 0, place - turn)
    slopes, p_values = fit_least_squares(np.stack([left, right, is_left, ~is_left], axis=1), ranks)
    if slopes[0] * slopes[1] >= 0:
        return "none", 1.0
    return "U-shape" if slopes[1] > 0 else "inverted U", float(p_values[:2].max())


def fit_least_squares(
    columns: Float[np.ndarray, "layer term"], series: _Series
) -> tuple[Float[np.ndarray, "term"], Float[np.ndarray, "term"]]:
    """Least squares, and the two-sided p-value of every coefficient; SciPy has that for one line only."""
    from scipy.special import stdtr

    freedom = columns.shape[0] - columns.shape[1]
    inverse = np.linalg.inv(columns.T @ columns)
    coefficients = inverse @ (columns.T @ series)
    residual = series - columns @ coefficients
    total = float(((series - series.mean()) ** 2).sum())
    left_over = float(residual @ residual)
    if left_over <= _ROUNDING * total or freedom < 1:
        return coefficients, np.where(np.abs(coefficients) > 0, 0.0 if freedom > 0 else 1.0, 1.0)
    errors = np.sqrt(np.diag(inverse) * left_over / freedom)
    return coefficients, np.asarray(2 * stdtr(freedom, -np.abs(coefficients / errors)))
