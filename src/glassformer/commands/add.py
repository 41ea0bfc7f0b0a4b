"""`glassformer add`: one sum, digit by digit, with the margin of each digit."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.commands.values import read_decimal, read_digits, read_long_decimal
from glassformer.core.answer import Answer, Request
from glassformer.core.errors import require_value
from glassformer.core.waiting import show_count_bar
from glassformer.core.words import allow_long_numbers, shorten_number

if TYPE_CHECKING:
    from glassformer.models.adding import SumAnswer
    from glassformer.tasks import Operation

_LONG = 500  # digits from which on a bar is worth its line
_SHOWN_BASE = 10  # in which numbers are typed and shown


def add(
    target: str | Path,
    a: int | str,
    b: int | str,
    *,
    digits: int | None = None,
    model: str | None = None,
    show: bool = False,
) -> "SumAnswer":
    """Ask an adder for a sum (or what it was made for); numbers are typed in base ten, whatever its base.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        a (A): a non-negative integer with as many digits as the adder has, at most; any-8 takes any length
        b (B): the same; of a model that multiplies by one digit, that digit
        digits (N): digits that both numbers are written with (default: the adder's own number, or as many as
            the longer one has where the adder takes any length); hand-6 and others are computed for N digits
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer add any-8 99999999999999999999999999999 1
        glassformer add nanogpt-58 5388742030 746297626
        glassformer add runs/glass-39 57 68 --json

    Exit status: 0 the sum is right, 1 it is wrong, 2 bad input

    >>> add("glass-8", 57, 68).got
    125
    """
    from glassformer.models.adding import choose_sum_digits, write_sum
    from glassformer.models.lengths import is_any_length
    from glassformer.runs.load import load_model

    digits = read_digits(digits)
    loaded = load_model(target, model)
    takes_any = is_any_length(loaded.architecture, loaded.task)
    first, second = _read_any_pair(a, b) if takes_any else map(read_decimal, (a, b))
    longest = max((len(one) for one in (a, b) if isinstance(one, str)), default=0)
    with show_count_bar(longest, show and longest > _LONG, "digits") as tell:
        adder = loaded.with_digits(digits or choose_sum_digits(loaded, loaded.addition, first, second))
        second = _read_second(loaded.addition.does, second)
        return write_sum(adder, adder.addition, first, second, tell=tell)


def _read_second(does: "Operation", second: int | str) -> int | str:
    """The second number; a factor must be the one that the model knows, and no token is written for it."""
    if does.has_second:
        return second
    require_value(second == does.first, "b", f"{does.first}, since this model {does.ability}", second)
    return 0


def _read_any_pair(a: int | str, b: int | str) -> tuple[int | str, int | str]:
    """For an adder that takes every length: there is no largest number, but a longest one."""
    from glassformer.tasks.addition import MOST_DIGITS_AT_ALL

    pair = read_long_decimal(a), read_long_decimal(b)
    expected = f"an integer from 0 up with at most {MOST_DIGITS_AT_ALL:,} digits"
    for name, number in zip("ab", pair, strict=True):
        require_value(type(number) is int and number >= 0, name, expected, number)
    return pair


def answer_add(result: "SumAnswer", request: Request) -> Answer:
    """The sum and its weakest digit; status 1 where it is wrong."""
    allow_long_numbers()
    verdict = "right" if result.right else f"wrong, expected {shorten_number(result.expected)}"
    weakest = min(result.digits, key=lambda digit: digit.margin)
    problem = result.does.write(shorten_number(result.a), shorten_number(result.b))
    lines = [f"{problem} = {shorten_number(result.got)} ({verdict})"]
    if result.does.second < 0 and result.a < result.b:
        below = shorten_number(result.a - result.b)
        expected, modulus = shorten_number(result.expected), f"{result.base}^{len(result.digits)}"
        lines.append(f"  {expected} is {below} modulo {modulus}: how a number below 0 is written")
    if result.base != _SHOWN_BASE:
        lines.append(f"  in base {result.base}: {_format_in_base(result)}")
    where = f"at the digit '{weakest.label}' of {result.base}^{weakest.place}"
    lines.append(f"  smallest margin {result.margin:.4g}, {where}")
    return Answer(asdict(result), "\n".join(lines), 0 if result.right else 1)


def _format_in_base(result: "SumAnswer") -> str:
    """The numbers as the model reads and writes them: `35 + 55 = 123`."""
    from glassformer.models.adding import format_in_base

    got = result.got if isinstance(result.got, str) else format_in_base(result.got, result.base)
    numbers = (format_in_base(number, result.base) for number in (result.a, result.b))
    return f"{result.does.write(*numbers)} = {got}"
