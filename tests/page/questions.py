"""Pages of questions for the tests: small trained models."""

from functools import cache
from pathlib import Path
from typing import Any

from glassformer.page.payload import payload_of
from glassformer.runs.load import Loaded, load_file

STORED = Path(__file__).parent / "models"
NAMES = ("max3", "mod11")


@cache
def load_question(name: str) -> Loaded:
    return load_file(STORED / f"{name}.safetensors")


@cache
def question_payload(name: str) -> dict[str, Any]:
    return payload_of(load_question(name))
