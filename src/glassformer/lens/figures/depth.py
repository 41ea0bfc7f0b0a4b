"""Depth: the effective rank of each weight type over the layers, one panel per type, as measured.

Types have different shapes, so each has an axis of its own; only `relative` puts them on one.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.core.words import join_words
from glassformer.lens.figures.grid import PanelGrid
from glassformer.lens.figures.groups import count_experts, group_by_type, keep_largest_groups
from glassformer.lens.figures.lines import (
    draw_change_lines,
    draw_reference_level,
    draw_series_line,
    draw_third_bars,
    set_layer_axis,
    set_value_axis,
)
from glassformer.lens.results import Analysis, Trend
from glassformer.lens.words import (
    describe_tested_trend,
    format_p_value,
    format_rank,
    format_ratio,
    format_shape,
)
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.picture import Data


def compute(analysis: Analysis) -> Data:
    groups = keep_largest_groups(group_by_type(analysis))
    types = {}
    for name, group in groups.items():
        if name in analysis.depth:
            found = analysis.depth[name]
            types[name] = {
                "shape": group[0].shape, "experts": count_experts(group), "random": group[0].random.eff_rank,
                "layers": found.layers, "series": found.series, "mean": found.mean, "std": found.std,
                "relative": found.relative_to_random, "thirds": found.thirds,
                "change_points": found.change_points, "label": found.trend.label,
                "tested": found.trend.tested, "p_value": found.trend.p_value, "slope": found.trend.slope,
            }  # fmt: skip
    if not types:
        raise UserError("no weight type has a course over the layers")
    return {"name": analysis.name, "types": types, "left_out": len(analysis.depth) - len(types)}


def draw(data: Data, theme: Theme) -> Figure:
    grid, foot = PanelGrid.of(len(data["types"])), _describe_depth_foot(data)
    paper = make_sheet(theme, grid.total + grid.room_below(foot), title(data))
    for index, (name, one) in enumerate(data["types"].items()):
        grid.name(paper, index, f"{name}  {format_shape(one['shape'])}", _describe_rank_trend(one))
        _draw_rank_course(grid.panel(paper, index), one, theme)
    grid.write_note(paper, foot)
    return paper.figure


def _draw_rank_course(axes: Axes, one: dict[str, Any], theme: Theme) -> None:
    """One type: its course, the random level, the thirds and where it changes."""
    set_layer_axis(axes, one["layers"])
    set_value_axis(axes, [one["series"], one["random"]])
    draw_third_bars(axes, one["layers"], one["thirds"], theme)
    draw_change_lines(axes, one["change_points"], theme)
    line = (one["layers"], one["series"])
    marks = [
        ((point - 0.01, point + 0.01), np.array(axes.get_ylim()))
        for point in np.asarray(one["change_points"]) - 0.5
    ]
    draw_reference_level(axes, one["random"], f"random {format_rank(one['random'])}", theme, [line, *marks])
    draw_series_line(axes, one["layers"], one["series"], theme.accent)


def _describe_rank_trend(one: dict[str, Any]) -> str:
    return f"{describe_tested_trend(_make_trend(one))}; {format_ratio(one['relative'])} of random"


def _make_trend(one: dict[str, Any]) -> Trend:
    return Trend(one["label"], one["tested"], one["p_value"], one["slope"])


def _describe_depth_foot(data: Data) -> str:
    parts = ["Dashed: a random matrix of that shape."]
    if any(len(one["thirds"]) > 1 for one in data["types"].values()):
        parts.append("Pale bars: means of the early, middle and late third.")
    if any(one["change_points"] for one in data["types"].values()):
        parts.append("Dotted: change points.")
    if any(one["experts"] > 1 for one in data["types"].values()):
        parts.append("Experts: their mean.")
    if data["left_out"] > 0:
        parts.append(f"{data['left_out']} more in weights.csv.")
    return " ".join(parts)


def title(data: Data) -> str:
    by_label: dict[str, list[str]] = {}
    for name, one in data["types"].items():
        by_label.setdefault(one["tested"], []).append(name)
    if len(by_label) == 1 and len(data["types"]) > 1 and "too few layers" not in by_label:
        label = next(iter(by_label))
        return (
            f"{data['name']}: effective rank over depth "
            f"({'no trend in any type' if label == 'none' else f'{label} in all types'})"
        )
    words = {"none": "no trend in", "rising": "rising", "falling": "falling", "too few layers": ""}
    said = "; ".join(
        f"{words.get(label, label)}: {join_words(names)}"
        for label, names in by_label.items()
        if words.get(label, label) and len(names) <= 7
    ).replace("no trend in:", "no trend:")
    return f"{data['name']}: effective rank over depth" + (f" ({said})" if 0 < len(said) < 130 else "")


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{name} {format_shape(one['shape'])}: mean {format_rank(one['mean'])}, standard deviation "
        f"{format_rank(one['std'])}, {format_ratio(one['relative'])} of a random matrix, "
        f"{describe_tested_trend(_make_trend(one))}" + _describe_change_points(one)
        for name, one in data["types"].items()
    )
    tested = [one for one in data["types"].values() if format_p_value(one["p_value"])]
    return (
        f"Effective rank, exp of the entropy of sigma / sum(sigma), of every weight matrix. {rows}. Dashed: "
        "the mean for a matrix of independent normal numbers of that shape (Marchenko and Pastur). Panels "
        "have axes of their own, which do not begin at 0: ranks of different shapes cannot be compared. "
        + (
            "Trends are what a test finds, with its p, type by type, not corrected for their number. "
            if tested
            else ""
        )
        + _describe_depth_foot(data)
    )


def _describe_change_points(one: dict[str, Any]) -> str:
    points = [str(layer) for layer in np.asarray(one["change_points"], int)]
    return f", another level from layer {join_words(points)} on" if points else ""
