"""One input as the page shows it: what is right, what the model says, by how much, and why it is shown."""

from typing import Any

from glassformer.model.model import Model
from glassformer.proof.response import respond
from glassformer.tasks import Task

Example = dict[str, Any]


def make_example(model: Model, task: Task, text: str, about: str) -> Example:
    """An input as it is typed, answered in the model's own arithmetic."""
    found = respond(model, task, text)
    return {
        "input": found.input,
        "about": about,
        "margin": found.margin,
        "expected": found.expected,
        "got": found.got,
        "right": found.is_right,
    }
