"""Pages of questions for the tests: small trained models, their proofs made by trying every prompt."""

from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from glassformer.page.examples import margins_of
from glassformer.page.payload import payload_of
from glassformer.runs.load import Loaded, load_file
from glassformer.tasks import Prompts, tabulate

STORED = Path(__file__).parent / "models"
NAMES = ("max3", "mod11")


@cache
def load_question(name: str) -> Loaded:
    return load_file(STORED / f"{name}.safetensors")


@cache
def question_payload(name: str) -> dict[str, Any]:
    return payload_with(load_question(name))


def payload_with(loaded: Loaded, folder: Path | None = None) -> dict[str, Any]:
    """The page's data with a proof by enumeration, whatever the prover makes of the model."""
    with patch("glassformer.page.payload.proof_part", lambda model, *_: enumerated_proof(model)):
        return payload_of(loaded, folder)


def enumerated_proof(loaded: Loaded, most: int = 20_000) -> dict[str, Any]:
    """As page/proof_part.py gives it, from the margins of all prompts, or of the first ones."""
    automaton = tabulate(loaded.task)
    prompts = Prompts(automaton)
    tokens = prompts.between(0, min(most, prompts.count))
    wanted = prompts.answers(tokens)
    logits = loaded.logits(tokens, last=1)[:, 0].astype(np.float64)  # tok prompt
    margins = margins_of(logits, np.arange(len(logits))[:, None] == wanted)
    order = np.argsort(margins, kind="stable")[:6]
    worst = [
        {
            "input": automaton.text(tokens[:, one]),
            "about": "the smallest margins",
            "margin": float(margins[one]),
            "expected": automaton.tokens[wanted[one]],
            "got": automaton.tokens[int(logits[:, one].argmax())],
            "right": bool(margins[one] > 0),
        }
        for one in order
    ]
    is_right = bool((margins > 0).all())
    verdict = "proved" if is_right else "refuted"
    return {
        "verdict": verdict,
        "inputs": str(prompts.count),
        "arithmetic": loaded.architecture.precision,
        "smallest_margin": float(margins.min()),
        "rounding_bound": None,
        "seconds": 0.1,
        "reason": "",
        "source": "every prompt tried",
        "classes": {"total": 0, "proved": 0, "refuted": 0, "undecided": 0},
        "hardest": worst[0] if is_right else None,
        "counterexample": None if is_right else worst[0],
        "worst": worst,
        "steps": [],
        "error": None,
        "sentence": f"Every prompt was tried: {verdict}.",
    }
