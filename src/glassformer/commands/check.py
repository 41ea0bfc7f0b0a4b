"""`glassformer check`: verify a certificate with code that shares nothing with the search for the proof."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.core.answer import Answer, Request
from glassformer.core.waiting import show_status
from glassformer.core.words import format_large_count

if TYPE_CHECKING:
    from glassformer.checker.result import CheckResult


_MARGIN_TOLERANCE = 1e-4  # relative, within which the checker has found the smallest margin again


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
    """What was proved, about which model; status 1 where a claim does not hold."""
    said = f"{'valid' if result.valid else 'NOT valid'}; {result.reason} ({result.seconds:.1f} s)"
    lines = [f"{request.options['file']}: {said}", *(_describe_claims(result) if result.valid else ())]
    return Answer(asdict(result), "\n".join(lines), 0 if result.valid else 1)


def _describe_claims(result: "CheckResult") -> list[str]:
    """The statement that holds, and what it is about, as far as that was checked."""
    words = {"proved": "right on all of them", "refuted": "wrong on some", "undecided": "nothing is decided"}
    backend = " of any backend" if result.backend == "any" else ""
    lines = [
        f"  task: {result.task}",
        *_describe_lawful(result),
        f"  inputs: {format_large_count(result.inputs or 0)}, in {result.arithmetic} arithmetic{backend}",
        f"  verdict: {result.verdict}: {words.get(result.verdict or '', '')}",
    ]
    if result.errors is not None:
        lines.append(f"  {_count_errors(result.errors)} of them")
    if result.margin_bound is not None and result.smallest_margin is not None:
        low, high = _round_outward(result.margin_bound, result.smallest_margin * (1 + _MARGIN_TOLERANCE))
        lines.append(f"  smallest margin between {low} and {high}")
    if result.counterexample:
        lines.append(f"  {_describe_counterexample(result.counterexample, result.problem)}")
    return [*lines, f"  model: sha256 {result.sha256}", f"    {_describe_origin(result)}"]


def _describe_lawful(result: "CheckResult") -> list[str]:
    """Of a rule, what holds for contexts that it can produce."""
    lawful = result.lawful
    if lawful is None:
        return []
    many, failing = format_large_count(lawful["inputs"]), _count_errors(lawful["errors"])
    return [f"  contexts that the rule can produce: {many}; {lawful['verdict']}: {failing} of them"]


def _count_errors(errors: Sequence[int]) -> str:
    """How many inputs fail, at least and at most.

    >>> _count_errors([0, 0]), _count_errors([3, 3]), _count_errors([3, 9])
    ('wrong on none', 'wrong on exactly 3', 'wrong on at least 3, at most 9')
    """
    low, high = errors
    if low == high:
        return f"wrong on exactly {low:,}" if low else "wrong on none"
    return f"wrong on at least {low:,}, at most {high:,}"


def _describe_counterexample(wrong: Mapping[str, Any], problem: str | None) -> str:
    if "context" in wrong:
        return f"the model fails after {wrong['context']}: it says {wrong['got']}"
    return f"{problem} = {wrong['expected']}, the model says {wrong['got']}"


def _describe_origin(result: "CheckResult") -> str:
    if result.same_as:
        return f"these are the weights of {result.same_as}"
    return f"the file calls it {result.origin!r}; whether it is was not checked (--for TARGET compares)"


def _round_outward(low: float, high: float, digits: int = 5) -> tuple[str, str]:
    """Two numbers with so many digits, the first rounded down and the second up.

    >>> _round_outward(2.4399999, 2.4400001)
    ('2.4399', '2.4401')
    """
    below, above = Context(digits, ROUND_FLOOR), Context(digits, ROUND_CEILING)
    return f"{below.create_decimal(low):f}", f"{above.create_decimal(high):f}"
