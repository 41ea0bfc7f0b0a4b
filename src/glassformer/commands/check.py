"""`glassformer check`: verify a certificate with code that shares nothing with the search for the proof."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.check.apart import check_apart
from glassformer.check.certificate import Checked

NOT_VALID = 1


def check(file: str | Path, target: str | None = None, model: str | None = None) -> Checked:
    """Whether every claim of the file holds, and it is about the model that it, or `target`, names."""
    return check_apart(str(file), target, model)


def check_verdict(file: str, target: str | None, model: str | None) -> tuple[dict[str, Any], str, int]:
    """The JSON content, the words, and status 1 where a claim does not hold."""
    found = check(file, target, model)
    words = f"{file}: {'valid' if found.valid else 'NOT valid'}; {found.reason} ({found.seconds:.1f} s)"
    return asdict(found), words, 0 if found.valid else NOT_VALID
