"""Is an adder right on every pair of numbers? Proved, or refuted by a pair, or undecided in the time given.

>>> from glassformer.runs.load import load_model
>>> model = load_model("glass-29")
>>> proof = prove_adder(model, model.addition)
>>> proof.verdict, int(proof.inputs) == 10**20, proof.smallest_margin > 0
('proved', True, True)
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from glassformer.core.errors import UserError
from glassformer.core.spread import limit_blas_threads
from glassformer.models.adding import SumAnswer, write_sum
from glassformer.models.model import Model
from glassformer.proofs.columns import enumerate_pair_classes, find_allowed_tokens
from glassformer.proofs.extremes import write_pair_tokens
from glassformer.proofs.hardest import CLOSE, find_hardest_pairs, measure_pair_gaps
from glassformer.proofs.search import ClassLevel, ClassStatus, search_classes
from glassformer.proofs.tables import ModelTables, NotProvableError, tabulate_model
from glassformer.proofs.verdict import ANY_BACKEND, OWN_PASS, HardestPair, Outcome, Verdict
from glassformer.tasks.addition import Addition, add_digits, to_numbers

_TIME = 60.0  # seconds that a proof may take where nothing else is said


@dataclass(frozen=True, eq=False)
class AdderProof(Verdict):
    """A verdict with the search that it came from, for certificates and for mining."""

    tables: ModelTables | None = None
    levels: tuple[ClassLevel, ...] = ()


@limit_blas_threads()
def prove_adder(
    model: Model,
    task: Addition,
    real: bool = False,
    seconds: float = _TIME,
    margins: bool = True,
    close: float = CLOSE,
    any_backend: bool = False,
) -> AdderProof:
    """Decide every class of pairs; `margins`: also find the hardest pair of every step."""
    began = time.perf_counter()
    deadline = began + seconds
    arithmetic = "real" if real else model.architecture.precision
    layout = _require_adder_layout(model, task)
    try:
        tables = tabulate_model(
            model, find_allowed_tokens(layout, model.architecture.vocab), layout.digits + 1, real, any_backend
        )
    except NotProvableError as error:
        return _make_inapplicable_proof(task, arithmetic, str(error), began)
    with np.errstate(all="ignore"):  # boxes that are far too wide give infinities, and are cut
        levels = search_classes(tables, enumerate_pair_classes(layout), deadline)
        counts = _count_roots(levels)
        verdict = _decide_adder_verdict(counts)
        wrong = _find_plainest_sum(model, task, levels) if verdict == "refuted" else None
        spent, look = time.perf_counter() - began, verdict == "proved" and margins
        worst = find_hardest_pairs(tables, levels, close, spent, deadline) if look else ()
        rounding = max(
            float(level.error[level.status == ClassStatus.PROVED].max(initial=0.0)) for level in levels
        )
        margin, bound = _find_smallest_margin(tables, levels, worst, verdict)
    steps = [asdict(one) for one in worst]
    return AdderProof(
        verdict=verdict,
        inputs=str(task.count_inputs(layout.length)),
        arithmetic=arithmetic,
        backend=ANY_BACKEND if any_backend else OWN_PASS,
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


def _require_adder_layout(model: Model, task: Addition) -> Any:
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


def _make_inapplicable_proof(task: Addition, arithmetic: str, reason: str, began: float) -> AdderProof:
    """Nothing is said about any pair."""
    return AdderProof(
        verdict="not_applicable",
        inputs=str(task.count_inputs(task.written().length)),
        arithmetic=arithmetic,
        seconds=round(time.perf_counter() - began, 3),
        reason=reason,
        details={"hardest_by_step": []},
    )


def _count_roots(levels: list[ClassLevel]) -> dict[str, int]:
    """Classes of the first level: refuted where any part is, undecided where any part is open."""
    roots = len(levels[0].classes)
    is_refuted, is_open = np.zeros(roots, bool), np.zeros(roots, bool)
    for level in levels:
        is_refuted[level.root[level.status == ClassStatus.REFUTED]] = True
        is_open[level.root[level.status == ClassStatus.OPEN]] = True
    refuted, undecided = int(is_refuted.sum()), int((is_open & ~is_refuted).sum())
    proved = roots - refuted - undecided
    return {"total": roots, "proved": proved, "refuted": refuted, "undecided": undecided}


def _decide_adder_verdict(counts: Mapping[str, int]) -> Outcome:
    return "refuted" if counts["refuted"] else "undecided" if counts["undecided"] else "proved"


def _find_smallest_margin(
    tables: ModelTables, levels: list[ClassLevel], worst: tuple[HardestPair, ...], verdict: Outcome
) -> tuple[float | None, float | None]:
    """The smallest margin and the bound below it; refuted: how far below 0 a wrong pair goes."""
    if worst:
        return min(one.margin for one in worst), min(one.bound for one in worst if one.bound is not None)
    if verdict == "proved":
        return None, min(
            float(level.least[level.status == ClassStatus.PROVED].min(initial=np.inf)) for level in levels
        )
    if verdict == "undecided":
        return None, None
    margins = [
        measure_pair_gaps(tables, level.classes.take(rows), level.wrong[rows]).middle.min()
        for level in levels
        if len(rows := np.flatnonzero(level.status == ClassStatus.REFUTED))
    ]
    return float(min(margins)), None


def _find_plainest_sum(model: Model, task: Addition, levels: list[ClassLevel]) -> SumAnswer:
    """Of the pairs that refute, the smallest one, with as many digits set to 0 as it can bear."""
    wrong = np.concatenate([level.wrong[level.status == ClassStatus.REFUTED] for level in levels])
    plainest = min(wrong, key=lambda digits: sum(_read_both_numbers(digits, task.base)))
    return write_sum(model, task, *_read_both_numbers(_simplify_pair(model, task, plainest), task.base))


def _read_both_numbers(digits: Int[np.ndarray, "column number"], base: int) -> tuple[int, int]:
    a, b = to_numbers(digits, base)
    return a, b


def _simplify_pair(
    model: Model, task: Addition, digits: Int[np.ndarray, "column number"]
) -> Int[np.ndarray, "column number"]:
    """The same pair with digits set to 0, highest first, as long as the model is wrong.

    All that is left to try is run at once, as if all went well, and again behind the first that did not.
    """
    order = [(column, number) for column in reversed(range(task.digits)) for number in range(2)]
    while order:
        tries = np.repeat(digits[None], len(order), 0)
        for first, (column, number) in enumerate(order):
            tries[first:, column, number] = 0
        fails = np.append(_is_sum_right(model, task, tries), True).argmax()
        digits = tries[fails - 1] if fails else digits
        order = order[fails + 1 :]
    return digits


def _is_sum_right(
    model: Model, task: Addition, digits: Int[np.ndarray, "row column number"]
) -> Bool[np.ndarray, " row"]:
    """Whether the model writes every digit, given the right ones before it: then it writes the whole sum."""
    layout = task.written()
    tokens = write_pair_tokens(layout, digits).T  # pos row
    said = model.logits(tokens, last=task.digits + 1).argmax(0)  # step row
    x, y = digits[:, :, 0].T, digits[:, :, 1].T
    expected = layout.encode(x, y, add_digits(x, y, task.base))[layout.prompt_length :]
    return np.asarray((said == expected).all(0))
