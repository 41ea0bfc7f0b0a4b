"""Points and arrows: clouds of tokens, single tokens, positions, rows of cells."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import MaxNLocator

from glassformer.core.theme import Theme, mix_colours, pick_text_colour, pick_token_colour
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.parts.frame import SMALL, Frame
from glassformer.pictures.parts.labels import Taken, place_labels
from glassformer.pictures.parts.matrices import shorten_ticks

_FAINT = 70.0  # over the number of a cloud's points: how strong the lines are that join them


def show_plane(axes: Axes, plane: Plane, limits: Float[np.ndarray, "2 2"], title: str = "") -> None:
    """Limits and names of the axes; call it before anything is labelled."""
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.set_xlabel(plane.labels[0])
    axes.set_ylabel(plane.labels[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(
            MaxNLocator(4, steps=[1, 2, 5, 10], integer=plane.is_line and axis is axes.yaxis)
        )
        shorten_ticks(axis)
    axes.yaxis.labelpad = 0.0
    axes.tick_params(axis="y", pad=1.0)
    if title:
        axes.set_title(title)


def draw_zero_lines(axes: Axes, theme: Theme) -> None:
    """The two zero lines."""
    axes.axhline(0, color=theme.faint, linewidth=0.6, zorder=0)
    axes.axvline(0, color=theme.faint, linewidth=0.6, zorder=0)


def draw_token_cloud(
    axes: Axes,
    points: Float[np.ndarray, "tok pos 2"],
    tokens: Sequence[str],
    theme: Theme,
    label: bool = True,
    marker: str = "o",
    size: float = 9.0,
    taken: Taken | None = None,
) -> None:
    """All token-position pairs: markers joined from p0 (large) to the last position, one label per token."""
    line = min(0.55, _FAINT / points[..., 0].size)
    for places, token in zip(points, tokens, strict=True):
        colour = pick_token_colour(token)
        axes.plot(*places.T, color=colour, linewidth=0.5, alpha=line, zorder=2)
        sizes = np.r_[size * 2.2, np.full(len(places) - 1, size)]
        axes.scatter(
            *places.T, s=sizes, color=colour, marker=marker, linewidths=0.3, edgecolors=theme.paper,
            zorder=3,
        )  # fmt: skip
    if label:
        colours = [make_readable_colour(pick_token_colour(token), theme) for token in tokens]
        place_labels(axes, points[:, 0], tokens, theme, colours, points.reshape(-1, 2), taken=taken)


def make_readable_colour(colour: str, theme: Theme) -> str:
    """A token's colour as the colour of a text: drawn nearly halfway to the ink, to be read on the paper."""
    return mix_colours(colour, theme.ink, 0.55)


def draw_ghost_points(
    axes: Axes, points: Float[np.ndarray, "*point 2"], theme: Theme, size: float = 3.0
) -> None:
    """The faint cloud behind what a figure is about."""
    axes.scatter(*points.reshape(-1, 2).T, s=size, color=theme.faint, linewidths=0, zorder=1)


def draw_token_dots(
    axes: Axes,
    points: Float[np.ndarray, "point 2"],
    tokens: Sequence[str],
    theme: Theme,
    texts: Sequence[str] | None = None,
    size: float = 26.0,
) -> None:
    """Single points in their tokens' colours, each with its text (its token where none is given)."""
    colours = [pick_token_colour(token) for token in tokens]
    axes.scatter(
        *np.asarray(points).T,
        s=size,
        c=colours,
        linewidths=0.6,
        edgecolors=theme.ink,
        zorder=5,
    )
    inks = [make_readable_colour(colour, theme) for colour in colours]
    place_labels(axes, points, tokens if texts is None else texts, theme, inks)


def draw_position_dots(
    axes: Axes,
    points: Float[np.ndarray, "point 2"],
    places: Sequence[str],
    theme: Theme,
) -> None:
    """The positions of a context, joined in their order; one name where all lie on one point."""
    if len(points) > 1 and not np.ptp(points, 0).any():
        points, places = points[:1], ("all positions",)
    axes.plot(*points.T, color=theme.muted, linewidth=0.5, alpha=min(1.0, 10 / len(points)), zorder=2)
    axes.scatter(*points.T, s=10, color=theme.ink, linewidths=0, zorder=3)
    place_labels(axes, points, places, theme, weight="normal")


def write_plane_note(paper: Frame, plane: Plane) -> None:
    """What a reader must know of a projection, at the foot of the sheet; nothing where there is none."""
    if plane.note:
        paper.write(0, paper.height - 0.25, plane.note, SMALL, color=paper.theme.muted)


def describe_slices(slices: Mapping[str, Mapping[str, Any]], hits: str) -> str:
    """What a reader must know of each slice, and what it is worth; empty where nothing is cut off.

    `hits` says of how many states the slice shows the right answer: `{} of 8 arrows end in ...`.
    """
    notes: list[str] = []
    for name, found in slices.items():
        plane: Plane = found["plane"]
        if len(plane.through) > 2:
            note = f"{plane.note[0].lower()}{plane.note[1:]}"
            notes.append(f"{name}: {note} {hits.format(found['agreeing'])}")
    return " ".join(notes)


def draw_data_arrow(
    axes: Axes, start: Float[np.ndarray, "2"], end: Float[np.ndarray, "2"], colour: str, width: float = 0.9,
    alpha: float = 1.0,
) -> None:  # fmt: skip
    """From one point of the data to another."""
    style = {"arrowstyle": "-|>,head_width=0.14,head_length=0.28", "color": colour, "lw": width}
    style |= {"shrinkA": 0, "shrinkB": 0, "alpha": alpha}
    axes.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=style, zorder=4, annotation_clip=False)


def draw_token_row(
    axes: Axes,
    tokens: Sequence[str],
    theme: Theme,
    edges: Sequence[str] | None = None,
    left: float = 0.0,
) -> None:
    """Tokens as cells side by side, cell i around x = left + i, in their colours; `edges`: frames."""
    for index, token in enumerate(tokens):
        place, colour = left + index, mix_colours(pick_token_colour(token), theme.paper, 0.55)
        edge = edges[index] if edges else theme.paper
        axes.add_patch(
            FancyBboxPatch(
                (place - 0.42, -0.42), 0.84, 0.84, boxstyle="round,pad=0,rounding_size=0.12",
                facecolor=colour, edgecolor=edge, linewidth=1.2 if edges else 0.0, zorder=2,
            )
        )  # fmt: skip
        axes.text(
            place, 0, token, ha="center", va="center_baseline", fontsize=SMALL + 0.5, weight="bold",
            color=pick_text_colour(colour), zorder=3,
        )  # fmt: skip
