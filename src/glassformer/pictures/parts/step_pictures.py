"""The small pictures of the five steps: states, entropies, attention by distance, answers by demand."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from glassformer.core.theme import pick_token_colour
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.parts.frame import BODY, SMALL, Frame
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import make_readable_colour
from glassformer.pictures.parts.matrices import draw_heatmap


@dataclass(frozen=True, eq=False)
class TokenStates:
    """States with the token of each."""

    points: Float[np.ndarray, "point 2"]
    kind: Int[np.ndarray, " point"]  # tokens
    plane: Plane


@dataclass(frozen=True, eq=False)
class DemandStates:
    """States with what is asked for at each."""

    points: Float[np.ndarray, "point 2"]
    kind: Int[np.ndarray, " point"]  # the first token that a demand allows
    names: list[str]  # of all demands
    group: Int[np.ndarray, " point"]  # demands
    plane: Plane


@dataclass(frozen=True, eq=False)
class StepEntropies:
    """Entropies of the answers, in nats, where something is asked for and where nothing is."""

    asked: Float[np.ndarray, " asked"]
    free: Float[np.ndarray, " free"]
    at: float  # the threshold between them


@dataclass(frozen=True, eq=False)
class DistanceProfile:
    """Mean weight by the distance from the source, which is in the middle."""

    profile: Float[np.ndarray, " offset"]


@dataclass(frozen=True, eq=False)
class DemandTable:
    """Shares of the answers to each demand."""

    table: Float[np.ndarray, "demand tok"]
    rows: list[str]  # the demands


StepPicture = TokenStates | DemandStates | StepEntropies | DistanceProfile | DemandTable


def draw_step_picture(frame: Frame, picture: StepPicture, tokens: Sequence[str]) -> None:
    """The small picture of a step, whatever it shows."""
    match picture:
        case TokenStates():
            _draw_step_states(frame, picture, picture.kind, tokens, tokens)
        case DemandStates():
            _draw_step_states(frame, picture, picture.group, picture.names, tokens)
        case StepEntropies():
            _draw_step_entropies(frame, picture)
        case DistanceProfile():
            _draw_distance_profile(frame, picture)
        case DemandTable():
            _draw_demand_table(frame, picture, tokens)


def _draw_step_states(
    frame: Frame,
    picture: TokenStates | DemandStates,
    group: Int[np.ndarray, " point"],
    names: Sequence[str],
    tokens: Sequence[str],
) -> None:
    """Points in their tokens' colours, one label per group."""
    side = frame.height
    axes = frame.axes(frame.width - side, 0, side, side)
    points, kind = picture.points, picture.kind
    across, up = picture.plane.limits(points)
    axes.set(xlim=across, ylim=up, xticks=[], yticks=[])
    axes.scatter(*points.T, s=5, c=[pick_token_colour(tokens[one]) for one in kind], linewidths=0, zorder=3)
    name = picture.plane.labels[0].split(",")[0].split("[")[0]
    frame.write(frame.width - side - 0.15, 0.05, name, BODY, ha="right", color=frame.theme.muted)
    given = np.unique(group)
    middles = np.array([points[group == one].mean(0) for one in given])
    inks = [
        make_readable_colour(pick_token_colour(tokens[kind[group == one][0]]), frame.theme) for one in given
    ]
    place_labels(axes, middles, [names[one] for one in given], frame.theme, inks, points[:300])


def _draw_step_entropies(frame: Frame, picture: StepEntropies) -> None:
    """How the entropies of the two kinds of contexts are spread."""
    axes = frame.axes(0.2, 0.3, frame.width - 0.2, frame.height - 1.0)
    theme = frame.theme
    both = np.concatenate([picture.asked, picture.free, [0.0]])
    edges = np.linspace(0, max(float(both.max()), 1e-3) * 1.03, 41)
    for values, colour in ((picture.asked, theme.accent), (picture.free, theme.negative)):
        if len(values):
            shares = np.histogram(values, edges)[0] / len(values)
            axes.stairs(shares, edges, fill=True, color=colour, alpha=0.75)
    axes.set(xlim=(edges[0], edges[-1]), yticks=[])
    axes.set_xlabel("entropy of the answer, nats")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    if len(picture.free):
        axes.axvline(picture.at, color=theme.ink, linewidth=0.8, linestyle=":")
        frame.write(0.2, -0.1, "demand", SMALL, color=theme.accent, weight="bold")
        frame.write(1.6, -0.1, "free", SMALL, color=theme.negative, weight="bold")
    _hide_spines(axes)


def _draw_distance_profile(frame: Frame, picture: DistanceProfile) -> None:
    """Mean weight by distance from the source."""
    axes = frame.axes(0.6, 0.15, frame.width - 0.6, frame.height - 0.85)
    profile = picture.profile
    offset = np.arange(len(profile)) - len(profile) // 2
    known = np.isfinite(profile)
    colours = [frame.theme.accent if one == 0 else frame.theme.muted for one in offset[known]]
    axes.bar(offset[known], profile[known], width=0.8, color=colours, linewidth=0)
    axes.set(xlim=(offset[known].min() - 0.6, offset[known].max() + 0.6), ylim=(0, 1), yticks=[0, 0.5, 1])
    axes.set_xlabel("distance from the source, in positions")
    axes.set_ylabel("mean weight")
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    _hide_spines(axes)


def _draw_demand_table(frame: Frame, picture: DemandTable, tokens: Sequence[str]) -> None:
    """Which answers each demand gets."""
    axes = frame.axes(1.1, 0.65, frame.width - 1.1, frame.height - 0.65)
    draw_heatmap(axes, picture.table, frame.theme, picture.rows, tokens, False, 1.0, numbers=False)
    frame.write(1.1, -0.05, "answers; rows: demands", SMALL, color=frame.theme.muted)


def _hide_spines(axes: Axes) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
