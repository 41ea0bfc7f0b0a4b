"""Colours: the same for the same token everywhere, and told apart by eyes that lack one kind of cone."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from glassformer.core import theme as theme_module
from glassformer.core.theme import (
    INTEGERS,
    SIGN,
    THEMES,
    compute_luminance,
    name_colour,
    pick_accent_text_colour,
    pick_token_colour,
    scale_token_colours,
    split_channels,
)

SOURCE = Path(__file__).parents[2] / "src" / "glassformer"
# A colour written as such; `white-space` is none, and `to_rgba(` neither.
COLOUR = re.compile(
    r"#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})\b|\b(?:rgba?|hsla?|hwb|oklch|oklab)\([^)]*\)?"
    r"|(?<![-\w])(?:red|green|blue|orange|brown|yellow|purple|violet|pink|cyan|teal|turquoise|magenta|gr[ea]y"
    r"|black|white)(?![-\w])",
    re.I,
)
# File and colour: why it may stand outside core/theme.py.
EXCEPTIONS = {
    ("pages/assets/colour.js", "#000000"): "inkOn is Python's pick_text_colour once more",
    ("pages/assets/colour.js", "#ffffff"): "inkOn is Python's pick_text_colour once more",
    ("pages/assets/style.css", "rgb(0 0 0 / 12%)"): "a shadow",
    ("pages/assets/style.css", "rgb(0 0 0 / 16%)"): "a shadow",
    ("pages/assets/style.css", "rgb(0 0 0 / 18%)"): "a shadow",
    ("pages/assets/style.css", "rgb(0 0 0 / 35%)"): "what is behind a dialogue, in shadow",
}

# How colours look without one kind of cone: Machado, Oliveira and Fernandes (2009), severity 1, linear RGB.
VISION = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}


def oklab(colour, vision):
    share = np.array(split_channels(colour)) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    linear = np.clip(VISION[vision] @ linear, 0, 1)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    turn = np.array(
        [
            [0.2104542553, 0.793617785, -0.0040720468],
            [1.9779984951, -2.428592205, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.808675766],
        ]
    )
    return turn @ np.cbrt(cones @ linear)


@pytest.mark.parametrize(
    ("vision", "tens", "all_of_them"),
    [
        ("full", 0.09, 0.07),
        ("protanopia", 0.07, 0.04),
        ("deuteranopia", 0.07, 0.04),
        ("tritanopia", 0.06, 0.03),
    ],
)
def test_tokens_are_told_apart(vision, tens, all_of_them):
    """In OKLab 0.02 is a just noticeable difference."""

    def nearest(colours):
        return min(np.linalg.norm(oklab(a, vision) - oklab(b, vision)) for a, b in combinations(colours, 2))

    assert nearest([*INTEGERS[:11], SIGN]) > tens
    assert nearest([*INTEGERS, SIGN]) > all_of_them


def test_even_is_cool_and_odd_is_warm():
    for value, colour in enumerate(INTEGERS):
        red, _, blue = split_channels(colour)
        assert (blue > red) == (value % 2 == 0), colour


def test_integers_have_their_own_colours_and_signs_are_grey():
    assert len(set(INTEGERS)) == len(INTEGERS) == 21
    assert [pick_token_colour(str(value)) for value in range(21)] == list(INTEGERS)
    assert pick_token_colour("+") == pick_token_colour("=") == pick_token_colour("<bos>") == SIGN


@pytest.mark.parametrize("name", THEMES)
def test_texts_have_contrast(name):
    """WCAG AA asks for 4.5 to 1."""
    theme = THEMES[name]
    for colour in (theme.ink, theme.muted, theme.good, theme.bad, theme.accent):
        assert contrast(colour, theme.paper) >= 4.5, colour


def contrast(one, other):
    light, dark = sorted((compute_luminance(one), compute_luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("accent", [None, "#ffd84a", "#3b0a5c"])
def test_text_on_the_accent_has_contrast_whatever_the_accent(name, accent):
    theme = replace(THEMES[name], accent=accent or THEMES[name].accent)
    assert contrast(pick_accent_text_colour(theme), theme.accent) >= 4.5


def test_every_named_colour_has_one_name_in_all_themes():
    """A caption is written once; with two names it would say "grey or black"."""
    for colour in get_args(theme_module._Named):
        assert " " not in name_colour(colour), colour


def test_a_changed_colour_changes_its_name(monkeypatch):
    changed = {name: replace(theme, accent="#7b1fa2") for name, theme in THEMES.items()}
    monkeypatch.setattr(theme_module, "THEMES", changed)
    assert name_colour("accent") == "violet"
    monkeypatch.setattr(theme_module, "THEMES", changed | {"dark": THEMES["dark"]})
    assert name_colour("accent") == "violet or blue"


def test_no_colour_stands_outside_the_theme():
    found = set()
    for package in ("pictures", "lens", "pages"):
        for path in sorted((SOURCE / package).rglob("*.*")):
            name = path.relative_to(SOURCE).as_posix()
            found |= {(name, one) for text in list_texts(path) for one in COLOUR.findall(text)}
    assert sorted(found) == sorted(EXCEPTIONS)


def list_texts(path: Path) -> Iterator[str]:
    """What a file may show: strings of Python that are no docstrings, styles and scripts without comments."""
    if path.suffix == ".py":
        yield from list_strings(ast.parse(path.read_text(encoding="utf-8")))
    elif path.suffix in (".css", ".js", ".html"):
        whole = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        yield re.sub(r"(?m)(^|\s)//.*$", "", whole)


def list_strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            is_alone = isinstance(node, ast.Expr)  # a docstring
            if isinstance(child, ast.Constant) and isinstance(child.value, str) and not is_alone:
                yield child.value


def test_many_integers_are_on_a_scale():
    few, many = ([str(number) for number in range(count)] for count in (len(INTEGERS), 64))
    with scale_token_colours(few):
        assert pick_token_colour("3") == INTEGERS[3]
    with scale_token_colours(many):
        assert len({pick_token_colour(token) for token in many}) == 64
    assert pick_token_colour("3") == INTEGERS[3]
