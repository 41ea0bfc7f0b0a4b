"""What comes back from a worker for a unit: its result, or why there is none.

>>> answered(abs, -2)
Done(result=2)
>>> answered(len, 3).words
"TypeError: object of type 'int' has no len()"
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from glassformer.errors import UserError

TRIES = 3  # workers that may die of a unit
REPR = 100  # characters of a unit without a name that an error has room for


@dataclass(frozen=True)
class Done:
    result: Any


@dataclass(frozen=True)
class Failed:
    """What the job raised: a sentence for the user, or a bug and the place of it."""

    words: str
    is_for_user: bool
    trace: str


Answer = Done | Failed


class JobError(RuntimeError):
    """A bug in a job, found by a worker: its traceback is a note."""


def answered(job: Callable[[Any], Any], unit: Any) -> Answer:
    """The worker's side: whatever the job raises is an answer too, so that only deaths look like deaths."""
    try:
        return Done(job(unit))
    except Exception as error:
        return failed(error)


def failed(error: Exception) -> Failed:
    is_for_user = isinstance(error, UserError)
    words = str(error) if is_for_user else f"{type(error).__name__}: {error}"
    return Failed(words, is_for_user, "".join(traceback.format_exception(error)))


def opened(answer: Answer) -> Any:
    """The driver's side: the result, or the error again."""
    if isinstance(answer, Done):
        return answer.result
    if answer.is_for_user:
        raise UserError(answer.words)
    error = JobError(answer.words)
    error.add_note(f"on a worker:\n{answer.trace}")
    raise error


def name_of(unit: object) -> str:
    """How an error calls a unit: by its name where it has one.

    >>> name_of((3, "a"))
    "unit (3, 'a')"
    """
    name = getattr(unit, "name", None)
    return name if isinstance(name, str) else f"unit {repr(unit)[:REPR]}"


def died_of(death: str) -> str:
    return f"{TRIES} workers died of it, the last one by {death}"
