"""Pages by family of tasks: `find_family(task)` has all that differs between them."""

from glassformer.pages.families.addition import AdditionFamily
from glassformer.pages.families.family import Family
from glassformer.pages.families.question import QuestionFamily
from glassformer.pages.families.strings import RuleFamily
from glassformer.tasks import Task

__all__ = ["FAMILIES", "Family", "find_family"]

FAMILIES: dict[str, Family] = {
    "rule": RuleFamily(),
    "question": QuestionFamily(),
    "addition": AdditionFamily(),
}


def find_family(task: Task) -> Family:
    """What a page asks of this task's family."""
    return FAMILIES[task.family]
