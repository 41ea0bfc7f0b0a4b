"""What is asked: what a rule demands, or addition as the places of its digits."""

from typing import Any

import numpy as np

from glassformer.draw.theme import readable_on, token_colour
from glassformer.model.adding import label_of
from glassformer.page.pack import packed
from glassformer.proof.contexts import Demands, tabulate_demands
from glassformer.proof.tables import NotProvableError
from glassformer.tasks import Addition, Rule, Task, tabulate

MARK = -1  # of a digit in a prompt that has its marks alone


def task_part(task: Task) -> dict[str, Any]:
    """The task as the page knows it."""
    return rule_task(task) if isinstance(task, Rule) else adder_task(task)


def rule_task(rule: Rule) -> dict[str, Any]:
    """What must follow a context, as a machine that reads it backwards: far smaller than the rule's own."""
    try:
        demands = tabulate_demands(tabulate(rule))
    except NotProvableError:
        demands = nothing_demanded(len(rule.tokens()))
    return {
        "name": rule.name,
        "about": rule.describe(),
        "next": packed(demands.next),
        "window": packed(demands.window),
        "beginning": packed(demands.beginning),
        "allowed": packed(demands.allowed),
    }


def nothing_demanded(vocab: int) -> Demands:
    """Of a rule that depends on too much for a table: the page then judges nothing."""
    none = np.zeros(1, np.int32)
    return Demands(np.ones((1, vocab), bool), np.zeros((1, vocab), np.int32), none, none)


def adder_task(task: Addition) -> dict[str, Any]:
    """Where digits and marks stand."""
    layout = task.written()
    ones = np.ones((task.digits, 1), np.int32)
    prompts = [layout.prompt(ones * digit, ones * digit)[:, 0] for digit in (1, 2)]
    prompt = np.where(prompts[0] == prompts[1], prompts[0], MARK)
    return {
        "name": task.name,
        "about": f"two numbers of up to {task.digits} digits; their sum has {task.digits + 1}",
        "digits": task.digits,
        "prompt": prompt.tolist(),
        "x": list(layout.x_places),
        "y": list(layout.y_places),
        "z": list(layout.z_places),
        "labels": list(layout.labels),
        "positions": list(layout.position_labels()),
    }


def token_part(task: Task, vocab: int) -> list[dict[str, str]]:
    """Every token with its colour, and black or white on it."""
    names = token_names(task, vocab)
    return [
        {"label": name, "colour": token_colour(name), "ink": readable_on(token_colour(name))}
        for name in names
    ]


def token_names(task: Task, vocab: int) -> list[str]:
    """The labels of all tokens; those that only the model knows are numbered."""
    if isinstance(task, Addition):
        return [label_of(task.written(), token) for token in range(vocab)]
    return list(task.tokens())
