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

from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.core.words import format_percent
from glassformer.models.norm import NoNorm
from glassformer.pictures.measure.hidden_units import (
    HiddenUnits,
    choose_unit_colours,
    clip_line,
    collect_all_states,
    collect_last_states,
    describe_contexts,
    list_kind_entries,
    measure_hidden_units,
    require_feedforward,
)
from glassformer.pictures.measure.landscape import GRID, make_slice
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import FOOT, SMALL, Frame, make_sheet, measure_text_height
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import draw_data_arrow, draw_zero_lines, show_plane
from glassformer.pictures.parts.regions import draw_scalar_map
from glassformer.pictures.picture import Data

_SIDE, _GAP = 7.0, 1.15  # cm: a panel, and what stands left of it
_NAMED = 8  # units that carry their names
_SHOWN = 600  # contexts whose states are drawn; all are measured
_BEHIND = 300  # contexts whose states at all positions are drawn behind
_TICK = 0.02  # of the panel: the tick on a hinge's active side
_STYLES = ("-", "-", "--")  # of lines of the three kinds
_PALE = 3.2  # how much lighter the count of active units is than its scale


def compute(subject: Subject) -> Data:
    name, layer = f"{subject.layer}ff.input", require_feedforward(subject)
    units, states = measure_hidden_units(subject), collect_last_states(subject, name)
    plane = _make_input_plane(subject, states)
    points = plane(states[:_SHOWN], np.arange(len(states[:_SHOWN]), dtype=float))
    everywhere = collect_all_states(subject, name, _BEHIND)
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
        "answers": collect_last_states(subject, "logits").argmax(1)[:_SHOWN],
        "sample": describe_contexts(subject),
        "is_piecewise": layer.bend == "relu" and layer.gate is None,
        "units": units,
        "slopes": slopes,
        "segments": [clip_line(*line, limits) for line in zip(slopes, shifts, strict=True)],
        "active": _count_active_units(slopes, shifts, limits),
        "write_plane": replace(writing, labels=_choose_axis_labels(writing, "rank of the unit")),
        "write_starts": writing(np.zeros_like(units.writes), ranks),
        "write_ends": writing(units.writes * units.activation[:, None], ranks),
    }


def _make_input_plane(subject: Subject, states: Float[np.ndarray, "context dim"]) -> Plane:
    """What the layer reads: z, or what a norm makes of it; whole, or cut where most of it is seen."""
    is_plain = isinstance(subject.model.architecture.layers[-1].feedforward_norm, NoNorm)
    found = make_slice(states, "z" if is_plain else "normed z", "what the layer reads", subject.dims)
    note = "One dimension, along x." if found.is_line else found.note
    return replace(found, labels=_choose_axis_labels(found, "number of the context"), note=note)


def _choose_axis_labels(plane: Plane, up: str) -> tuple[str, str]:
    """What stands at the axes; `up` names the spread of a plane of one dimension."""
    return plane.labels[0], up if plane.is_line else plane.labels[1]


def _count_active_units(
    slopes: Float[np.ndarray, "ff 2"], shifts: Float[np.ndarray, " ff"], limits: Float[np.ndarray, "2 2"]
) -> Int[np.ndarray, "y x"]:
    """How many units are on at every point of the panel."""
    x, y = (low + (np.arange(GRID) + 0.5) / GRID * (high - low) for low, high in limits)
    count = np.zeros((GRID, GRID), np.int16)
    for (across, up), shift in zip(slopes, shifts, strict=True):
        count += (up * y + shift)[:, None] > -across * x
    return count


def draw(data: Data, theme: Theme) -> Figure:
    below = measure_text_height(_foot(data), SMALL, FOOT)
    paper = make_sheet(theme, _SIDE + below + 2.15, title(data))
    _draw_hinges(paper.axes(_GAP, 0.55, _SIDE, _SIDE), data, theme)
    _draw_unit_writes(paper.axes(_SIDE + 2 * _GAP + 0.1, 0.55, _SIDE, _SIDE), data, theme)
    _draw_hinge_legend(paper.part(_GAP, _SIDE + 1.45, paper.width - _GAP, 0.4), data["units"])
    paper.write(0, _SIDE + 2.05, _foot(data), SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    units = data["units"]
    switches, always, never = np.bincount(units.kinds, minlength=3)
    pieces = "; between the hinges the layer is linear" if data["is_piecewise"] else ""
    return (
        f"Over {data['sample']}, {switches} of {len(units)} feed-forward units switch, {always} are "
        f"always on and {never} never{pieces}"
    )


def _foot(data: Data) -> str:
    return (
        "Left: a short tick points to the side on which a unit is on; the stronger the tint, the more "
        "units are on. Coloured dots: the input of the layer at the last position, in the colour of the "
        f"model's answer; {name_colour('muted')}: at all positions. Stronger lines and arrows: units with "
        f"larger outputs. {data['plane'].note}"
    )


def _draw_hinges(axes: Axes, data: Data, theme: Theme) -> None:
    """The states, and every hinge as far as it is inside, with its tick; names of the strongest."""
    units, limits = data["units"], data["limits"]
    show_plane(axes, data["plane"], limits, "where each unit switches: its hinge")
    draw_scalar_map(axes, data["active"].astype(float), limits, theme, largest=_PALE * len(units))
    axes.scatter(*data["behind"].T, s=2.5, color=theme.muted, alpha=0.45, linewidths=0, zorder=1)
    colours = [pick_token_colour(data["tokens"][answer]) for answer in data["answers"]]
    axes.scatter(*data["points"].T, s=9, c=colours, linewidths=0.3, edgecolors=theme.paper, zorder=4)
    inside = [unit for unit, segment in enumerate(data["segments"]) if segment is not None]
    if not inside:
        return
    segments = np.stack([data["segments"][unit] for unit in inside])
    for pieces in (segments, make_hinge_ticks(data, inside, segments)):
        axes.add_collection(_make_hinge_lines(pieces, units, inside, theme), autolim=False)
    named = [row for row, unit in enumerate(inside) if unit in set(units.order[:_NAMED].tolist())]
    spots = np.array([_pick_hinge_spot(segments[row], rank) for rank, row in enumerate(named)]).reshape(-1, 2)
    place_labels(axes, spots, [f"u{inside[row]}" for row in named], theme, obstacles=data["points"][:200])


def _make_hinge_lines(
    segments: Float[np.ndarray, "line 2 2"], units: HiddenUnits, which: list[int], theme: Theme
) -> LineCollection:
    colours = [
        to_rgba(_choose_unit_colour(units, unit, theme), 0.3 + 0.7 * units.strength[unit]) for unit in which
    ]
    widths = 0.45 + 1.6 * units.strength[which]
    styles = [_STYLES[units.kinds[unit]] for unit in which]
    return LineCollection(
        list(segments), colors=colours, linewidths=widths, linestyles=styles, capstyle="butt", zorder=3
    )


def _choose_unit_colour(units: HiddenUnits, unit: int, theme: Theme) -> str:
    return choose_unit_colours(theme)[units.kinds[unit]]


def make_hinge_ticks(
    data: Data, inside: list[int], segments: Float[np.ndarray, "line 2 2"]
) -> Float[np.ndarray, "line 2 2"]:
    """From the middle of each hinge towards its active side; of one length on paper."""
    size = data["limits"][:, 1] - data["limits"][:, 0]
    slopes = data["slopes"][inside] * size  # on paper, where both sides have the length 1
    steps = slopes / np.linalg.norm(slopes, axis=1, keepdims=True) * _TICK * size
    middles = segments.mean(1)
    ends = np.clip(middles + steps, *data["limits"].T)
    return np.stack([middles, ends], 1)


def _pick_hinge_spot(segment: Float[np.ndarray, "2 2"], rank: int) -> Float[np.ndarray, "2"]:
    """A point of a hinge, at another share of its length for each, so that names spread."""
    share = (0.22, 0.78, 0.35, 0.65)[rank % 4]
    found: np.ndarray = segment[0] * (1 - share) + segment[1] * share
    return found


def _draw_unit_writes(axes: Axes, data: Data, theme: Theme) -> None:
    """What each unit adds to the stream on average, as arrows from the origin."""
    plane, starts, ends, units = data["write_plane"], data["write_starts"], data["write_ends"], data["units"]
    show_plane(axes, plane, plane.limits(starts, ends), "what each unit adds to the stream on average")
    draw_zero_lines(axes, theme)
    for unit in units.order[::-1]:
        strength = units.strength[unit]
        if strength > 0.01:
            colour = _choose_unit_colour(units, int(unit), theme)
            draw_data_arrow(axes, starts[unit], ends[unit], colour, 0.5 + strength, 0.35 + 0.65 * strength)
    named = units.order[:_NAMED]
    place_labels(axes, ends[named], [f"u{unit}" for unit in named], theme, obstacles=ends)


def _draw_hinge_legend(frame: Frame, units: HiddenUnits) -> None:
    """The legend, with how many units are of each kind."""
    axes = frame.axes(0, 0, frame.width, frame.height)
    axes.set(xlim=(0, frame.width), ylim=(0, 1))
    axes.axis("off")
    for kind, (text, colour) in enumerate(list_kind_entries(units, frame.theme)):
        x = kind * 4.2
        axes.plot([x, x + 0.7], [0.5, 0.5], color=colour, linewidth=1.4, linestyle=_STYLES[kind])
        axes.text(x + 0.85, 0.5, text, va="center_baseline", fontsize=SMALL + 0.5)


def caption(data: Data) -> str:
    units = data["units"]
    strongest = int(units.order[0])
    crossing = sum(segment is not None for segment in data["segments"])
    return (
        f"The hinges of the {len(units)} units of the feed-forward layer (where what a unit bends is 0), "
        f"cut exactly at the edges of the panel, which {crossing} of them cross, and what each unit "
        f"writes on average, its mean activation times its outgoing weights, over {data['sample']}. Unit "
        f"{strongest} contributes most: a vector of length {units.contribution[strongest]:.3g} on "
        f"average, on in {format_percent(units.active[strongest])} of them. {_foot(data)}"
    )
