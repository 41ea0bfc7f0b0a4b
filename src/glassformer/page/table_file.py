"""Tables in files that may be missing or damaged: a page shows what can be read, and says what cannot."""

import json
import tomllib
from pathlib import Path
from typing import Any


def read_table(path: Path) -> tuple[dict[str, Any], str | None]:
    """The table in a JSON or TOML file, or an empty one and why."""
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        return (content, None) if isinstance(content, dict) else ({}, f"{path.name} is damaged")
    except OSError as error:
        return {}, f"{path.name} cannot be read: {error.strerror or error}"
    except (ValueError, RecursionError):
        return {}, f"{path.name} is damaged"
