"""Is an adder right on numbers of every length? Proved, refuted by a shortest pair, or undecided.

A query sees only so many columns (`window.py`), and nothing but their contents. So what happens at a step of
a long sum happens, number by number, at a step of a sum of N digits, N = below + above + 2: the window, one
column below it that brings the carry, and one above. Numbers of 1 to N digits are proved one length after the
other (`adder.py`), and that proves all. docs/every-length.md has the theorem.

>>> from glassformer.runs.load import load_model
>>> model = load_model("any-8")
>>> proof = prove_every_length(model, model.addition)
>>> proof.verdict, proof.inputs, len(proof.lengths) >= proof.window.longest
('proved', 'all', True)
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from glassformer.core.words import format_count
from glassformer.models.lengths import lengthen_adder
from glassformer.models.model import Model
from glassformer.proofs.adder import AdderProof, prove_adder
from glassformer.proofs.tables import NotProvableError
from glassformer.proofs.verdict import ALL_INPUTS, Verdict, make_zero_counts
from glassformer.proofs.window import ColumnWindow, bound_far_share, find_window
from glassformer.tasks.addition import Addition

_TIME = 60.0  # seconds that a proof may take where nothing else is said
_SAME = 1e-3  # relative: margins that a reader would call the same
_LEAST_TIME = 1.0  # for one length, whatever is left


@dataclass(frozen=True, eq=False)
class EveryLengthProof(Verdict):
    """A verdict with the proofs of all lengths that it rests on, shortest first."""

    window: ColumnWindow | None = None  # none: how far a query sees has no bound that is known
    lengths: tuple[AdderProof, ...] = ()


def prove_every_length(
    model: Model, task: Addition, real: bool = False, seconds: float = _TIME, margins: bool = True
) -> EveryLengthProof:
    """Length by length, until one is not proved or all that matter are."""
    began = time.perf_counter()
    window, reason = _try_window(model)
    longest = max(window.longest if window else 0, task.digits)
    lengths = tuple(_prove_lengths(model, task, real, began + seconds, margins, longest, window))
    found = _join_lengths(lengths, task, longest, reason)
    return EveryLengthProof(
        **found,
        inputs=ALL_INPUTS,
        arithmetic="real" if real else model.architecture.precision,
        seconds=round(time.perf_counter() - began, 3),
        window=window,
        lengths=lengths,
    )


def _try_window(model: Model) -> tuple[ColumnWindow | None, str]:
    """The window, or why there is none: the lengths of training are looked through all the same."""
    try:
        return find_window(model), ""
    except NotProvableError as error:
        return None, str(error)


def _prove_lengths(
    model: Model,
    task: Addition,
    real: bool,
    deadline: float,
    margins: bool,
    longest: int,
    window: ColumnWindow | None,
) -> Iterator[AdderProof]:
    """Numbers of 1, 2, 3 and more digits; the last one is the first that is not proved."""
    for digits in range(1, longest + 1):
        slack = _bound_slack(model, window) if window and digits >= window.longest else 0.0
        left = max(deadline - time.perf_counter(), _LEAST_TIME)
        proof = prove_adder(*lengthen_adder(model, task, digits), real, left, margins, slack=slack)
        yield proof
        if proof.verdict != "proved":
            return


def _bound_slack(model: Model, window: ColumnWindow) -> float:
    """How much of a mix, as a share of its values, longer numbers can change: once there, once here."""
    return 2.0 * bound_far_share(model, window)


def _join_lengths(
    lengths: tuple[AdderProof, ...], task: Addition, longest: int, reason: str
) -> dict[str, Any]:
    """Fields of the verdict on all lengths."""
    last = lengths[-1]
    counts = {name: sum(one.classes[name] for one in lengths) for name in make_zero_counts()}
    found: dict[str, Any] = {"verdict": last.verdict, "classes": counts}
    if last.verdict == "refuted":
        wrong = {**(last.counterexample or {}), "digits": len(lengths)}
        return found | {"counterexample": wrong, "smallest_margin": last.smallest_margin}
    if last.verdict != "proved":
        why = last.reason or f"{last.classes['undecided']:,} classes are left"
        return found | {"reason": f"numbers of {format_count(len(lengths), 'digit')}: {why}"}
    if reason:
        return found | {
            "verdict": "undecided",
            "reason": f"{reason}; up to {longest} digits every sum is right",
        }
    return found | _join_proved(lengths, task)


def _join_proved(lengths: tuple[AdderProof, ...], task: Addition) -> dict[str, Any]:
    """Margins of all lengths; the hardest pairs of every step are those of the length that is trained."""
    margins = [one.smallest_margin for one in lengths]
    known = [margin for margin in margins if margin is not None]
    hardest = _choose_hardest(lengths, task) if len(known) == len(lengths) else None
    return {
        "smallest_margin": min(known) if hardest else None,
        "margin_bound": min(one.margin_bound for one in lengths if one.margin_bound is not None),
        "rounding_bound": max(one.rounding_bound or 0.0 for one in lengths),
        "hardest": hardest,
        "details": {
            **lengths[task.digits - 1].details,
            "lengths": [_describe_length(one) for one in lengths],
        },
    }


def _choose_hardest(lengths: tuple[AdderProof, ...], task: Addition) -> dict[str, Any]:
    """The pair with the smallest margin; of the length that is trained, if one of that is as good as it."""
    by_margin = sorted(enumerate(lengths, 1), key=lambda one: (one[1].smallest_margin, one[0]))
    digits, own = by_margin[0][0], lengths[task.digits - 1]
    smallest = by_margin[0][1].smallest_margin or 0.0
    if own.smallest_margin is not None and own.smallest_margin <= smallest * (1 + _SAME):
        digits = task.digits
    return {**lengths[digits - 1].hardest, "digits": digits}


def _describe_length(proof: AdderProof) -> dict[str, Any]:
    return {"classes": proof.classes["total"], "margin": proof.smallest_margin, "bound": proof.margin_bound}
