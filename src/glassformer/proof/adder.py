"""Is an adder right on every pair of numbers? Proved, or refuted by a pair, or undecided in the time given.

>>> from glassformer.runs.load import load
>>> model = load("glass-29")
>>> proof = prove_adder(model, model.addition)
>>> proof.verdict, int(proof.inputs) == 10**20, proof.smallest_margin > 0
('proved', True, True)
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from glassformer.errors import UserError
from glassformer.model.adding import Sum, write_sum
from glassformer.model.model import Model
from glassformer.proof.columns import all_classes, allowed_tokens
from glassformer.proof.hardest import CLOSE, gaps_of_pairs, hardest
from glassformer.proof.search import Level, Status, search
from glassformer.proof.tables import NotProvableError, Tables, tabulate
from glassformer.proof.verdict import Hardest, Outcome, Verdict
from glassformer.tasks.addition import Addition, numbers_of

TIME = 60.0  # seconds that a proof may take where nothing else is said


@dataclass(frozen=True, eq=False)
class AdderProof(Verdict):
    """A verdict with the search that it came from, for certificates and for mining."""

    tables: Tables | None = None
    levels: tuple[Level, ...] = ()


def prove_adder(
    model: Model,
    task: Addition,
    real: bool = False,
    seconds: float = TIME,
    margins: bool = True,
    close: float = CLOSE,
) -> AdderProof:
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
    steps = [asdict(one) for one in worst]
    return AdderProof(
        verdict=verdict,
        inputs=str(task.count_inputs(layout.length)),
        arithmetic=arithmetic,
        smallest_margin=margin,
        rounding_bound=rounding,
        hardest=min(steps, key=lambda one: one["margin"], default=None),
        counterexample=None
        if wrong is None
        else {"a": wrong.a, "b": wrong.b, "expected": wrong.expected, "got": wrong.got},
        classes=counts,
        seconds=round(time.perf_counter() - began, 3),
        margin_bound=bound,
        details={"hardest_by_step": steps},
        tables=tables,
        levels=tuple(levels),
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


def not_applicable(task: Addition, arithmetic: str, reason: str, began: float) -> AdderProof:
    """Nothing is said about any pair."""
    return AdderProof(
        verdict="not_applicable",
        inputs=str(task.count_inputs(task.written().length)),
        arithmetic=arithmetic,
        seconds=round(time.perf_counter() - began, 3),
        reason=reason,
        details={"hardest_by_step": []},
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


def verdict_of(counts: Mapping[str, int]) -> Outcome:
    return "refuted" if counts["refuted"] else "undecided" if counts["undecided"] else "proved"


def summary(
    tables: Tables, levels: list[Level], worst: tuple[Hardest, ...], verdict: Outcome
) -> tuple[float | None, float | None]:
    """The smallest margin and the bound below it; refuted: how far below 0 a wrong pair goes."""
    if worst:
        return min(one.margin for one in worst), min(one.bound for one in worst if one.bound is not None)
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
