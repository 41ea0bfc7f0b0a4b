"""What every page says of itself: who made it, and its colours, which are those of the figures."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from glassformer.draw.theme import THEMES

NAMES = ("light", "dark")


def common_part() -> dict[str, Any]:
    return {
        "version": version("glassformer"),
        "colours": {name: asdict(THEMES[name]) for name in NAMES},
    }
