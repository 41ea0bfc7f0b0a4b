"""Fields of a tree that was read from a file, each of its type, or the one sentence that says which is not.

>>> part({"rows": 3}, "rows", list)
Traceback (most recent call last):
glassformer.errors.UserError: rows of the certificate must be a list, but it is '3'
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from glassformer.errors import UserError

KINDS: dict[type, str] = {dict: "a table", list: "a list", str: "a text", int: "a whole number"}
SHOWN = 60  # characters of a value that does not fit

Item = TypeVar("Item")


def part(tree: Any, key: str, kind: type[Item]) -> Item:
    """A field of the right type."""
    value = tree.get(key) if isinstance(tree, Mapping) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UserError(f"{key} of the certificate must be {KINDS[kind]}, but it is {str(value)[:SHOWN]!r}")
    return value


def whole(tree: Any, key: str) -> int:
    return part(tree, key, int)


def whole_of(value: Any, name: str) -> int:
    return part({name: value}, name, int)


def number(value: Any, name: str) -> float:
    """A finite number."""
    try:
        found = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise UserError(
            f"{name} of the certificate must be a finite number, but it is {str(value)[:SHOWN]!r}"
        )
    return found


def number_or_none(tree: Mapping[str, Any], key: str, is_needed: bool) -> float | None:
    return None if tree.get(key) is None and not is_needed else number(tree.get(key), key)


def numbers(value: Any, name: str) -> tuple[float, ...]:
    return many(value, name, lambda item: number(item, name))


def many(value: Any, name: str, read: Callable[[Any], Item]) -> tuple[Item, ...]:
    return tuple(read(item) for item in part({name: value}, name, list))


def listed(value: Any, count: int, name: str) -> list[Any]:
    if not isinstance(value, list) or len(value) != count:
        raise UserError(f"{name} must be a list of {count}, but it is {str(value)[:SHOWN]!r}")
    return value


def one_of(tree: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    value = part(tree, key, str)
    if value not in choices:
        raise UserError(f"{key} of the certificate must be one of {', '.join(choices)}, but it is {value!r}")
    return value
