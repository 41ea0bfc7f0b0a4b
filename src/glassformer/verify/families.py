"""How a model of each family is measured, and how its measures are said."""

from typing import Any, Protocol

from glassformer.models.model import Model
from glassformer.tasks import Sequences, Task


class Measurer(Protocol):
    """What a module of a family offers."""

    def measure(
        self, model: Model, task: Any, data: Sequences, positions: int, generated: int, seed: int = 0
    ) -> dict[str, Any]:
        """Every measure by its name, as plain data; the seed is that of the fresh inputs."""

    def describe_measures(self, measures: dict[str, Any]) -> list[str]:
        """The same for people, one per line."""


def choose_measurer(task: Task) -> Measurer:
    """The module for the task's family; only that one is loaded."""
    if task.family == "addition":
        from glassformer.verify import addition

        return addition
    if task.family == "question":
        from glassformer.verify import question

        return question
    from glassformer.verify import rule

    return rule
