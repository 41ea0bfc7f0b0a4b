"""Fields of a tree that was read from a file, each of its type, or the one sentence that says which is not.

Every number has one form: a whole number is an `int` (not true, not 1e20), any other a finite `float` that is
not -0.0. A table has the fields that it should have, and no other.

>>> read_field({"rows": 3}, "rows", list)
Traceback (most recent call last):
glassformer.core.errors.UserError: rows of the certificate must be a list, but it is '3'
>>> require_known_fields({"a": 1, "c": 2}, ("a", "b"), "hardest")
Traceback (most recent call last):
glassformer.core.errors.UserError: hardest has a field 'c', which no certificate has
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from glassformer.core.errors import UserError

_KINDS: dict[type, str] = {dict: "a table", list: "a list", str: "a text", int: "a whole number"}
_SHOWN = 60  # characters of a value that does not fit
_LONGEST_TEXT = 400  # characters of a text that is no claim

Item = TypeVar("Item")


def require_known_fields(
    tree: object, names: Sequence[str], where: str, optional: Sequence[str] = ()
) -> Mapping[str, Any]:
    """A table that has all of these fields, perhaps the optional ones, and no other."""
    if not isinstance(tree, Mapping):
        raise UserError(f"{where} must be a table, but it is {str(tree)[:_SHOWN]!r}")
    for name in tree:
        if name not in names and name not in optional:
            raise UserError(f"{where} has a field {str(name)[:_SHOWN]!r}, which no certificate has")
    for name in names:
        if name not in tree:
            raise UserError(f"{where} has no field {name!r}")
    return tree


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
    """A finite number with a point or an exponent, and not -0.0: each has one way to be written."""
    if not isinstance(value, float) or not math.isfinite(value):
        shown = str(value)[:_SHOWN]
        raise UserError(f"{name} of the certificate must be a finite number such as 2.5, but it is {shown!r}")
    if value == 0 and math.copysign(1.0, value) < 0:
        raise UserError(f"{name} of the certificate is -0.0; zero is written 0.0")
    return value


def require_plain_text(value: object, name: str) -> str:
    """A short text without control characters: what the file says of itself, and no claim."""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not value.isprintable():
        raise UserError(
            f"{name} of the certificate must be a printable text of at most {_LONGEST_TEXT} characters, "
            f"but it is {str(value)[:_SHOWN]!r}"
        )
    return value


def require_canonical(tree: object, canonical: object, name: str) -> None:
    """What was read must be written just as it would be written again: no 7.0 for 7, nothing left out."""
    if format_canonical(tree) != format_canonical(canonical):
        raise UserError(f"{name} of the certificate is not in the form in which {name} is written")


def format_canonical(tree: object) -> str:
    """The one text of a tree: keys sorted, no spaces."""
    try:
        return json.dumps(tree, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise UserError("the certificate holds a number that is not finite") from None
    except RecursionError:
        raise UserError("the certificate is nested too deeply") from None


def read_number_or_null(tree: Mapping[str, object], key: str, is_needed: bool) -> float | None:
    """A number where one is needed, else null: there is nothing that it could say."""
    if is_needed:
        return require_finite_number(tree.get(key), key)
    if tree.get(key) is not None:
        raise UserError(f"{key} of the certificate must be null unless the verdict is proved")
    return None


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
