"""One look: colours and sizes of every figure, video and page. Plain data, for the page too.

Even numbers are cool and odd ones warm, so that a rule about parity is seen before it is read:

>>> pick_token_colour("4") == pick_token_colour("4"), pick_token_colour("4") == pick_token_colour("5")
(True, False)

A caption calls a colour by the name of its hue, so that it changes with the colour:

>>> name_colour("accent"), name_colour("good")
('blue', 'green')
"""

from collections.abc import Iterator, Sequence
from colorsys import rgb_to_hsv
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from glassformer.core.errors import make_unknown_error

_Name = Literal["light", "dark", "print"]

# Found by annealing the smallest OKLab distance of two tokens, as seen with full colour vision and without
# one of the three cones; evens at hues of 165 to 288 degrees, odds at -8 to 108 (docs/pictures.md).
INTEGERS = (
    "#3c689e",
    "#b36113",
    "#6e62fb",
    "#e9ca03",
    "#5d9fd0",
    "#8a3961",
    "#5624c1",
    "#ac0000",
    "#21c3ae",
    "#cf955e",
    "#04e4f9",
    "#6c4a31",
    "#96dabc",
    "#ff9401",
    "#9293ff",
    "#875e4c",
    "#6c56c9",
    "#b68501",
    "#30c7fe",
    "#c7bd74",
    "#2686d4",
)  # fmt: skip
KINDS = (0, 1, 5, 8, 2, 7, 9, 20)  # of these, those that are told apart as lines
_SCALE = (
    "#440154",
    "#3b528b",
    "#21918c",
    "#5ec962",
    "#fde725",
)  # viridis, for more integers than INTEGERS has
SIGN = "#858b93"  # `+`, `=` and every token that is no integer: grey, as none of the others is

_Named = Literal["muted", "faint", "good", "bad", "accent", "negative", "positive"]  # by captions
_HUES = {  # degrees up to which a hue has a name
    15: "red",
    45: "orange",
    70: "yellow",
    170: "green",
    195: "turquoise",
    255: "blue",
    290: "violet",
    345: "pink",
    360: "red",
}
_GREY = 0.12  # difference of the largest and the smallest channel up to which no hue is seen

_DIGITS = {letter: str(value) for value, letter in enumerate("abcdef", 10)}  # beyond nine, in larger bases
_HIGHEST: ContextVar[int] = ContextVar("_HIGHEST", default=0)  # the largest integer of the scale; 0: no scale


@dataclass(frozen=True)
class Theme:
    """The colours of a page; token colours are the same in all themes."""

    name: str
    paper: str  # behind everything
    ink: str  # text, points that matter
    muted: str  # second-rank text
    faint: str  # grid lines, frames, the cloud behind
    wash: str  # of a page: behind its cards
    line: str  # of a page: around its cards, between the rows of its tables
    edge: str  # of a page: around buttons and fields
    good: str
    bad: str
    accent: str  # the chosen seed, the cursor
    negative: str  # ends of the map of signed numbers; its middle, zero, is `zero`
    zero: str
    positive: str
    high: str  # the end of the map of shares and entropies, which begins at `zero`
    tint: float  # how much of a token's colour its region of a landscape has


THEMES: dict[str, Theme] = {
    theme.name: theme
    for theme in (
        Theme(
            name="light",
            paper="#ffffff",
            ink="#1f2328",
            muted="#59626d",
            faint="#d5dae0",
            wash="#f7f8f9",
            line="#e3e7eb",
            edge="#808994",
            good="#1a7f64",
            bad="#c2351f",
            accent="#0b62a8",
            negative="#a8501e",
            zero="#f6f7f8",
            positive="#14639c",
            high="#1f4e79",
            tint=0.42,
        ),
        Theme(
            name="dark",
            paper="#14181d",
            ink="#eceff3",
            muted="#a9b3bf",
            faint="#39424d",
            wash="#0e1115",
            line="#2a323b",
            edge="#76818d",
            good="#4cc2a0",
            bad="#ff7a63",
            accent="#6db7f2",
            negative="#e08a4f",
            zero="#1e242b",
            positive="#58a6e6",
            high="#8cc4f5",
            tint=0.38,
        ),
        Theme(
            name="print",
            paper="#ffffff",
            ink="#000000",
            muted="#333333",
            faint="#bfbfbf",
            wash="#ffffff",
            line="#cccccc",
            edge="#808080",
            good="#00553f",
            bad="#9c1500",
            accent="#003f73",
            negative="#b35806",
            zero="#ffffff",
            positive="#08519c",
            high="#262626",
            tint=0.34,
        ),
    )
}


def find_theme(name: str) -> Theme:
    """The theme of that name."""
    if name not in THEMES:
        raise make_unknown_error("theme", name, THEMES)
    return THEMES[name]


def name_colour(colour: _Named) -> str:
    """The word for a colour of the themes: "blue"; "blue or violet" where they differ.

    A caption is the same in all themes.
    """
    words = (_name_hue(getattr(theme, colour)) for theme in THEMES.values())
    return " or ".join(dict.fromkeys(words))


def _name_hue(colour: str) -> str:
    """The word for a colour.

    >>> _name_hue("#0b62a8"), _name_hue("#bfbfbf"), _name_hue("#ffffff")
    ('blue', 'grey', 'white')
    """
    red, green, blue = (channel / 255 for channel in split_channels(colour))
    low, high = min(red, green, blue), max(red, green, blue)
    if high - low <= _GREY:
        return "black" if high < 0.18 else "white" if low > 0.9 else "grey"
    hue = 360 * rgb_to_hsv(red, green, blue)[0]
    return next(word for degrees, word in _HUES.items() if hue <= degrees)


def pick_token_colour(label: str) -> str:
    """The one colour of a token, in every figure: an integer's by its value, grey for a sign.

    >>> pick_token_colour("f") == pick_token_colour("15") != pick_token_colour("x")
    True
    """
    value = _DIGITS.get(label, label)
    if not value.lstrip("-").isdigit():
        return SIGN
    highest = _HIGHEST.get()
    return _pick_scale_colour(int(value) / highest) if highest else INTEGERS[int(value) % len(INTEGERS)]


@contextmanager
def scale_token_colours(tokens: Sequence[str]) -> Iterator[None]:
    """While it is open, more integers than the palette has are on a scale, from the smallest to the largest.

    >>> with scale_token_colours([str(number) for number in range(64)]):
    ...     pick_token_colour("0"), pick_token_colour("63"), pick_token_colour("=") == SIGN
    ('#440154', '#fde725', True)
    """
    numbers = [int(token) for token in tokens if token.isdigit()]
    highest = max(numbers, default=0)
    set_before = _HIGHEST.set(highest if highest >= len(INTEGERS) else 0)
    try:
        yield
    finally:
        _HIGHEST.reset(set_before)


def _pick_scale_colour(share: float) -> str:
    """From 0 to 1 along _SCALE.

    >>> _pick_scale_colour(0.5)
    '#21918c'
    """
    place = min(max(share, 0.0), 1.0) * (len(_SCALE) - 1)
    before = min(int(place), len(_SCALE) - 2)
    return mix_colours(_SCALE[before + 1], _SCALE[before], place - before)


def list_line_colours(count: int, theme: Theme) -> list[str]:
    """A colour for each of some lines."""
    return [mix_colours(INTEGERS[KINDS[index % len(KINDS)]], theme.ink, 0.82) for index in range(count)]


def mix_colours(colour: str, other: str, share: float) -> str:
    """`share` of a colour in another.

    >>> mix_colours("#ff0000", "#0000ff", 0.5)
    '#800080'
    """
    pairs = zip(split_channels(colour), split_channels(other), strict=True)
    return "#" + "".join(f"{round(share * one + (1 - share) * two):02x}" for one, two in pairs)


def split_channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def pick_text_colour(colour: str) -> str:
    """Black or white, whichever has more contrast (WCAG) on a colour.

    >>> pick_text_colour("#ffffff"), pick_text_colour("#14639c")
    ('#000000', '#ffffff')
    """
    return "#000000" if compute_luminance(colour) > 0.179 else "#ffffff"


def pick_accent_text_colour(theme: Theme) -> str:
    """For text on the accent: the theme's own darkest or lightest, where black or white has more contrast."""
    pick = min if pick_text_colour(theme.accent) == "#000000" else max
    return pick((theme.paper, theme.wash, theme.ink), key=compute_luminance)


def compute_luminance(colour: str) -> float:
    """WCAG's relative luminance, 0 (black) to 1 (white)."""
    shares = [channel / 255 for channel in split_channels(colour)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
