"""The text of a certificate's file as a tree, by rules that leave no two readings.

>>> _parse_certificate('{"a": 1, "a": 2}', "c.json")
Traceback (most recent call last):
glassformer.core.errors.UserError: c.json is no certificate: it says 'a' twice
>>> _parse_certificate('{"a": 1e999}', "c.json")
Traceback (most recent call last):
glassformer.core.errors.UserError: c.json is no certificate: it has a number 1e999, which is written inf
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError
from glassformer.core.text_files import decode_json, read_text

_MOST_BYTES = 32 * 2**20  # of a file; 3,440 classes have 0.4 MB
_MOST_VALUES = 2_000_000  # numbers, texts and lists in it
_LONGEST = 300  # characters of a number; a sum of two numbers of 200 digits has 201
_SHOWN = 60  # characters of what is refused


class _FormError(ValueError):
    """Why a text is refused, in words that end a sentence."""


def read_certificate_file(path: Path) -> Mapping[str, Any]:
    """The object in a file."""
    return _parse_certificate(read_text(path, _MOST_BYTES), str(path))


def _parse_certificate(text: str, where: str) -> Mapping[str, Any]:
    """The object that a text holds; keys are there once, and numbers in the form that Python writes."""
    if text.count(",") + text.count("[") + text.count("{") > _MOST_VALUES:
        raise UserError(f"{where} is no certificate: it has more than {_MOST_VALUES:,} values")
    try:
        tree = json.loads(
            text,
            parse_int=_read_integer,
            parse_float=_read_float,
            parse_constant=_refuse_constant,
            object_pairs_hook=_join_pairs,
        )
    except _FormError as error:
        raise UserError(f"{where} is no certificate: {error}") from None
    except (ValueError, RecursionError, MemoryError):
        decode_json(text, where)  # says why, in the words for all JSON files
        raise UserError(f"{where} is no certificate: it cannot be read") from None
    if not isinstance(tree, dict):
        raise UserError(f"{where} must hold a JSON object")
    return tree


def _read_integer(text: str) -> int:
    if len(text) > _LONGEST:
        raise _FormError(f"it has a number of {len(text):,} digits")
    if text == "-0":
        raise _FormError("it has the number -0")
    return int(text)


def _read_float(text: str) -> float:
    if len(text) > _LONGEST:
        raise _FormError(f"it has a number of {len(text):,} characters")
    value = float(text)
    if repr(value) != text:
        raise _FormError(f"it has a number {text[:_SHOWN]}, which is written {value!r}")
    if value == 0 and math.copysign(1.0, value) < 0:
        raise _FormError("it has the number -0.0")
    return value


def _refuse_constant(name: str) -> float:
    raise _FormError(f"it has a number that is not finite ({name})")


def _join_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _FormError(f"it says {twice[:_SHOWN]!r} twice")
    return found
