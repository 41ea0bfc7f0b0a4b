"""Errors that a user can mend: one sentence, what was wrong, what was expected, the nearest valid choice.

>>> unknown("task", "plus_last_evn", ["plus_last_even", "lucky7"], hint="glassformer list tasks")
UserError("no task called 'plus_last_evn'; did you mean 'plus_last_even'? (glassformer list tasks)")
"""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Bad input: the command line prints the sentence alone and exits with 2."""


def unknown(kind: str, name: str, valid: Iterable[str], hint: str = "") -> UserError:
    """The error for a name that does not exist, with the nearest one that does."""
    choices = list(valid)
    near = get_close_matches(name, choices, n=1, cutoff=0.5)
    guess = f"did you mean '{near[0]}'?" if near else "valid: " + ", ".join(choices)
    return UserError(f"no {kind} called '{name}'; {guess}" + (f" ({hint})" if hint else ""))


def require(condition: bool, field: str, expected: str, got: object) -> None:
    """Raise the one sentence for a value out of range.

    >>> require(0 < 2 <= 1, "p", "a probability between 0 and 1", 2)
    Traceback (most recent call last):
    glassformer.errors.UserError: p must be a probability between 0 and 1, but it is 2
    """
    if not condition:
        raise UserError(f"{field} must be {expected}, but it is {got!r}")
