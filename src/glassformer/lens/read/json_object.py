"""JSON out of files that nobody has checked: an object of bounded depth, or one sentence.

>>> parse_json_object(b'{"a": [1, 2]}', "config.json")
{'a': [1, 2]}
>>> parse_json_object(b'{"a": 1, "a": 2}', "model.safetensors", unique=True)
Traceback (most recent call last):
glassformer.core.errors.UserError: model.safetensors names 'a' twice
"""

import json
from typing import Any

from glassformer.core.errors import UserError
from glassformer.lens.read.quoted import quote_name

_DEEPEST = 32  # a configuration with nested ones needs about six


def parse_json_object(text: bytes, place: str, unique: bool = False) -> dict[str, Any]:
    """The object that the text is; with `unique`, a name that comes twice is an error."""
    hook = (lambda pairs: _require_unique_names(pairs, place)) if unique else None
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=hook)
    except UnicodeDecodeError:
        raise UserError(f"{place} is not valid JSON: it is not UTF-8 text") from None
    except RecursionError:
        raise UserError(f"{place} is nested too deeply; at most {_DEEPEST} levels are expected") from None
    except ValueError as error:
        raise UserError(f"{place} is not valid JSON: {str(error)[:100]}") from None
    if not isinstance(value, dict):
        raise UserError(f"{place} must be a JSON object, but it is a {type(value).__name__}")
    _refuse_deep_nesting(value, place)
    return value


def _require_unique_names(pairs: list[tuple[str, object]], place: str) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise UserError(f"{place} names {quote_name(twice)} twice")
    return found


def _refuse_deep_nesting(value: object, place: str) -> None:
    level = [value]
    for _ in range(_DEEPEST):
        containers = [one for one in level if isinstance(one, dict | list)]
        if not containers:
            return
        level = [inner for one in containers for inner in (one.values() if isinstance(one, dict) else one)]
    raise UserError(f"{place} is nested too deeply; at most {_DEEPEST} levels are expected")
