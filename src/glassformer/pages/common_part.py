"""What every page has: the version that made it, and the colours of the figures."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from glassformer.core.theme import THEMES

NAMES = ("light", "dark")


def make_common_part() -> dict[str, Any]:
    return {
        "version": version("glassformer"),
        "colours": {name: asdict(THEMES[name]) for name in NAMES},
    }
