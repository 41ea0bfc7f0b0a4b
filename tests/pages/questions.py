"""Pages of questions for the tests: small trained models."""

from functools import cache
from pathlib import Path
from typing import Any

from glassformer.pages.payload import make_page_payload
from glassformer.runs.load import LoadedModel, load_weights_file

STORED = Path(__file__).parent / "models"
NAMES = ("max3", "mod11")


@cache
def load_question(name: str) -> LoadedModel:
    return load_weights_file(STORED / f"{name}.safetensors")


@cache
def question_payload(name: str) -> dict[str, Any]:
    return make_page_payload(load_question(name))
