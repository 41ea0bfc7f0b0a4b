"""The small pictures of the five steps: states, entropies, attention by distance, answers by demand."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from glassformer.draw.parts.frame import BODY, SMALL, Frame
from glassformer.draw.parts.labels import place_labels
from glassformer.draw.parts.marks import readable
from glassformer.draw.parts.matrices import matrix
from glassformer.draw.picture import Data
from glassformer.draw.theme import token_colour


def draw_states(frame: Frame, picture: Data, tokens: Sequence[str]) -> None:
    """Points in their tokens' colours, one label a kind."""
    side = frame.height
    axes = frame.axes(frame.width - side, 0, side, side)
    points, kind = picture["points"], picture["kind"]
    group: np.ndarray = picture.get("group", kind)  # type: ignore[assignment]
    axes.set(
        xlim=picture["plane"].limits(points)[0], ylim=picture["plane"].limits(points)[1], xticks=[], yticks=[]
    )
    axes.scatter(*points.T, s=5, c=[token_colour(tokens[one]) for one in kind], linewidths=0, zorder=3)
    name = picture["plane"].labels[0].split(",")[0].split("[")[0]
    frame.write(frame.width - side - 0.15, 0.05, name, BODY, ha="right", color=frame.theme.muted)
    given = np.unique(group)
    names = picture.get("names", tokens)
    middles = np.array([points[group == one].mean(0) for one in given])
    inks = [readable(token_colour(tokens[kind[group == one][0]]), frame.theme) for one in given]
    place_labels(axes, middles, [names[one] for one in given], frame.theme, inks, points[:300])


def draw_entropies(frame: Frame, picture: Data, tokens: Sequence[str]) -> None:
    """How the entropies of the two kinds of contexts are spread."""
    axes = frame.axes(0.2, 0.3, frame.width - 0.2, frame.height - 1.0)
    theme = frame.theme
    both = np.concatenate([picture["asked"], picture["free"], [0.0]])
    edges = np.linspace(0, max(float(both.max()), 1e-3) * 1.03, 41)
    for values, colour in ((picture["asked"], theme.accent), (picture["free"], theme.negative)):
        if len(values):
            shares = np.histogram(values, edges)[0] / len(values)
            axes.stairs(shares, edges, fill=True, color=colour, alpha=0.75)
    axes.set(xlim=(edges[0], edges[-1]), yticks=[])
    axes.set_xlabel("entropy of the answer, nats")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    if len(picture["free"]):
        axes.axvline(picture["at"], color=theme.ink, linewidth=0.8, linestyle=":")
        frame.write(0.2, -0.1, "asked", SMALL, color=theme.accent, weight="bold")
        frame.write(1.3, -0.1, "free", SMALL, color=theme.negative, weight="bold")
    tidy(axes)


def draw_profile(frame: Frame, picture: Data, tokens: Sequence[str]) -> None:
    """Mean weight by distance from the source."""
    axes = frame.axes(0.6, 0.15, frame.width - 0.6, frame.height - 0.85)
    profile = picture["profile"]
    offset = np.arange(len(profile)) - len(profile) // 2
    known = np.isfinite(profile)
    colours = [frame.theme.accent if one == 0 else frame.theme.muted for one in offset[known]]
    axes.bar(offset[known], profile[known], width=0.8, color=colours, linewidth=0)
    axes.set(xlim=(offset[known].min() - 0.6, offset[known].max() + 0.6), ylim=(0, 1), yticks=[0, 0.5, 1])
    axes.set_xlabel("place, counted from the source")
    axes.set_ylabel("mean weight")
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    tidy(axes)


def draw_table(frame: Frame, picture: Data, tokens: Sequence[str]) -> None:
    """Which answers each demand gets."""
    axes = frame.axes(1.1, 0.65, frame.width - 1.1, frame.height - 0.65)
    matrix(axes, picture["table"], frame.theme, picture["rows"], tokens, False, 1.0, numbers=False)
    frame.write(1.1, -0.05, "answers; rows: what is asked for", SMALL, color=frame.theme.muted)


def tidy(axes: Axes) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
