"""What is asked, by whom it is spoken of, and every token with its colour."""

from dataclasses import asdict
from typing import Any

from glassformer.draw.theme import colours_for, readable_on, token_colour
from glassformer.page.families import family_of
from glassformer.tasks import Task


def task_part(task: Task) -> dict[str, Any]:
    """The task as the page knows it, with its own words."""
    return family_of(task).describe_task(task) | {"words": asdict(task.words)}


def token_part(task: Task, vocab: int) -> list[dict[str, str]]:
    """Every token with its colour, and black or white on it."""
    names = family_of(task).name_tokens(task, vocab)
    with colours_for(names):
        return [
            {"label": name, "colour": token_colour(name), "ink": readable_on(token_colour(name))}
            for name in names
        ]
