"""The worst inputs: where a model fails, nearly fails, or has the smallest margin of those tried."""

from typing import Any, NamedTuple

import numpy as np

from glassformer.models.margins import measure_margins
from glassformer.models.model import Model
from glassformer.pages.examples import Example, make_example
from glassformer.pages.trials_part import make_context_set
from glassformer.proofs.response import write_sums
from glassformer.proofs.verdict import Verdict
from glassformer.tasks import Addition, Strings, Task, tabulate_automaton, to_numbers
from glassformer.tasks.addition import require_addition
from glassformer.tasks.hard import draw_hard_pairs
from glassformer.tasks.strings import require_strings

_MOST, _FEW = 12, 6  # examples; where a proof gives fewer, more are searched for
_TRIED = 1_000  # hard pairs
_HARDEST = "the smallest margin that the proof found"
_Wish = tuple[str, str]  # an input as it is typed, and why it is shown


class _WorstExamples(NamedTuple):
    """The hardest input and a counterexample, where known; and the worst inputs, wrong ones first."""

    hardest: Example | None
    counterexample: Example | None
    worst: list[Example]


def find_examples(model: Model, task: Task, verdict: Verdict) -> _WorstExamples:
    """The counterexample, the hardest input, others of the verdict, then the worst of those tried now."""
    named = [(verdict.wrong_input, "counterexample"), (verdict.hardest_input, _HARDEST)]
    wishes = [(text, about) for text, about in named if text]
    if task.family == "addition":
        wishes += _choose_sum_inputs(model, require_addition(task, "the model"), verdict, _FEW - len(wishes))
    else:
        wishes += _choose_context_inputs(model, require_strings(task, "the model"), verdict)
    return _sort_examples(
        [make_example(model, task, text, about) for text, about in _drop_repeated_inputs(wishes)], verdict
    )


def _choose_sum_inputs(model: Model, task: Addition, verdict: Verdict, fewest: int) -> list[_Wish]:
    """The hardest pair of every step; where these are fewer, the worst of many hard pairs."""
    by_margin = sorted(list_step_rows(verdict, task), key=lambda step: step["margin"])
    wishes = [
        (step["input"], f"hardest at {describe_column(step['column'], task.base)}") for step in by_margin
    ]
    tried = _find_worst_pairs(model, task) if len(wishes) < fewest else []
    return wishes + [(pair, "worst of the hard pairs tried") for pair in tried]


def _choose_context_inputs(model: Model, task: Strings, verdict: Verdict) -> list[_Wish]:
    """Wrong contexts of the verdict, then the worst of the test set."""
    fails = "breaks the rule" if task.family == "rule" else "answered wrongly"
    wishes = [(context, fails) for context in verdict.worst_contexts]
    return wishes + [(context, "worst of the test set") for context in _find_worst_contexts(model, task)]


def list_step_rows(verdict: Verdict, task: Addition) -> list[dict[str, Any]]:
    """The hardest pair of every step of writing; column 0 is the units."""
    layout = task.written()
    return [
        {
            "step": one.step,
            "column": list(layout.z_positions).index(layout.prompt_length + one.step),
            "margin": one.margin,
            "bound": one.bound,
            "input": f"{one.a}+{one.b}",
        }
        for one in verdict.steps
    ]


def _sort_examples(found: list[Example], verdict: Verdict) -> _WorstExamples:
    """Wrong ones first; a wrong input that no proof found is a counterexample too."""
    by_input = {example["input"]: example for example in found}
    wrong = [example for example in found if not example["right"]]
    counterexample = by_input.get(verdict.wrong_input or "")
    if counterexample is None and wrong and verdict.verdict != "proved":
        counterexample = wrong[0]
    rest = [example for example in found if example is not counterexample]
    rest.sort(key=lambda example: (example["right"], example["margin"] is None, example["margin"]))
    worst = ([counterexample] if counterexample else []) + rest
    return _WorstExamples(by_input.get(verdict.hardest_input or ""), counterexample, worst[:_MOST])


def _drop_repeated_inputs(wishes: list[_Wish]) -> list[_Wish]:
    """Every input once, under its first name."""
    first: dict[str, str] = {}
    for text, about in wishes:
        first.setdefault(text, about)
    return list(first.items())[:_MOST]


def _find_worst_pairs(model: Model, task: Addition) -> list[str]:
    """The hard pairs with the smallest margins."""
    x, y = draw_hard_pairs(np.random.default_rng(0), _TRIED, task.digits, task.base)
    margins = write_sums(model, task, x, y).margins.min(0)
    order = np.argsort(margins, kind="stable")[:_MOST]
    pairs = zip(*(to_numbers(part[:, order], task.base) for part in (x, y)), strict=True)
    return [f"{a}+{b}" for a, b in pairs]


def _find_worst_contexts(model: Model, task: Strings) -> list[str]:
    """The test inputs with the smallest margins."""
    found, automaton = make_context_set(task, model.architecture), tabulate_automaton(task)
    if not len(found.lengths):
        return []
    last = compute_last_logits(model, found.tokens, found.lengths)
    order = np.argsort(measure_margins(last, found.allowed), kind="stable")[:_MOST]
    return [automaton.text(found.tokens[: found.lengths[which], which]) for which in order]


def compute_last_logits(model: Model, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """`tok batch`, after the last token of each context; the padding has no effect."""
    logits = model.logits(tokens).astype(np.float64)  # tok pos batch
    return logits[:, lengths - 1, np.arange(len(lengths))]


def describe_column(column: int, base: int) -> str:
    """The units, in base ten the tens, or a power of the base."""
    names = ("the units", "the tens", "the hundreds", "the thousands")[: 4 if base == 10 else 1]
    return names[column] if column < len(names) else f"the column of {base}^{column}"
