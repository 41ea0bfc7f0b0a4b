"""Hinges: the lines at which feed-forward units switch on, and what each unit then writes.

Between the hinges the layer is linear; a state that crosses one gets a new direction added.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from glassformer.draw.measure.hidden_units import (
    KINDS,
    Units,
    all_places,
    clipped,
    feedforward_of,
    kind_colours,
    last_state,
    sample_text,
    units_of,
)
from glassformer.draw.measure.landscape import GRID, slice_through
from glassformer.draw.measure.plane import Plane
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import FOOT, SMALL, Frame, sheet, text_height
from glassformer.draw.parts.labels import place_labels
from glassformer.draw.parts.marks import arrow, cross, show_plane
from glassformer.draw.parts.regions import heat
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme, token_colour
from glassformer.model.norm import NoNorm

SIDE, GAP = 7.0, 1.15  # cm: a panel, and what stands left of it
NAMED = 8  # units that carry their names
SHOWN = 600  # contexts whose states are drawn; all are measured
BEHIND = 300  # contexts whose states at all places are drawn behind
TICK = 0.02  # of the panel: the tick on a hinge's active side
STYLES = ("-", "-", "--")  # of lines of the three kinds
PALE = 3.2  # how much lighter the count of active units is than its scale


def compute(subject: Subject) -> Data:
    name, layer = f"{subject.layer}ff.input", feedforward_of(subject)
    units, states = units_of(subject), last_state(subject, name)
    plane = input_plane(subject, states)
    points = plane(states[:SHOWN], np.arange(len(states[:SHOWN]), dtype=float))
    everywhere = all_places(subject, name, BEHIND)
    behind = plane(everywhere, np.arange(len(everywhere)) % len(points))
    limits = plane.limits(points, behind)
    slopes, shifts = units.on_plane(plane)
    writing, ranks = subject.stream_plane, np.argsort(units.order).astype(float)
    return {
        "tokens": subject.tokens,
        "plane": plane,
        "limits": limits,
        "points": points,
        "behind": behind,
        "answers": last_state(subject, "logits").argmax(1)[:SHOWN],
        "sample": sample_text(subject),
        "is_piecewise": layer.bend == "relu" and layer.gate is None,
        "units": units,
        "slopes": slopes,
        "segments": [clipped(*line, limits) for line in zip(slopes, shifts, strict=True)],
        "active": active_units(slopes, shifts, limits),
        "write_plane": replace(writing, labels=line_labels(writing, "rank of the unit")),
        "write_starts": writing(np.zeros_like(units.writes), ranks),
        "write_ends": writing(units.writes * units.activation[:, None], ranks),
    }


def input_plane(subject: Subject, states: Float[np.ndarray, "context dim"]) -> Plane:
    """What the layer reads: z, or what a norm makes of it; whole, or cut where most of it is seen."""
    is_plain = isinstance(subject.model.architecture.layers[-1].feedforward_norm, NoNorm)
    found = slice_through(states, "z" if is_plain else "normed z", "what the layer reads", subject.dims)
    note = "One dimension, along x." if found.is_line else found.note
    return replace(found, labels=line_labels(found, "number of the context"), note=note)


def line_labels(plane: Plane, up: str) -> tuple[str, str]:
    """What stands at the axes; `up` names the spread of a plane of one dimension."""
    return plane.labels[0], up if plane.is_line else plane.labels[1]


def active_units(
    slopes: Float[np.ndarray, "ff 2"], shifts: Float[np.ndarray, " ff"], limits: Float[np.ndarray, "2 2"]
) -> Int[np.ndarray, "y x"]:
    """How many units are on at every point of the panel."""
    x, y = (low + (np.arange(GRID) + 0.5) / GRID * (high - low) for low, high in limits)
    count = np.zeros((GRID, GRID), np.int16)
    for (across, up), shift in zip(slopes, shifts, strict=True):
        count += (up * y + shift)[:, None] > -across * x
    return count


def draw(data: Data, theme: Theme) -> Figure:
    below = text_height(foot(data), SMALL, FOOT)
    paper = sheet(theme, SIDE + below + 2.15, title(data))
    draw_hinges(paper.axes(GAP, 0.55, SIDE, SIDE), data, theme)
    draw_written(paper.axes(SIDE + 2 * GAP + 0.1, 0.55, SIDE, SIDE), data, theme)
    draw_kinds(paper.part(GAP, SIDE + 1.45, paper.width - GAP, 0.4), data["units"])
    paper.write(0, SIDE + 2.05, foot(data), SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    units = data["units"]
    switches, always, never = np.bincount(units.kinds, minlength=3)
    pieces = "; between the hinges the layer is linear" if data["is_piecewise"] else ""
    return (
        f"Over {data['sample']}, {switches} of {len(units)} feed-forward units switch, {always} are "
        f"always on and {never} never{pieces}"
    )


def foot(data: Data) -> str:
    return (
        "Left: a short tick points to the side on which a unit is on; the stronger the tint, the more "
        "units are on. Coloured dots: what the layer reads at the last place, in the colour of the "
        "model's answer; grey: at all places. Stronger lines and arrows: units that write more. "
        f"{data['plane'].note}"
    )


def draw_hinges(axes: Axes, data: Data, theme: Theme) -> None:
    """The states, and every hinge as far as it is inside, with its tick; names of the strongest."""
    units, limits = data["units"], data["limits"]
    show_plane(axes, data["plane"], limits, "where each unit switches: its hinge")
    heat(axes, data["active"].astype(float), limits, theme, largest=PALE * len(units))
    axes.scatter(*data["behind"].T, s=2.5, color=theme.muted, alpha=0.45, linewidths=0, zorder=1)
    colours = [token_colour(data["tokens"][answer]) for answer in data["answers"]]
    axes.scatter(*data["points"].T, s=9, c=colours, linewidths=0.3, edgecolors=theme.paper, zorder=4)
    inside = [unit for unit, segment in enumerate(data["segments"]) if segment is not None]
    if not inside:
        return
    segments = np.stack([data["segments"][unit] for unit in inside])
    for pieces in (segments, ticks(data, inside, segments)):
        axes.add_collection(lines(pieces, units, inside, theme), autolim=False)
    named = [row for row, unit in enumerate(inside) if unit in set(units.order[:NAMED].tolist())]
    spots = np.array([spot_on(segments[row], rank) for rank, row in enumerate(named)]).reshape(-1, 2)
    place_labels(axes, spots, [f"u{inside[row]}" for row in named], theme, obstacles=data["points"][:200])


def lines(
    segments: Float[np.ndarray, "line 2 2"], units: Units, which: list[int], theme: Theme
) -> LineCollection:
    colours = [to_rgba(colour_of(units, unit, theme), 0.3 + 0.7 * units.strength[unit]) for unit in which]
    widths = 0.45 + 1.6 * units.strength[which]
    styles = [STYLES[units.kinds[unit]] for unit in which]
    return LineCollection(
        list(segments), colors=colours, linewidths=widths, linestyles=styles, capstyle="butt", zorder=3
    )


def colour_of(units: Units, unit: int, theme: Theme) -> str:
    return kind_colours(theme)[units.kinds[unit]]


def ticks(
    data: Data, inside: list[int], segments: Float[np.ndarray, "line 2 2"]
) -> Float[np.ndarray, "line 2 2"]:
    """From the middle of each hinge towards its active side; of one length on paper."""
    size = data["limits"][:, 1] - data["limits"][:, 0]
    slopes = data["slopes"][inside] * size  # on paper, where both sides have the length 1
    steps = slopes / np.linalg.norm(slopes, axis=1, keepdims=True) * TICK * size
    middles = segments.mean(1)
    ends = np.clip(middles + steps, *data["limits"].T)
    return np.stack([middles, ends], 1)


def spot_on(segment: Float[np.ndarray, "2 2"], rank: int) -> Float[np.ndarray, "2"]:
    """A point of a hinge, at another share of its length for each, so that names spread."""
    share = (0.22, 0.78, 0.35, 0.65)[rank % 4]
    found: np.ndarray = segment[0] * (1 - share) + segment[1] * share
    return found


def draw_written(axes: Axes, data: Data, theme: Theme) -> None:
    """What each unit adds to the stream on average, as arrows from the origin."""
    plane, starts, ends, units = data["write_plane"], data["write_starts"], data["write_ends"], data["units"]
    show_plane(axes, plane, plane.limits(starts, ends), "what each unit adds to the stream on average")
    cross(axes, theme)
    for unit in units.order[::-1]:
        strength = units.strength[unit]
        if strength > 0.01:
            colour = colour_of(units, int(unit), theme)
            arrow(axes, starts[unit], ends[unit], colour, 0.5 + strength, 0.35 + 0.65 * strength)
    named = units.order[:NAMED]
    place_labels(axes, ends[named], [f"u{unit}" for unit in named], theme, obstacles=ends)


def draw_kinds(frame: Frame, units: Units) -> None:
    """The legend, with how many units are of each kind."""
    axes = frame.axes(0, 0, frame.width, frame.height)
    axes.set(xlim=(0, frame.width), ylim=(0, 1))
    axes.axis("off")
    counts = np.bincount(units.kinds, minlength=len(KINDS))
    for kind, (name, colour, count) in enumerate(zip(KINDS, kind_colours(frame.theme), counts, strict=True)):
        x = kind * 4.2
        axes.plot([x, x + 0.7], [0.5, 0.5], color=colour, linewidth=1.4, linestyle=STYLES[kind])
        axes.text(x + 0.85, 0.5, f"{name}: {count}", va="center_baseline", fontsize=SMALL + 0.5)


def caption(data: Data) -> str:
    units = data["units"]
    strongest = int(units.order[0])
    crossing = sum(segment is not None for segment in data["segments"])
    return (
        f"The hinges of the {len(units)} units of the feed-forward layer (where what a unit bends is 0), "
        f"cut exactly at the edges of the panel, which {crossing} of them cross, and what each unit "
        f"writes on average, its mean activation times its outgoing weights, over {data['sample']}. Unit "
        f"{strongest} contributes most: a vector of length {units.contribution[strongest]:.3g} on "
        f"average, on in {percent(units.active[strongest])} of them. {foot(data)}"
    )
