"""Tables in files that may be missing or damaged: a page shows what can be read and says what cannot."""

from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError
from glassformer.core.text_files import read_json, read_toml


def read_table(path: Path) -> tuple[dict[str, Any], str | None]:
    """The table in a JSON or TOML file, or an empty one and why."""
    if not path.exists():
        return {}, f"{path.name} cannot be read: No such file or directory"
    try:
        return (read_toml if path.suffix == ".toml" else read_json)(path), None
    except UserError:
        return {}, f"{path.name} is damaged"
