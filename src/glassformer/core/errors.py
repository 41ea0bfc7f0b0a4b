"""Errors that a user can fix: one sentence, what was wrong, what was expected, the nearest valid choice.

>>> make_unknown_error("task", "plus_last_evn", ["plus_last_even", "lucky7"], hint="glassformer list tasks")
UserError("no task called 'plus_last_evn'; did you mean 'plus_last_even'? (glassformer list tasks)")
"""

import traceback
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path

_SHOWN = 120  # characters of a wrong value that a sentence has room for


class UserError(Exception):
    """Bad input: the command line prints the sentence alone and exits with 2."""


def make_unknown_error(kind: str, name: str, valid: Iterable[str], hint: str = "") -> UserError:
    """The error for a name that does not exist, with the nearest one that does."""
    choices, short = list(valid), name[:_SHOWN]
    near = get_close_matches(short, choices, n=1, cutoff=0.5)
    guess = f"did you mean '{near[0]}'?" if near else "valid: " + ", ".join(choices)
    return UserError(
        f"no {kind} called '{shorten_value(name, str)}'; {guess}" + (f" ({hint})" if hint else "")
    )


def require_value(condition: bool, field: str, expected: str, got: object) -> None:
    """Raise the one sentence for a value out of range.

    >>> require_value(0 < 2 <= 1, "p", "a probability between 0 and 1", 2)
    Traceback (most recent call last):
    glassformer.core.errors.UserError: p must be a probability between 0 and 1, but it is 2
    """
    if not condition:
        raise UserError(f"{field} must be {expected}, but it is {shorten_value(got)}")


def require_bounds(owner: object, **bounds: tuple[int, int]) -> None:
    """Integers of an object, each with the least and the most that it may be; None passes.

    >>> require_bounds(range(7), stop=(1, 5))
    Traceback (most recent call last):
    glassformer.core.errors.UserError: stop must be at most 5, but it is 7
    """
    for field, (least, most) in bounds.items():
        value = getattr(owner, field)
        if value is not None:
            require_value(value >= least, field, f"at least {least}", value)
            require_value(value <= most, field, f"at most {most:,}", value)


def shorten_value(value: object, how: Callable[[object], str] = repr) -> str:
    """A value as a sentence has room for it; a number of ten thousand digits has no text in Python."""
    try:
        text = how(value)
    except (ValueError, RecursionError):
        return "too long to be shown"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def locate_error(error: BaseException, file: str | Path, line: int | None = None) -> str:
    """What was raised, and the last line of the file that had a part in it; `line` where none had."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError):
        return said  # it names file and line itself
    place = str(Path(file).resolve())
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if str(Path(frame.filename).resolve()) == place]
    at = lines[-1] if lines else line
    return f"{said} ({Path(file).name}, line {at})" if at else said
