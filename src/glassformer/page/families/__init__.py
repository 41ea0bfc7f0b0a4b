"""Pages by family of tasks: `family_of(task)` is what a page asks whatever differs between them."""

from glassformer.page.families.addition import AdditionFamily
from glassformer.page.families.family import Family
from glassformer.page.families.question import QuestionFamily
from glassformer.page.families.strings import RuleFamily
from glassformer.tasks import Task

__all__ = ["FAMILIES", "Family", "family_of"]

FAMILIES: dict[str, Family] = {
    "rule": RuleFamily(),
    "question": QuestionFamily(),
    "addition": AdditionFamily(),
}


def family_of(task: Task) -> Family:
    """What a page asks of this task's family."""
    return FAMILIES[task.family]
