"""Many cases of one kind: some in make test, the others in make test-slow."""

from collections.abc import Iterable
from typing import Any

import pytest


def chosen(cases: Iterable[Any], always: Iterable[Any]) -> list[Any]:
    """Those named are tested always."""
    named = list(always)
    return [
        case if case in named else pytest.param(*as_tuple(case), marks=pytest.mark.slow) for case in cases
    ]


def each(nth: int, cases: Iterable[Any], also: Iterable[Any] = ()) -> list[Any]:
    """Every nth case, and those named, are tested always."""
    cases = list(cases)
    return chosen(cases, [*cases[::nth], *also])


def as_tuple(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
