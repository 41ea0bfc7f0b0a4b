"""What panels share: colours of stages and of positions, a canvas in centimetres, cells, numbers that fit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.image import AxesImage
from matplotlib.patches import Circle, FancyBboxPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from glassformer.core.theme import Theme, mix_colours, pick_text_colour, pick_token_colour
from glassformer.core.words import format_scientific, format_trimmed
from glassformer.pictures.parts.frame import Frame, make_theme_settings, measure_text_width

SIZE = 7.0  # points; nothing in a panel is smaller
LARGER = 8.0
CONTENT = 9.3  # cm: height of a panel below its title
STAGES = ("digits", "places", "norms", "attention", "feed-forward", "head")


def make_panel_look(theme: Theme) -> dict[str, Any]:
    """Matplotlib's settings for panels: as for figures, but nothing below SIZE."""
    sizes = ("xtick.labelsize", "ytick.labelsize", "axes.labelsize", "legend.fontsize")
    return make_theme_settings(theme) | dict.fromkeys(sizes, SIZE)


def find_parameter_stage(parameter: str) -> str:
    """What a stored array is for, by its name; what is none of the others belongs to the head.

    >>> [find_parameter_stage(name) for name in ("layer0.attn.q.bias", "attn_norm.gain", "token.c0")]
    ['attention', 'norms', 'digits']
    """
    first = next(part for part in parameter.split(".") if not part.startswith("layer"))
    if "norm" in first:
        return "norms"
    return {"token": "digits", "position": "places", "attn": "attention", "ff": "feed-forward"}.get(
        first, "head"
    )


def choose_stage_colour(stage: str, theme: Theme) -> str:
    colours = {
        "digits": theme.good,
        "places": mix_colours(theme.accent, theme.bad, 0.55),
        "norms": theme.muted,
        "attention": theme.accent,
        "feed-forward": theme.negative,
        "head": mix_colours(theme.good, theme.ink, 0.55),
    }
    return colours[stage]


def choose_position_colour(label: str, theme: Theme) -> str:
    """Of a position by what stands there: first number, second number, answer, sign."""
    colours = {"x": theme.accent, "y": theme.negative, "z": theme.good}
    return colours.get(label[:1], theme.muted) if label[1:2].isdigit() or label[1:2] == " " else theme.muted


def is_end_digit(label: str, labels: tuple[str, ...], place: int) -> bool:
    """First and last digits of the numbers.

    >>> labels = ("<", "x0", "x1", "x2", "<")
    >>> [is_end_digit(label, labels, place) for place, label in enumerate(labels)]
    [False, True, False, True, False]
    """
    beside = [labels[other][:1] for other in (place - 1, place + 1) if 0 <= other < len(labels)]
    return label[1:].isdigit() and (len(beside) < 2 or any(letter != label[0] for letter in beside))


def add_canvas(frame: Frame, x: float, y: float, width: float, height: float) -> Axes:
    """Axes without any frame, whose data are centimetres from the top left."""
    axes = frame.axes(x, y, width, height)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    return axes


def write_centred_text(
    axes: Axes, x: float, y: float, text: str, size: float = SIZE, **settings: object
) -> None:
    """A text in the middle of a point, unless told otherwise."""
    axes.text(x, y, text, fontsize=size, **({"ha": "center", "va": "center_baseline"} | settings))


def draw_round_box(
    axes: Axes, x: float, y: float, width: float, height: float, face: str, edge: str = "none",
    radius: float = 0.12, line: float = 0.8, zorder: float = 2,
) -> None:  # fmt: skip
    """A rectangle with round corners; x, y is its top left."""
    style = f"round,pad=0,rounding_size={min(radius, width / 2, height / 2)}"
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle=style,
            facecolor=face,
            edgecolor=edge,
            linewidth=line,
            zorder=zorder,
        )
    )


def draw_token_cell(
    axes: Axes, x: float, y: float, width: float, height: float, text: str, theme: Theme,
    edge: str = "none", size: float = SIZE + 0.5, strength: float = 0.55,
) -> None:  # fmt: skip
    """A token in its colour; x, y is the middle."""
    face = mix_colours(pick_token_colour(text), theme.paper, strength)
    draw_round_box(axes, x - width / 2, y - height / 2, width, height, face, edge, 0.08, 1.3)
    while size > SIZE and measure_text_width(text, size, "bold") > width - 0.04:
        size -= 0.5
    write_centred_text(
        axes,
        x,
        y,
        cut_text(text, width + 0.06, size),
        size,
        weight="bold",
        color=pick_text_colour(face),
        zorder=3,
    )


def draw_badge(axes: Axes, x: float, y: float, radius: float, text: str, colour: str, size: float) -> None:
    """A number in a disc."""
    axes.add_patch(Circle((x, y), radius, facecolor=colour, edgecolor="none", zorder=3))
    write_centred_text(axes, x, y, text, size, weight="bold", color=pick_text_colour(colour), zorder=4)


def cut_text(text: str, width: float, size: float = SIZE, weight: str = "normal") -> str:
    """The text, cut short where it is wider than `width` cm."""
    if measure_text_width(text, size, weight) <= width:
        return text
    while text and measure_text_width(f"{text}…", size, weight) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def open_axes(axes: Axes) -> None:
    """No frame but the lower and the left one."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def set_few_ticks(axis: Axis, most: int = 5) -> None:
    """Few ticks, written as all numbers of the panels are."""
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _format_tick(value)))


def _format_tick(value: float) -> str:
    """A number beside an axis, in at most five characters that matter.

    >>> _format_tick(5000.0), _format_tick(-20000.0), _format_tick(0.0)
    ('5000', '\u22122·10⁴', '0')
    """
    return format_trimmed(value) if abs(value) < 1e4 else format_scientific(value, 2).replace(".0", "")


def write_paragraph(frame: Frame, x: float, y: float, width: float, lines: Sequence[str]) -> None:
    """Sentences one below the other, each as wide as told."""
    for line in lines:
        y += frame.write(x, y, line, SIZE, 0.96 * width, color=frame.theme.muted) + 0.1


def write_numbers(
    axes: Axes, image: AxesImage, table: np.ndarray, text: Callable[[float], str], size: float = SIZE
) -> None:
    """The numbers of a matrix in its cells; nan is left blank."""
    for (row, column), value in np.ndenumerate(table):
        if np.isfinite(value):
            red, green, blue, _ = image.to_rgba(value, bytes=True)
            ink = pick_text_colour(f"#{red:02x}{green:02x}{blue:02x}")
            axes.text(column, row, text(value), ha="center", va="center_baseline", fontsize=size, color=ink)


def format_fitting_number(value: float, wide: float, size: float) -> str:
    """As many digits as fit."""
    most = 9 if size >= 15 else 4 if size > 9 else 3
    plain = [format_trimmed(value, digits) for digits in range(most, 1, -1)]
    exact = [
        text for text in plain if measure_text_width(text, size) <= wide - max(0.1, 0.14 * wide * (size > 9))
    ]
    return exact[0] if exact else cut_text(format_scientific(value) if value else "0", wide - 0.02, size)


def format_cell_token(token: str) -> str:
    """A token in a cell: the marks of beginning and end have signs of their own."""
    return {"<bos>": "⊢", "<eos>": "⊣"}.get(token, token)
