"""Values that both a shell and Python may give: two integers, a pair of numbers, settings with short names.

>>> read_pair("57+68"), read_pair((57, 68))
((57, 68), (57, 68))
"""

from collections.abc import Mapping, Sequence
from typing import Any

from glassformer.core.errors import UserError
from glassformer.core.values import split_list

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


def read_pair(value: str | Sequence[int] | None, digits: int = 10) -> tuple[int, int] | None:
    """`57+68`, `57 68` or (57, 68) as two numbers."""
    from glassformer.models.adding import require_summand

    if value is None:
        return None
    words = value.replace("+", " ").split() if isinstance(value, str) else [str(one) for one in value]
    if len(words) != 2 or not all(word.isdigit() for word in words):
        raise UserError(f"--pair must be two integers from 0 up, as 57+68, but it is '{value}'")
    return require_summand("A", int(words[0]), digits), require_summand("B", int(words[1]), digits)


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
