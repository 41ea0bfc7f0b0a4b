"""Values that both a shell and Python may give: two integers, a pair of numbers, settings with short names.

>>> read_pair("57+68"), read_pair((57, 68))
((57, 68), (57, 68))
>>> read_decimal("0057"), read_decimal("5e1")
(57, '5e1')
"""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from glassformer.core.errors import UserError, require_value, shorten_value
from glassformer.core.values import split_list

_LONGEST = 300  # digits: Python reads no number of any length
_SHORT = {  # parameters of run and sweep, and the settings that they stand for
    "seeds": "train.seeds",
    "seed": "train.first_seed",
    "steps": "train.steps",
    "mine": "train.mine",
    "device": "train.device",
    "threads": "train.threads",
}


def read_dims(value: str | Sequence[int] | None) -> tuple[int, int] | None:
    """`0,1` or (0, 1) as two dimensions."""
    if value is None:
        return None
    words = [str(word) for word in (split_list(value) if isinstance(value, str) else value)]
    if len(words) != 2 or not all(word.isdigit() for word in words):
        raise UserError(f"--dims must be two integers with a comma between them, as 0,1, but it is '{value}'")
    return int(words[0]), int(words[1])


def read_decimal(value: int | str) -> int | str:
    """A number, where a text has nothing but digits; anything else is refused later, as it is."""
    if not isinstance(value, str):
        return _convert_integer(value)
    digits = value.lstrip("0") or "0"
    is_plain = value.isascii() and value.isdigit() and len(digits) < _LONGEST
    return int(digits) if is_plain else value


def read_long_decimal(value: int | str) -> int | str:
    """The same for a number of up to a million digits, which Python's own reading refuses."""
    from glassformer.tasks.addition import MOST_DIGITS_AT_ALL, join_digits

    if not isinstance(value, str):
        return _convert_integer(value)
    if not (value.isascii() and value.isdigit()):
        return value
    if len(value) > MOST_DIGITS_AT_ALL:
        return value
    return join_digits([int(digit) for digit in reversed(value)], base=10)


def read_digits(value: int | None, most: int | None = None) -> int | None:
    """A number of digits as an integer of Python's own, whose powers have any length; None passes.

    >>> read_digits(12), read_digits(None)
    (12, None)
    """
    if value is None:
        return None
    digits = _convert_integer(value)
    fits = type(digits) is int and digits >= 1 and (most is None or digits <= most)
    require_value(fits, "--digits", "at least 1" if most is None else f"between 1 and {most}", value)
    return digits


def _convert_integer(value: int) -> int:
    """Python's own integer for one of NumPy; True, False and what is no integer stay, to be refused."""
    return operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else value


def read_pair(value: str | Sequence[int] | None) -> tuple[int, int] | None:
    """`57+68`, `57 68` or (57, 68) as two numbers; the task says later how large they may be."""
    if value is None:
        return None
    words = value.replace("+", " ").split() if isinstance(value, str) else [str(one) for one in value]
    numbers = [number for word in words if isinstance(number := read_decimal(word), int)]
    if len(words) != 2 or len(numbers) != 2:
        raise UserError(
            f"--pair must be two integers from 0 up, as 57+68, but it is {shorten_value(value, str)!r}"
        )
    return numbers[0], numbers[1]


def gather_settings(options: Mapping[str, Any] | None, **short: object) -> dict[str, Any]:
    """Dotted settings, and those that have a short name; the dotted ones win.

    >>> gather_settings({"train.batch": 64}, seeds=4, steps=None)
    {'train.seeds': 4, 'train.batch': 64}
    """
    return {_SHORT[name]: value for name, value in short.items() if value is not None} | dict(options or {})


def refuse_unused(given: Mapping[str, object], meant_for: str) -> None:
    """An option that would be ignored is refused; `given` is option to value."""
    for name, value in given.items():
        if value not in (None, False):
            raise UserError(f"--{name} is for {meant_for}")
