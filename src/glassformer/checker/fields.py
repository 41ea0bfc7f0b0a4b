"""Fields of a tree that was read from a file, each of its type, or the one sentence that says which is not.

>>> read_field({"rows": 3}, "rows", list)
Traceback (most recent call last):
glassformer.core.errors.UserError: rows of the certificate must be a list, but it is '3'
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from glassformer.core.errors import UserError

_KINDS: dict[type, str] = {dict: "a table", list: "a list", str: "a text", int: "a whole number"}
_SHOWN = 60  # characters of a value that does not fit

Item = TypeVar("Item")


def read_field(tree: object, key: str, kind: type[Item]) -> Item:
    """A field of the right type."""
    value = tree.get(key) if isinstance(tree, Mapping) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UserError(f"{key} of the certificate must be {_KINDS[kind]}, but it is {str(value)[:_SHOWN]!r}")
    return value


def read_integer_field(tree: object, key: str) -> int:
    return read_field(tree, key, int)


def require_integer(value: object, name: str) -> int:
    return read_field({name: value}, name, int)


def require_finite_number(value: object, name: str) -> float:
    """A finite number."""
    try:
        found = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise UserError(
            f"{name} of the certificate must be a finite number, but it is {str(value)[:_SHOWN]!r}"
        )
    return found


def read_optional_number(tree: Mapping[str, object], key: str, is_needed: bool) -> float | None:
    return None if tree.get(key) is None and not is_needed else require_finite_number(tree.get(key), key)


def require_number_list(value: object, name: str) -> tuple[float, ...]:
    return read_items(value, name, lambda item: require_finite_number(item, name))


def read_items(value: object, name: str, read: Callable[[Any], Item]) -> tuple[Item, ...]:
    return tuple(read(item) for item in read_field({name: value}, name, list))


def require_list(value: object, count: int, name: str) -> list[Any]:
    if not isinstance(value, list) or len(value) != count:
        raise UserError(f"{name} must be a list of {count}, but it is {str(value)[:_SHOWN]!r}")
    return value


def read_choice(tree: Mapping[str, object], key: str, choices: tuple[str, ...]) -> str:
    value = read_field(tree, key, str)
    if value not in choices:
        raise UserError(f"{key} of the certificate must be one of {', '.join(choices)}, but it is {value!r}")
    return value
