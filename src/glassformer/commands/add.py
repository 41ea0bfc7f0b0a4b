"""`glassformer add`: one sum, digit by digit, with the margin of each digit."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.core.answer import Answer, Request

if TYPE_CHECKING:
    from glassformer.models.adding import SumAnswer

_LONGEST = 100  # digits: Python reads no number of any length


def add(target: str | Path, a: int | str, b: int | str, *, model: str | None = None) -> "SumAnswer":
    """Add two numbers with an adder.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        a (A): a non-negative integer with at most ten digits
        b (B): the same
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration

    Examples:
        glassformer add nanogpt-58 5388742030 746297626
        glassformer add runs/glass-39 57 68 --json

    Exit status: 0 the sum is right, 1 it is wrong, 2 bad input

    >>> add("glass-8", 57, 68).got
    125
    """
    from glassformer.models.adding import write_sum
    from glassformer.runs.load import load_model

    loaded = load_model(target, model)
    return write_sum(loaded, loaded.addition, _read_summand(a), _read_summand(b))


def _read_summand(value: int | str) -> int | str:
    """A number, where a text has nothing but digits; anything else is refused later, as it is."""
    if not isinstance(value, str):
        return value
    digits = value.lstrip("0") or "0"
    is_plain = value.isascii() and value.isdigit() and len(digits) < _LONGEST
    return int(digits) if is_plain else value


def answer_add(result: "SumAnswer", request: Request) -> Answer:
    """The sum and its weakest digit; status 1 where it is wrong."""
    verdict = "right" if result.right else f"wrong, expected {result.expected}"
    weakest = min(result.digits, key=lambda digit: digit.margin)
    words = (
        f"{result.a} + {result.b} = {result.got} ({verdict})\n"
        f"  smallest margin {result.margin:.4g}, at the digit '{weakest.label}' of 10^{weakest.place}"
    )
    return Answer(asdict(result), words, 0 if result.right else 1)
