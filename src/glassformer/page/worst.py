"""Inputs worth a look: where a model fails, nearly fails, or does worst of those that were tried."""

from typing import Any, NamedTuple

import numpy as np

from glassformer.model.model import Model
from glassformer.page.examples import Example, make_example
from glassformer.page.trials_part import rule_set
from glassformer.proof.response import margins_of, write_sums
from glassformer.proof.verdict import Verdict
from glassformer.tasks import Addition, Strings, Task, numbers_of, tabulate
from glassformer.tasks.addition import require_addition
from glassformer.tasks.hard import hard_pairs
from glassformer.tasks.strings import require_strings

MOST, FEW = 12, 6  # examples; with fewer from a proof, others are looked for
TRIED = 1_000  # hard pairs
HARDEST = "the smallest margin that the proof found"
Wish = tuple[str, str]  # an input as it is typed, and why it is shown


class Examples(NamedTuple):
    """The hardest of all inputs and one that fails, where known; and the worst, one that fails first."""

    hardest: Example | None
    counterexample: Example | None
    worst: list[Example]


def find_examples(model: Model, task: Task, verdict: Verdict) -> Examples:
    """The input that fails, the hardest, others that the verdict names, then the worst of those tried now."""
    named = [(verdict.wrong_input, "counterexample"), (verdict.hardest_input, HARDEST)]
    wishes = [(text, about) for text, about in named if text]
    if task.family == "addition":
        wishes += sum_wishes(model, require_addition(task, "the model"), verdict, FEW - len(wishes))
    else:
        wishes += context_wishes(model, require_strings(task, "the model"), verdict)
    return ordered([make_example(model, task, text, about) for text, about in unlike(wishes)], verdict)


def sum_wishes(model: Model, task: Addition, verdict: Verdict, fewest: int) -> list[Wish]:
    """The hardest pair of every step; where these are fewer, the worst of many hard pairs."""
    by_margin = sorted(step_rows(verdict, task), key=lambda step: step["margin"])
    wishes = [(step["input"], f"hardest at {column_words(step['column'])}") for step in by_margin]
    tried = worst_tried(model, task) if len(wishes) < fewest else []
    return wishes + [(pair, "worst of the hard pairs tried") for pair in tried]


def context_wishes(model: Model, task: Strings, verdict: Verdict) -> list[Wish]:
    """Contexts that fail, then the worst of the test set."""
    fails = "breaks the rule" if task.family == "rule" else "answered wrongly"
    wishes = [(context, fails) for context in verdict.worst_contexts]
    return wishes + [(context, "worst of the test set") for context in worst_contexts(model, task)]


def step_rows(verdict: Verdict, task: Addition) -> list[dict[str, Any]]:
    """The hardest pair of every step of writing; column 0 is the units."""
    layout = task.written()
    return [
        {
            "step": one.step,
            "column": list(layout.z_places).index(layout.prompt_length + one.step),
            "margin": one.margin,
            "bound": one.bound,
            "input": f"{one.a}+{one.b}",
        }
        for one in verdict.steps
    ]


def ordered(found: list[Example], verdict: Verdict) -> Examples:
    """Those that fail first; a failure that no proof knew of is a counterexample all the same."""
    by_input = {example["input"]: example for example in found}
    wrong = [example for example in found if not example["right"]]
    counterexample = by_input.get(verdict.wrong_input or "")
    if counterexample is None and wrong and verdict.verdict != "proved":
        counterexample = wrong[0]
    rest = [example for example in found if example is not counterexample]
    rest.sort(key=lambda example: (example["right"], example["margin"] is None, example["margin"]))
    worst = ([counterexample] if counterexample else []) + rest
    return Examples(by_input.get(verdict.hardest_input or ""), counterexample, worst[:MOST])


def unlike(wishes: list[Wish]) -> list[Wish]:
    """Every input once, under its first name."""
    first: dict[str, str] = {}
    for text, about in wishes:
        first.setdefault(text, about)
    return list(first.items())[:MOST]


def worst_tried(model: Model, task: Addition) -> list[str]:
    """Of many hard pairs those with the smallest margins, or that come out wrong."""
    x, y = hard_pairs(np.random.default_rng(0), TRIED, task.digits)
    margins = write_sums(model, task, x, y).margins.min(0)
    order = np.argsort(margins, kind="stable")[:MOST]
    pairs = zip(numbers_of(x[:, order]), numbers_of(y[:, order]), strict=True)
    return [f"{a}+{b}" for a, b in pairs]


def worst_contexts(model: Model, task: Strings) -> list[str]:
    """Of the test set those with the smallest margins."""
    found, automaton = rule_set(task, model.architecture), tabulate(task)
    if not len(found.lengths):
        return []
    last = last_logits(model, found.tokens, found.lengths)
    order = np.argsort(margins_of(last, found.allowed), kind="stable")[:MOST]
    return [automaton.text(found.tokens[: found.lengths[which], which]) for which in order]


def last_logits(model: Model, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """`tok batch`, after the last token of each context; what is behind it is not looked at."""
    logits = model.logits(tokens).astype(np.float64)  # tok pos batch
    return logits[:, lengths - 1, np.arange(len(lengths))]


def column_words(column: int) -> str:
    """The units, the tens, or a power of ten."""
    names = ("the units", "the tens", "the hundreds", "the thousands")
    return names[column] if column < len(names) else f"the column of 10^{column}"
