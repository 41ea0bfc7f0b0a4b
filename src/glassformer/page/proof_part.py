"""What is known of a model on all inputs, and inputs worth a look: where it fails, or nearly does.

What is stored counts if it is of these very weights; else a proof is made, within the time given.
"""

from pathlib import Path
from typing import Any

from glassformer.page.words import percent, short
from glassformer.page.worst import find_examples, step_rows
from glassformer.proof.response import respond
from glassformer.proof.stored import find_verdict
from glassformer.proof.verdict_words import Numbers, page_sentence
from glassformer.runs.load import Loaded

Content = dict[str, Any]
NUMBERS = Numbers(short, percent)  # as the panels write them


def proof_part(loaded: Loaded, folder: Path | None, seconds: float) -> Content:
    """The verdict, what it rests on, and the worst inputs as the model answers them now."""
    verdict = find_verdict(loaded, folder, seconds, "this page")
    examples = find_examples(loaded, loaded.task, verdict)
    if examples.counterexample and verdict.verdict in ("undecided", "not_applicable"):
        wrong = respond(loaded, loaded.task, examples.counterexample["input"]).record
        verdict = verdict.refuted_by(wrong, "inputs tried for this page")
    exact = verdict.exact_error
    return {
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
        "steps": step_rows(verdict, loaded.addition) if verdict.steps else [],
        "error": exact and exact | {"lawful": verdict.lawful},
        "sentence": page_sentence(verdict, loaded.task, loaded.architecture.context, NUMBERS),
    }
