"""One input as the page shows it: right answer, model's answer, margin, and why it is shown."""

from typing import Any

from glassformer.models.model import Model
from glassformer.proofs.response import respond_input
from glassformer.tasks import Task

Example = dict[str, Any]


def make_example(model: Model, task: Task, text: str, about: str) -> Example:
    """An input as it is typed, answered in the model's own arithmetic."""
    found = respond_input(model, task, text)
    return {
        "input": found.input,
        "about": about,
        "margin": found.margin,
        "expected": found.expected,
        "got": found.got,
        "right": found.is_right,
    }
