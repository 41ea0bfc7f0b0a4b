"""What was measured of a finished run, each share with its interval and with what it counts."""

from collections.abc import Mapping
from typing import Any

from glassformer.page.families import family_of
from glassformer.tasks import Task

Content = dict[str, Any]


def measures_part(task: Task, result: Mapping[str, Any]) -> list[Content]:
    """From result.json; nothing for a model without one."""
    measures = result.get("measures")
    if not isinstance(measures, dict):
        return []
    known = [one for one in family_of(task).list_measures(measures) if one is not None]
    return [one for i, one in enumerate(known) if not any(is_same(one, other) for other in known[:i])]


def is_same(one: Content, other: Content) -> bool:
    """Where the window always tells what is demanded, both ways of counting are one."""
    return one["of"] is not None and (one["of"], one["value"]) == (other["of"], other["value"])
