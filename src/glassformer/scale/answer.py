"""What comes back from a worker for a unit: its result, or why there is none.

>>> run_job(abs, -2)
_JobResult(result=2)
>>> run_job(len, 3).words
"TypeError: object of type 'int' has no len()"
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from glassformer.core.errors import UserError

TRIES = 3  # workers that may die of a unit
_REPR = 100  # characters of a unit without a name that an error has room for


@dataclass(frozen=True)
class _JobResult:
    result: Any


@dataclass(frozen=True)
class _JobFailure:
    """What the job raised: a sentence for the user, or a bug and where it is."""

    words: str
    is_for_user: bool
    trace: str


Answer = _JobResult | _JobFailure


class JobError(RuntimeError):
    """A bug in a job, found by a worker: its traceback is a note."""


def run_job(job: Callable[[Any], Any], unit: object) -> Answer:
    """The worker's side: whatever the job raises is an answer too, so that only deaths look like deaths."""
    try:
        return _JobResult(job(unit))
    except Exception as error:
        return make_failure(error)


def make_failure(error: Exception) -> _JobFailure:
    is_for_user = isinstance(error, UserError)
    words = str(error) if is_for_user else f"{type(error).__name__}: {error}"
    return _JobFailure(words, is_for_user, "".join(traceback.format_exception(error)))


def open_answer(answer: Answer) -> Any:
    """The driver's side: the result, or the error again."""
    if isinstance(answer, _JobResult):
        return answer.result
    if answer.is_for_user:
        raise UserError(answer.words)
    error = JobError(answer.words)
    error.add_note(f"on a worker:\n{answer.trace}")
    raise error


def name_unit(unit: object) -> str:
    """How an error calls a unit: by its name where it has one.

    >>> name_unit((3, "a"))
    "unit (3, 'a')"
    """
    name = getattr(unit, "name", None)
    return name if isinstance(name, str) else f"unit {repr(unit)[:_REPR]}"


def describe_deaths(death: str) -> str:
    return f"{TRIES} workers died of it, the last one by {death}"
