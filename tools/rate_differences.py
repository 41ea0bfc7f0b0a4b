"""Whether two success rates differ: Fisher's exact test, corrected for several tests by Holm.

172 of 1,024 seeds against 117 of 1,024: p = 0.0006; 8 of 1,024 against 4 of 1,024: p = 0.39. Where two
sweeps train the same seeds, parts of the same name start at the same values, so that a seed's two fates may
go together. That makes a difference of the two counts smaller by chance, not larger: the test then errs on
the side of saying nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.05  # below it a difference is said to be there


@dataclass(frozen=True)
class Successes:
    """How many of so many seeds succeeded."""

    hits: int
    seeds: int

    @property
    def rate(self) -> float:
        return self.hits / self.seeds


@dataclass(frozen=True)
class RateDifference:
    """One rate minus another, and how likely so large a difference is where there is none."""

    value: float  # share of the seeds, from -1 to 1
    p: float  # of Fisher's test, both sides
    corrected: float  # the same for all tests made together (Holm)

    @property
    def is_supported(self) -> bool:
        return self.corrected < LEVEL


def compare_with_base(base: Successes, others: Sequence[Successes]) -> list[RateDifference]:
    """Each rate against that of the base; together these are one family of tests."""
    return compare_pairs([(other, base) for other in others])


def compare_pairs(pairs: Sequence[tuple[Successes, Successes]]) -> list[RateDifference]:
    """The first rate of each pair minus the second; together they are one family of tests."""
    chances = [find_chance(one, other) for one, other in pairs]
    return [
        RateDifference(one.rate - other.rate, p, corrected)
        for (one, other), p, corrected in zip(pairs, chances, correct_by_holm(chances), strict=True)
    ]


def find_chance(one: Successes, other: Successes) -> float:
    """Fisher's exact test, both sides: the p-value of two equal rates."""
    from scipy.stats import fisher_exact

    table = [[one.hits, one.seeds - one.hits], [other.hits, other.seeds - other.hits]]
    return float(fisher_exact(table).pvalue)


def correct_by_holm(chances: Sequence[float]) -> list[float]:
    """p-values that hold together: the smallest of n times n, the next times n - 1, and never falling.

    >>> correct_by_holm([0.5, 0.25, 0.03125])
    [0.5, 0.5, 0.09375]
    """
    corrected, highest = [0.0] * len(chances), 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda place: chances[place])):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[place]))
        corrected[place] = highest
    return corrected


def format_chance(p: float) -> str:
    """`0.39`, `0.0006`, `2e-21`.

    >>> format_chance(0.3872), format_chance(0.00061), format_chance(2.2e-21), format_chance(0.99999)
    ('0.39', '0.00061', '2e-21', '1')
    """
    return f"{p:.0e}".replace("e-0", "e-") if p < 1e-4 else f"{p:.2g}"


def format_points(value: float) -> str:
    """A difference of rates in percentage points, with its sign: `+5.4`, `-16.0`.

    >>> format_points(0.0537), format_points(-0.16)
    ('+5.4', '-16.0')
    """
    return f"{100 * value:+.1f}"
