"""What may come next: weights on token values, and whether the rule has a say.

>>> only([4]).weights                     # the rule wants a 4
{4: 1.0}
>>> uniform([1, 2]).constrained           # anything goes; the generator draws 1 or 2
False
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Token = int | str  # an integer, or the operator "+"


@dataclass(frozen=True)
class Choice:
    """Chances of the next token; when constrained, tokens without weight break the rule."""

    weights: Mapping[Token, float]  # need not sum to 1
    constrained: bool


def free(weights: Mapping[Token, float]) -> Choice:
    """A free position: drawn by weight, and no token is wrong."""
    return Choice(dict(weights), constrained=False)


def uniform(values: Iterable[Token]) -> Choice:
    """A free position where each of the values is equally likely."""
    return free(dict.fromkeys(values, 1.0))


def only(values: Iterable[Token]) -> Choice:
    """A constrained position: exactly these values are right; a single one is determined."""
    return Choice(dict.fromkeys(values, 1.0), constrained=True)
