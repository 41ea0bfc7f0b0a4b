"""Many cases of one kind: some in make test, the others in make test-slow."""

from collections.abc import Iterable
from typing import Any

import pytest


def every(nth: int, cases: Iterable[Any], also: Iterable[Any] = ()) -> list[Any]:
    """Each nth case, and those named, are tested always."""
    cases, named = list(cases), list(also)
    return [
        case if place % nth == 0 or case in named else pytest.param(*as_tuple(case), marks=pytest.mark.slow)
        for place, case in enumerate(cases)
    ]


def as_tuple(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
