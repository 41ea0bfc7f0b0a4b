"""The verdict over all inputs, and the worst inputs: where the model fails, or nearly fails.

A stored proof is used if it is of the same weights; otherwise the model is proved within the time given.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from glassformer.pages.words import format_number, format_page_percent
from glassformer.pages.worst import find_examples, list_step_rows
from glassformer.proofs.response import respond_input
from glassformer.proofs.stored import find_verdict
from glassformer.proofs.verdict import ALL_INPUTS, Verdict
from glassformer.proofs.verdict_words import NumberFormats, describe_page_verdict
from glassformer.runs.load import LoadedModel

_Content = dict[str, Any]
_NUMBERS = NumberFormats(format_number, format_page_percent)  # as the panels write them


def make_proof_part(loaded: LoadedModel, verdict: Verdict) -> _Content:
    """The verdict, what it rests on, and the worst inputs as the model answers them now."""
    examples = find_examples(loaded, loaded.task, verdict)
    if examples.counterexample and verdict.verdict in ("undecided", "not_applicable"):
        wrong = respond_input(loaded, loaded.task, examples.counterexample["input"]).record
        verdict = verdict.refuted_by(wrong, "inputs tried for this page")
    exact = verdict.exact_error
    return {
        "lawful": verdict.lawful,
        "verdict": verdict.verdict,
        "inputs": verdict.inputs,
        "arithmetic": verdict.arithmetic,
        "smallest_margin": verdict.smallest_margin,
        "rounding_bound": verdict.rounding_bound,
        "seconds": verdict.seconds,
        "reason": verdict.reason,
        "source": verdict.source,
        "classes": dict(verdict.classes),
        "hardest": examples.hardest,
        "counterexample": examples.counterexample,
        "worst": examples.worst,
        "steps": list_step_rows(verdict, loaded.addition) if verdict.steps else [],
        "error": exact and exact | {"lawful": verdict.lawful_verdict},
        "sentence": describe_page_verdict(verdict, loaded.task, loaded.architecture.context, _NUMBERS),
    }


def find_page_verdict(
    loaded: LoadedModel, folder: Path | None, seconds: float, digits: int | None
) -> tuple[Verdict, LoadedModel]:
    """What is known of the model at the length of the page, and the model for numbers of this length.

    Where none is asked for it is that of a counterexample: at other lengths that may come out right.
    """
    verdict = find_verdict(loaded, folder, seconds, "this page")
    if digits is not None:
        return _take_to_length(verdict, loaded, seconds, digits), loaded.with_digits(digits)
    return verdict, loaded.with_digits((verdict.counterexample or {}).get("digits"))


def _take_to_length(own: Verdict, loaded: LoadedModel, seconds: float, digits: int) -> Verdict:
    """What holds for every length holds for this one, and no other verdict does.

    The hardest pairs of single steps are those of the length of training.
    """
    there = loaded.with_digits(digits)
    if digits == loaded.addition.digits:
        return own
    if own.verdict != "proved" or own.inputs != ALL_INPUTS:
        return find_verdict(there, None, seconds, "this page")
    fits = own.hardest is not None and max(own.hardest["a"], own.hardest["b"]) < loaded.addition.base**digits
    return replace(own, hardest=own.hardest if fits else None, details={})
