"""Is an adder right on every pair of numbers? Proved, or refuted by a pair, or undecided in the time given.

>>> from glassformer.runs.load import load
>>> model = load("glass-29")
>>> proof = prove_adder(model, model.addition)
>>> proof.verdict, proof.inputs == 10**20, proof.smallest_margin > 0
('proved', True, True)
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Int

from glassformer.errors import UserError
from glassformer.model.adding import Sum, write_sum
from glassformer.model.model import Model
from glassformer.proof.columns import all_classes, allowed_tokens
from glassformer.proof.hardest import CLOSE, Hardest, gaps_of_pairs, hardest
from glassformer.proof.search import Level, Status, search
from glassformer.proof.tables import NotProvableError, Tables, tabulate
from glassformer.tasks.addition import BASE, Addition, numbers_of

TIME = 60.0  # seconds that a proof may take where nothing else is said

Verdict = Literal["proved", "refuted", "undecided", "not_applicable"]


@dataclass(frozen=True, eq=False)
class Proof:
    """What was found, with all that a certificate needs."""

    verdict: Verdict
    inputs: int
    arithmetic: str
    smallest_margin: float | None  # logits between the right digit and the next best, real numbers
    margin_bound: float | None  # no pair has less
    rounding_bound: float | None  # deployed arithmetic is this near to real numbers, in half gaps
    hardest: tuple[Hardest, ...]  # one a step
    counterexample: Sum | None
    classes: Mapping[str, int]
    seconds: float
    tables: Tables | None = None
    levels: tuple[Level, ...] = ()
    reason: str = ""  # why the method does not apply


def prove_adder(
    model: Model,
    task: Addition,
    real: bool = False,
    seconds: float = TIME,
    margins: bool = True,
    close: float = CLOSE,
) -> Proof:
    """Decide every class of pairs; `margins`: also find the hardest pair of every step."""
    began = time.perf_counter()
    deadline = began + seconds
    arithmetic = "real" if real else model.architecture.precision
    layout = fitting_layout(model, task)
    try:
        tables = tabulate(model, allowed_tokens(layout, model.architecture.vocab), layout.digits + 1, real)
    except NotProvableError as error:
        return not_applicable(task, arithmetic, str(error), began)
    with np.errstate(all="ignore"):  # boxes that are far too wide give infinities, and are cut
        levels = search(tables, all_classes(layout), deadline)
        counts = count_roots(levels)
        verdict = verdict_of(counts)
        wrong = plainest_wrong(model, task, levels) if verdict == "refuted" else None
        spent, look = time.perf_counter() - began, verdict == "proved" and margins
        worst = hardest(tables, levels, close, spent, deadline) if look else ()
        rounding = max(float(level.error[level.status == Status.PROVED].max(initial=0.0)) for level in levels)
        margin, bound = summary(tables, levels, worst, verdict)
    return Proof(
        verdict,
        BASE ** (2 * task.digits),
        arithmetic,
        margin,
        bound,
        rounding,
        worst,
        wrong,
        counts,
        time.perf_counter() - began,
        tables,
        tuple(levels),
    )


def fitting_layout(model: Model, task: Addition) -> Any:
    """The layout, where the model can read and write it."""
    layout, architecture = task.written(), model.architecture
    tokens, needed = len(layout.labels), layout.length - 1
    if architecture.vocab < tokens:
        raise UserError(
            f"the layout {layout.name} has {tokens} tokens, "
            f"but the model has a vocabulary of {architecture.vocab}"
        )
    if architecture.context < needed:
        raise UserError(
            f"the layout {layout.name} is {needed} tokens long for numbers of {layout.digits} digits, "
            f"but the model has a context of {architecture.context}"
        )
    return layout


def not_applicable(task: Addition, arithmetic: str, reason: str, began: float) -> Proof:
    none = {"total": 0, "proved": 0, "refuted": 0, "undecided": 0}
    seconds = time.perf_counter() - began
    inputs = BASE ** (2 * task.digits)
    return Proof(
        "not_applicable", inputs, arithmetic, None, None, None, (), None, none, seconds, reason=reason
    )


def count_roots(levels: list[Level]) -> dict[str, int]:
    """Classes of the first level: refuted where any part is, undecided where any part is open."""
    roots = len(levels[0].classes)
    is_refuted, is_open = np.zeros(roots, bool), np.zeros(roots, bool)
    for level in levels:
        is_refuted[level.root[level.status == Status.REFUTED]] = True
        is_open[level.root[level.status == Status.OPEN]] = True
    refuted, undecided = int(is_refuted.sum()), int((is_open & ~is_refuted).sum())
    proved = roots - refuted - undecided
    return {"total": roots, "proved": proved, "refuted": refuted, "undecided": undecided}


def verdict_of(counts: Mapping[str, int]) -> Verdict:
    return "refuted" if counts["refuted"] else "undecided" if counts["undecided"] else "proved"


def summary(
    tables: Tables, levels: list[Level], worst: tuple[Hardest, ...], verdict: Verdict
) -> tuple[float | None, float | None]:
    """The smallest margin and the bound below it; refuted: how far below 0 a wrong pair goes."""
    if worst:
        return min(one.margin for one in worst), min(one.bound for one in worst)
    if verdict == "proved":
        return None, min(
            float(level.least[level.status == Status.PROVED].min(initial=np.inf)) for level in levels
        )
    if verdict == "undecided":
        return None, None
    margins = [
        gaps_of_pairs(tables, level.classes.take(rows), level.wrong[rows]).middle.min()
        for level in levels
        if len(rows := np.flatnonzero(level.status == Status.REFUTED))
    ]
    return float(min(margins)), None


def plainest_wrong(model: Model, task: Addition, levels: list[Level]) -> Sum:
    """Of the pairs that refute, the smallest one, with as many digits set to 0 as it can bear."""
    wrong = np.concatenate([level.wrong[level.status == Status.REFUTED] for level in levels])
    plainest = min(wrong, key=lambda digits: sum(numbers(digits)))
    return write_sum(model, task, *numbers(simpler(model, task, plainest)))


def numbers(digits: Int[np.ndarray, "column number"]) -> tuple[int, int]:
    a, b = numbers_of(digits)
    return a, b


def simpler(
    model: Model, task: Addition, digits: Int[np.ndarray, "column number"]
) -> Int[np.ndarray, "column number"]:
    """The same pair with digits set to 0, highest first, as long as the model is wrong."""
    for column in reversed(range(task.digits)):
        for number in range(2):
            fewer = digits.copy()
            fewer[column, number] = 0
            if not write_sum(model, task, *numbers(fewer)).right:
                digits = fewer
    return digits
