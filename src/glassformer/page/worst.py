"""Inputs worth a look: where a model fails, nearly fails, or does worst of those that were tried."""

from typing import NamedTuple

import numpy as np

from glassformer.model.model import Model
from glassformer.page.examples import Example, adder_example, margins_of, rule_example, write_sums
from glassformer.page.known import Known
from glassformer.page.trials_part import rule_set
from glassformer.tasks import Addition, Rule, numbers_of, tabulate
from glassformer.tasks.hard import hard_pairs

MOST, FEW = 12, 6  # examples; with fewer from a proof, others are looked for
TRIED = 1_000  # hard pairs


class Examples(NamedTuple):
    """The hardest of all inputs and one that fails, where known; and the worst, one that fails first."""

    hardest: Example | None
    counterexample: Example | None
    worst: list[Example]


def adder_examples(model: Model, task: Addition, known: Known) -> Examples:
    """The pair that fails, the hardest pair of every step, then the worst of many hard pairs."""
    wishes = [(known.counterexample, "counterexample")] if known.counterexample else []
    wishes += [(known.hardest, "the smallest margin that the proof found")] if known.hardest else []
    by_margin = sorted(known.steps, key=lambda step: step["margin"])
    wishes += [(step["input"], f"hardest at {column_words(step['column'])}") for step in by_margin]
    if len(wishes) < FEW:
        wishes += [(pair, "worst of the hard pairs tried") for pair in worst_tried(model, task)]
    found = [adder_example(model, task, pair_of(text), about) for text, about in unlike(wishes)]
    return ordered(found, known)


def rule_examples(model: Model, rule: Rule, known: Known) -> Examples:
    """The context that fails and others that do, the hardest, then the worst of the test set."""
    wishes = [(known.counterexample, "counterexample")] if known.counterexample else []
    wishes += [(known.hardest, "the smallest margin that the proof found")] if known.hardest else []
    wishes += [(context, "breaks the rule") for context in known.worst]
    wishes += [(context, "worst of the test set") for context in worst_contexts(model, rule)]
    found = [rule_example(model, rule, text, about) for text, about in unlike(wishes)]
    return ordered(found, known)


def ordered(found: list[Example], known: Known) -> Examples:
    """Those that fail first; a failure that no proof knew of is a counterexample all the same."""
    by_input = {example["input"]: example for example in found}
    wrong = [example for example in found if not example["right"]]
    counterexample = by_input.get(known.counterexample or "")
    if counterexample is None and wrong and known.verdict != "proved":
        counterexample = wrong[0]
    rest = [example for example in found if example is not counterexample]
    rest.sort(key=lambda example: (example["right"], example["margin"] is None, example["margin"]))
    worst = ([counterexample] if counterexample else []) + rest
    return Examples(by_input.get(known.hardest or ""), counterexample, worst[:MOST])


def unlike(wishes: list[tuple[str, str]]) -> list[tuple[str, str]]:
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


def worst_contexts(model: Model, rule: Rule) -> list[str]:
    """Of the test set those with the smallest margins."""
    found, automaton = rule_set(rule, model.architecture), tabulate(rule)
    if not len(found.lengths):
        return []
    last = last_logits(model, found.tokens, found.lengths)
    order = np.argsort(margins_of(last, found.allowed), kind="stable")[:MOST]
    return [automaton.text(found.tokens[: found.lengths[which], which]) for which in order]


def last_logits(model: Model, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """`tok batch`, after the last token of each context; what is behind it is not looked at."""
    logits = model.logits(tokens).astype(np.float64)  # tok pos batch
    return logits[:, lengths - 1, np.arange(len(lengths))]


def pair_of(text: str) -> tuple[int, int]:
    a, _, b = text.partition("+")
    return int(a), int(b)


def column_words(column: int) -> str:
    """The units, the tens, or a power of ten."""
    names = ("the units", "the tens", "the hundreds", "the thousands")
    return names[column] if column < len(names) else f"the column of 10^{column}"
