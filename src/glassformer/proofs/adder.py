"""Is an adder right on every pair of numbers? Proved, or refuted by a pair, or undecided in the time given.

>>> from glassformer.runs.load import load_model
>>> model = load_model("glass-29")
>>> proof = prove_adder(model, model.addition)
>>> proof.verdict, int(proof.inputs) == 10**20, proof.smallest_margin > 0
('proved', True, True)
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from glassformer.core.errors import UserError
from glassformer.core.spread import limit_blas_threads
from glassformer.models.adding import write_sum
from glassformer.models.model import Model
from glassformer.proofs.attack import encode_pairs, find_wrong_pair
from glassformer.proofs.columns import enumerate_pair_classes, find_allowed_tokens
from glassformer.proofs.every_pair import PairRun, can_run_all, run_all_pairs
from glassformer.proofs.hardest import CLOSE, find_hardest_pairs, measure_real_margins
from glassformer.proofs.mixing import tabulate_best_mix
from glassformer.proofs.paths import Digits
from glassformer.proofs.real_lead import is_wrong_in_real
from glassformer.proofs.search import ClassLevel, ClassStatus, search_classes
from glassformer.proofs.tables import ModelTables, NotProvableError
from glassformer.proofs.verdict import ANY_BACKEND, OWN_PASS, HardestPair, Outcome, Verdict, keep_finite
from glassformer.tasks.addition import Addition, to_numbers

_TIME = 60.0  # seconds that a proof may take where nothing else is said


_ENCLOSED = 0.25  # share of the time for bounds of what is enclosed, which splitting hardly makes closer
_MOST_COORDINATES = 16  # of a mix that is bounded beside layers that are enclosed
_RUNNING = 3.0  # seconds that looking for a wrong pair may take, whatever the bounds have used up


@dataclass(frozen=True, eq=False)
class AdderProof(Verdict):
    """A verdict with the search that it came from, for certificates and for mining."""

    tables: ModelTables | None = None
    levels: tuple[ClassLevel, ...] = ()
    run: PairRun | None = None  # every pair, where bounds left some open


@limit_blas_threads()
def prove_adder(
    model: Model,
    task: Addition,
    real: bool = False,
    seconds: float = _TIME,
    margins: bool = True,
    close: float = CLOSE,
    any_backend: bool = False,
    slack: float = 0.0,
) -> AdderProof:
    """Decide every class of pairs; `margins`: also find the hardest pair of every step.

    `slack`: a share of its values by which a mix may be off, and every class must be right all the same.
    What bounds leave open is run: every pair where they are few, or else pairs that look hard.
    """
    began = time.perf_counter()
    deadline, layout = began + seconds, _require_adder_layout(model, task)
    about: dict[str, Any] = {
        "inputs": str(task.count_inputs(layout.length)),
        "arithmetic": "real" if real else model.architecture.precision,
        "backend": ANY_BACKEND if any_backend else OWN_PASS,
    }
    try:
        allowed = find_allowed_tokens(layout, model.architecture.vocab)
        tables = tabulate_best_mix(model, allowed, layout.digits + 1, real, any_backend)
        tables = replace(tables, slack=slack)
        _require_narrow_mix(tables)
        until = began + _ENCLOSED * seconds if tables.is_enclosed else deadline
        with np.errstate(all="ignore"):  # boxes that are far too wide give infinities, and are cut
            found = _prove_by_bounds(model, task, tables, margins, close, began, until)
    except NotProvableError as error:
        left = len(enumerate_pair_classes(layout))
        found = {
            "verdict": "not_applicable",
            "reason": str(error),
            "classes": {"total": left, "proved": 0, "refuted": 0, "undecided": left},
            "details": {"hardest_by_step": []},
        }
    if found["verdict"] in ("undecided", "not_applicable"):
        with np.errstate(all="ignore"):  # what overflows when it is run is as bad as can be
            found |= _prove_by_running(model, task, real, any_backend, deadline)
    return AdderProof(**about, **found, seconds=round(time.perf_counter() - began, 3))


def _require_narrow_mix(tables: ModelTables) -> None:
    """Of a wide mix beside layers that are enclosed, bounds take minutes and decide nothing."""
    if tables.is_enclosed and tables.coordinates > _MOST_COORDINATES:
        raise NotProvableError(
            f"not provable by this method, because several layers mix tokens, and the mix of layer "
            f"{tables.mixing} has {tables.coordinates} dimensions (at most {_MOST_COORDINATES})"
        )


def _prove_by_bounds(
    model: Model,
    task: Addition,
    tables: ModelTables,
    margins: bool,
    close: float,
    began: float,
    deadline: float,
) -> dict[str, Any]:
    """Fields of the verdict, from bounds of all classes."""
    levels = search_classes(tables, enumerate_pair_classes(task.written()), deadline)
    counts = _count_roots(levels)
    verdict = _decide_adder_verdict(counts)
    spent, look = time.perf_counter() - began, verdict == "proved" and margins
    worst = find_hardest_pairs(tables, levels, close, spent, deadline) if look else ()
    wrong = np.concatenate([level.wrong[level.status == ClassStatus.REFUTED] for level in levels])
    rounding = [level.error[level.status == ClassStatus.PROVED].max(initial=0.0) for level in levels]
    margin, bound = _find_smallest_margin(tables, levels, worst, verdict)
    return {
        "verdict": verdict,
        "smallest_margin": margin,
        "rounding_bound": float(max(rounding)),
        "hardest": min(map(asdict, worst), key=lambda one: one["margin"], default=None),
        "counterexample": _find_plainest_sum(model, task, wrong, not tables.ops.floats.unit)
        if len(wrong)
        else None,
        "classes": counts,
        "margin_bound": bound,
        "details": {"hardest_by_step": [asdict(one) for one in worst]},
        "tables": tables,
        "levels": tuple(levels),
    }


def _prove_by_running(
    model: Model, task: Addition, real: bool, any_backend: bool, deadline: float
) -> dict[str, Any]:
    """Fields of the verdict that running decides; none where no pair is found wrong."""
    deadline = max(deadline, time.perf_counter() + _RUNNING)
    if can_run_all(task) and not real and not any_backend:
        run = run_all_pairs(model, task, deadline)
        return _describe_run(model, task, run) if run else {}
    wrong = find_wrong_pair(model, task, deadline, real)
    if wrong is None:
        return {}
    return {
        "verdict": "refuted",
        "counterexample": _find_plainest_sum(model, task, wrong, real),
        "reason": "",
    }


def _describe_run(model: Model, task: Addition, run: PairRun) -> dict[str, Any]:
    """Fields of the verdict, from a run of every pair."""
    is_wrong, is_open = run.is_wrong, ~(run.least > 0) & ~run.is_wrong
    wrong = run.hardest[is_wrong]
    counts = {"total": len(run.least), "proved": int((run.least > 0).sum())}
    counts |= {"refuted": int(is_wrong.sum()), "undecided": int(is_open.sum())}
    verdict = _decide_adder_verdict(counts)
    worst = [asdict(one) for one in run.list_hardest_pairs()] if verdict == "proved" else []
    return {
        "verdict": verdict,
        "smallest_margin": keep_finite(float(run.least.min())),
        "margin_bound": keep_finite(float(run.least.min())),
        "rounding_bound": 0.0 if verdict == "proved" else None,
        "hardest": min(worst, key=lambda one: one["margin"], default=None),
        "counterexample": _find_plainest_sum(model, task, wrong, False) if len(wrong) else None,
        "classes": counts,
        "exact_error": run.exact_error(),
        "reason": "some digits are tied with another" if verdict == "undecided" else "",
        "details": {"hardest_by_step": worst},
        "tables": None,
        "levels": (),
        "run": run,
    }


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
        measure_real_margins(tables, level.classes.take(rows), level.wrong[rows])[0].min()
        for level in levels
        if len(rows := np.flatnonzero(level.status == ClassStatus.REFUTED))
    ]
    return float(min(margins)), None


def _find_plainest_sum(model: Model, task: Addition, wrong: Digits, real: bool) -> dict[str, Any]:
    """Of the pairs that refute, the smallest one, with as many digits set to 0 as it can bear."""
    plainest = min(wrong, key=lambda digits: sum(_read_both_numbers(digits, task.base)))
    plainest = _simplify_pair(model, task, plainest, real)
    found = write_sum(model, task, *_read_both_numbers(plainest, task.base))
    return {"a": found.a, "b": found.b, "expected": found.expected, "got": found.got}


def _read_both_numbers(digits: Int[np.ndarray, "column number"], base: int) -> tuple[int, int]:
    a, b = to_numbers(digits, base)
    return a, b


def _simplify_pair(
    model: Model, task: Addition, digits: Int[np.ndarray, "column number"], real: bool
) -> Int[np.ndarray, "column number"]:
    """The same pair with digits set to 0, highest first, as long as the model is wrong.

    All that is left to try is run at once, as if all went well, and again behind the first that did not.
    """
    order = [(column, number) for column in reversed(range(task.digits)) for number in range(2)]
    while order:
        tries = np.repeat(digits[None], len(order), 0)
        for first, (column, number) in enumerate(order):
            tries[first:, column, number] = 0
        fails = np.append(~_is_sum_wrong(model, task, tries, real), True).argmax()
        digits = tries[fails - 1] if fails else digits
        order = order[fails + 1 :]
    return digits


def _is_sum_wrong(
    model: Model, task: Addition, digits: Int[np.ndarray, "row column number"], real: bool
) -> Bool[np.ndarray, " row"]:
    """Whether some digit comes out wrong after the right ones before it; `real`: without rounding, too.

    A pass for each digit, as sums are written: scores beyond that of the mask see what comes later.
    """
    tokens, steps = encode_pairs(task, digits), range(-task.digits - 1, 0)
    said = np.array([model.logits(tokens[:step], last=1)[:, 0].argmax(0) for step in steps])
    is_wrong: np.ndarray = (said != tokens[steps.start :]).any(0)
    if real and is_wrong.any():
        lead = [is_wrong_in_real(model, tokens[:step][:, is_wrong], tokens[step, is_wrong]) for step in steps]
        is_wrong[is_wrong] = np.any(lead, 0)
    return is_wrong
