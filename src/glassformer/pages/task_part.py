"""The task with its words, and every token with its colour."""

from dataclasses import asdict
from typing import Any

from glassformer.core.theme import pick_text_colour, pick_token_colour, scale_token_colours
from glassformer.pages.families import find_family
from glassformer.tasks import Task


def make_task_part(task: Task) -> dict[str, Any]:
    """The task's data, with its words."""
    return find_family(task).describe_task(task) | {"words": asdict(task.words)}


def list_token_parts(task: Task, vocab: int) -> list[dict[str, str]]:
    """Every token with its colour, and black or white on it."""
    names = find_family(task).name_tokens(task, vocab)
    with scale_token_colours(names):
        return [
            {
                "label": name,
                "colour": pick_token_colour(name),
                "ink": pick_text_colour(pick_token_colour(name)),
            }
            for name in names
        ]
