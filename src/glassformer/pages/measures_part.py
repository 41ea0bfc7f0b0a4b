"""The measures of a finished run, each share with its interval and what it counts."""

from collections.abc import Mapping
from typing import Any

from glassformer.pages.families import find_family
from glassformer.tasks import Task

_Content = dict[str, Any]


def make_measures_part(task: Task, result: Mapping[str, object]) -> list[_Content]:
    """From result.json; nothing for a model without one."""
    measures = result.get("measures")
    if not isinstance(measures, dict):
        return []
    known = [one for one in find_family(task).list_measures(measures) if one is not None]
    return [
        one for i, one in enumerate(known) if not any(_is_same_measure(one, other) for other in known[:i])
    ]


def _is_same_measure(one: _Content, other: _Content) -> bool:
    """Where the window always determines what is allowed, both counts are the same."""
    return one["of"] is not None and (one["of"], one["value"]) == (other["of"], other["value"])
