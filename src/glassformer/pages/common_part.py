"""What every page has: the version that made it, and the colours of the figures.

>>> make_theme_colours("light")["on-accent"]
'#ffffff'
"""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from glassformer.core.theme import THEMES, pick_accent_text_colour

NAMES = ("light", "dark")


def make_common_part() -> dict[str, Any]:
    return {
        "version": version("glassformer"),
        "colours": {name: make_theme_colours(name) for name in NAMES},
    }


def make_theme_colours(name: str) -> dict[str, Any]:
    """The colours of a theme by their names in CSS (--paper, --ink, ...), and its name and tint."""
    theme = THEMES[name]
    return asdict(theme) | {"on-accent": pick_accent_text_colour(theme)}
