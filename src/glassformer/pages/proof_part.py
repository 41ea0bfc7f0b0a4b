"""The verdict over all inputs, and the worst inputs: where the model fails, or nearly fails.

A stored proof is used if it is of the same weights; otherwise the model is proved within the time given.
"""

from pathlib import Path
from typing import Any

from glassformer.pages.words import format_number, format_page_percent
from glassformer.pages.worst import find_examples, list_step_rows
from glassformer.proofs.response import respond_input
from glassformer.proofs.stored import find_verdict
from glassformer.proofs.verdict_words import NumberFormats, describe_page_verdict
from glassformer.runs.load import LoadedModel

_Content = dict[str, Any]
_NUMBERS = NumberFormats(format_number, format_page_percent)  # as the panels write them


def make_proof_part(loaded: LoadedModel, folder: Path | None, seconds: float) -> _Content:
    """The verdict, what it rests on, and the worst inputs as the model answers them now."""
    verdict = find_verdict(loaded, folder, seconds, "this page")
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
