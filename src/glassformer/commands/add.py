"""`glassformer add`: one sum, digit by digit, with the margin of each digit."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.commands.values import read_decimal
from glassformer.core.answer import Answer, Request

if TYPE_CHECKING:
    from glassformer.models.adding import SumAnswer

_SHOWN_BASE = 10  # in which numbers are typed and shown


def add(target: str | Path, a: int | str, b: int | str, *, model: str | None = None) -> "SumAnswer":
    """Add two numbers with an adder; they are typed in base ten, whatever the adder's base.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        a (A): a non-negative integer with as many digits as the adder has, at most
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
    return write_sum(loaded, loaded.addition, read_decimal(a), read_decimal(b))


def answer_add(result: "SumAnswer", request: Request) -> Answer:
    """The sum and its weakest digit; status 1 where it is wrong."""
    verdict = "right" if result.right else f"wrong, expected {result.expected}"
    weakest = min(result.digits, key=lambda digit: digit.margin)
    lines = [f"{result.a} + {result.b} = {result.got} ({verdict})"]
    if result.base != _SHOWN_BASE:
        lines.append(f"  in base {result.base}: {_format_in_base(result)}")
    where = f"at the digit '{weakest.label}' of {result.base}^{weakest.place}"
    lines.append(f"  smallest margin {result.margin:.4g}, {where}")
    return Answer(asdict(result), "\n".join(lines), 0 if result.right else 1)


def _format_in_base(result: "SumAnswer") -> str:
    """The numbers as the model reads and writes them: `35 + 55 = 123`."""
    from glassformer.models.adding import format_in_base

    got = result.got if isinstance(result.got, str) else format_in_base(result.got, result.base)
    return f"{format_in_base(result.a, result.base)} + {format_in_base(result.b, result.base)} = {got}"
