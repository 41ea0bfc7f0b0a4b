"""`glassformer check`: verify a certificate with code that shares nothing with the search for the proof."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.core.answer import Answer, Request
from glassformer.core.waiting import show_status

if TYPE_CHECKING:
    from glassformer.checker.certificate import CheckResult


def check(
    file: str | Path, target: str | Path | None = None, model: str | None = None, show: bool = False
) -> "CheckResult":
    """Verify a certificate with independent code.

    Args:
        file (FILE): a certificate written by `prove`
        target (--for TARGET): require that the certificate belongs to this model
        model (--model ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer check glass-29.certificate.json
        glassformer check runs/glass-39/certificate.json --for runs/glass-39

    Exit status: 0 valid, 1 not valid, 2 not a certificate, or another model's
    """
    from glassformer.checker.apart import check_in_subprocess

    with show_status(f"checking {file}", show):
        return check_in_subprocess(str(file), None if target is None else str(target), model)


def answer_check(result: "CheckResult", request: Request) -> Answer:
    """Whether every claim holds; status 1 where one does not."""
    said = f"{'valid' if result.valid else 'NOT valid'}; {result.reason} ({result.seconds:.1f} s)"
    return Answer(asdict(result), f"{request.options['file']}: {said}", 0 if result.valid else 1)
