"""Trees as JSON and TOML, with values in them that neither has: `Raw` text is written as it stands."""

import json
import math
from typing import Any

from fuzz.mutate.values import Raw


def write_json(tree: Any) -> bytes:
    """
    >>> write_json({"a": [1, Raw("1e999")]})
    b'{"a": [1, 1e999]}'
    """
    raws: list[Raw] = []

    def marked(value: Any) -> Any:
        if isinstance(value, Raw):
            raws.append(value)
            return f"\x01{len(raws) - 1}\x01"
        if isinstance(value, dict):
            return {str(key): marked(one) for key, one in value.items()}
        return [marked(one) for one in value] if isinstance(value, list | tuple) else value

    text = json.dumps(marked(tree))
    for number, raw in enumerate(raws):
        text = text.replace(f'"\\u0001{number}\\u0001"', raw)
    return text.encode("utf-8", "surrogatepass")


def write_toml(tree: Any) -> bytes:
    """Every top key on a line of its own, all below it inline.

    >>> write_toml({"name": "a", "train": {"steps": 3, "rates": [0.5, math.inf]}})
    b'"name" = "a"\\n"train" = {"steps" = 3, "rates" = [0.5, inf]}\\n'
    """
    if not isinstance(tree, dict):
        return toml_value(tree).encode("utf-8", "surrogatepass")
    lines = [f"{toml_text(str(key))} = {toml_value(value)}\n" for key, value in tree.items()]
    return "".join(lines).encode("utf-8", "surrogatepass")


def toml_value(value: Any) -> str:
    if isinstance(value, Raw):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{toml_text(str(key))} = {toml_value(one)}" for key, one in value.items()) + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return str(value) if isinstance(value, int) else toml_text("none" if value is None else str(value))


def toml_text(text: str) -> str:
    """A basic string; what JSON escapes TOML does too, but for a lone surrogate, which goes out as bytes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
