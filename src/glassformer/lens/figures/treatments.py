"""Treatments: the effective rank of each head as stored against the same after folding or rotating."""

import re
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.lens.figures.grid import PanelGrid
from glassformer.lens.figures.groups import (
    list_head_layers,
    list_treatments,
    make_head_grid,
    require_read_heads,
    select_kernels,
)
from glassformer.lens.figures.lines import (
    KEY_HEIGHT,
    choose_depth_colour,
    compute_axis_room,
    compute_depth_shares,
    set_value_axis,
)
from glassformer.lens.figures.variance import draw_layer_legend
from glassformer.lens.results import Analysis
from glassformer.lens.words import format_rank
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.picture import Data

_OFFSET = re.compile(r"^(folded\+)?rope:(\d+)$")
_MOST_LINES = 200  # heads whose courses over the offsets are drawn one by one
_MOST_PANELS = 12
_SEEN = 0.005  # of a mean rank: smaller changes are written as 0
_FOOT = "Every head a point, in the colour of its layer; on the diagonal nothing changes."


def compute(analysis: Analysis) -> Data:
    require_read_heads(analysis)
    layers = list_head_layers(analysis)
    ranks = {
        f"{kernel} {treatment}": make_head_grid(
            select_kernels(analysis, kernel, treatment), lambda one: one.eff_rank, layers
        )
        for kernel in ("QK", "OV")
        for treatment in list_treatments(analysis, kernel)
    }
    if all(name.endswith(" raw") for name in ranks):
        raise UserError("only raw kernels were computed (--treatments raw,folded,rope:128 adds others)")
    return {"name": analysis.name, "layers": layers, "ranks": ranks}


def draw(data: Data, theme: Theme) -> Figure:
    pairs, series = _list_treated_kernels(data)[:_MOST_PANELS], _group_by_offset(data)
    grid = PanelGrid.of_squares(len(pairs) + len(series), left=1.3)
    paper = make_sheet(theme, grid.total + grid.room_below(_FOOT, KEY_HEIGHT), title(data))
    for index, name in enumerate(pairs):
        grid.name(paper, index, name, _describe_treated_ranks(data, name))
        _draw_treated_pair(grid.panel(paper, index), data, name, theme)
    for index, (name, courses) in enumerate(series.items(), len(pairs)):
        grid.name(paper, index, name, "thick: mean of all heads, 0: not rotated")
        _draw_offset_series(grid.panel(paper, index), courses, data, theme)
    draw_layer_legend(paper, grid, data["layers"], theme)
    grid.write_note(paper, _FOOT, KEY_HEIGHT)
    return paper.figure


def _list_treated_kernels(data: Data) -> list[str]:
    """Kernels and treatments other than raw, QK first."""
    return [name for name in data["ranks"] if not name.endswith(" raw")]


def _pick_raw_ranks(data: Data, name: str) -> Any:
    return data["ranks"][f"{name.split(' ')[0]} raw"]


def _group_by_offset(data: Data) -> dict[str, dict[int, Any]]:
    """Ranks by offset where there are at least two, with what is not rotated as offset 0."""
    found: dict[str, dict[int, Any]] = {}
    for name, values in data["ranks"].items():
        kernel, treatment = name.split(" ")
        if match := _OFFSET.match(treatment):
            start = f"{kernel} {'folded' if match[1] else 'raw'}"
            course = found.setdefault(
                f"QK {match[1] or ''}rope", {0: data["ranks"].get(start, values * np.nan)}
            )
            course[int(match[2])] = values
    return {name: dict(sorted(course.items())) for name, course in found.items() if len(course) > 2}


def _draw_treated_pair(axes: Axes, data: Data, name: str, theme: Theme) -> None:
    """Raw across, treated upwards, on the same scale."""
    raw, values = _pick_raw_ranks(data, name), data["ranks"][name]
    every = np.concatenate([raw.ravel(), values.ravel()])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    room = compute_axis_room(low, high, 0.06)
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(low - room, high + room)
    axes.plot(
        (low - room, high + room), (low - room, high + room), color=theme.faint, linewidth=0.8, zorder=0
    )
    colours = [choose_depth_colour(share, theme) for share in compute_depth_shares(len(data["layers"]))]
    size = 9 if raw.size < 300 else 4 if raw.size < 2000 else 2
    for colour, across, up in zip(colours, raw, values, strict=True):
        axes.scatter(across, up, s=size, color=colour, linewidths=0, zorder=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlabel("raw effective rank")
    axes.set_ylabel("treated")


def _draw_offset_series(axes: Axes, courses: dict[int, Any], data: Data, theme: Theme) -> None:
    """Heads over the offsets, evenly spaced, in the colours of their layers."""
    stacked = np.stack(list(courses.values()))  # offset layer head
    places = np.arange(len(courses))
    step = max(1, -(-stacked[0].size // _MOST_LINES))
    for layer, share in enumerate(compute_depth_shares(len(data["layers"]))):
        lines = stacked[:, layer, ::step] if step <= stacked.shape[2] else stacked[:, layer, :1]
        axes.plot(places, lines, color=choose_depth_colour(share, theme), linewidth=0.4, alpha=0.6)
    axes.plot(
        places, np.nanmean(stacked, axis=(1, 2)), color=theme.ink, linewidth=1.8, marker="o", markersize=3
    )
    set_value_axis(axes, [stacked])
    axes.set_xlim(-0.15, len(courses) - 0.85)
    axes.set_xticks(places, [f"{offset:,}" for offset in courses])
    axes.set_xlabel("positions from query back to key")


def _describe_treated_ranks(data: Data, name: str) -> str:
    raw, values = _pick_raw_ranks(data, name), data["ranks"][name]
    return f"mean {format_rank(float(np.nanmean(raw)))} raw, {format_rank(float(np.nanmean(values)))} treated"


def title(data: Data) -> str:
    changes = {
        name: float(np.nanmean(data["ranks"][name] - _pick_raw_ranks(data, name)))
        for name in _list_treated_kernels(data)
    }
    most = max(changes, key=lambda name: abs(changes[name]))
    if abs(changes[most]) < _SEEN:
        return f"{data['name']}: no treatment changes the mean effective rank by {_SEEN} or more"
    way = "raises" if changes[most] > 0 else "lowers"
    kernel, treatment = most.split(" ")
    return (
        f"{data['name']}: {treatment} {way} the effective rank of {kernel} kernels most, by "
        f"{format_rank(abs(changes[most]))} on average"
    )


def caption(data: Data) -> str:
    rows = "; ".join(f"{name}: {_describe_treated_ranks(data, name)}" for name in _list_treated_kernels(data))
    return (
        f"Effective rank of every head's kernel as stored and treated. {rows}. Folded: the gains of the "
        "norms before and after a map multiplied into it; a norm's own division depends on the token and is "
        "not applied. rope:N: the kernel between a query and the key N positions before it; values are not "
        "rotated, so there is no OV kernel of it. Scales do not begin at 0."
    )
