"""Depth: the effective rank of each weight type over the layers, one panel a type, as measured.

Types have different shapes, so each has an axis of its own; only `relative` puts them on one.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import sheet
from glassformer.draw.picture import Data
from glassformer.draw.spectra.grid import Grid
from glassformer.draw.spectra.groups import by_type, experts_in, fitting
from glassformer.draw.spectra.lines import (
    change_lines,
    layer_axis,
    level,
    series_line,
    thirds_bars,
    value_axis,
)
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.spectra.results import Analysis, Trend
from glassformer.spectra.words import listed, p_text, rank_text, ratio_text, shape_text, trend_text


def compute(analysis: Analysis) -> Data:
    groups = fitting(by_type(analysis))
    types = {}
    for name, group in groups.items():
        if name in analysis.depth:
            found = analysis.depth[name]
            types[name] = {
                "shape": group[0].shape, "experts": experts_in(group), "random": group[0].random.eff_rank,
                "layers": found.layers, "series": found.series, "mean": found.mean, "std": found.std,
                "relative": found.relative_to_random, "thirds": found.thirds,
                "change_points": found.change_points, "label": found.trend.label,
                "tested": found.trend.tested, "p_value": found.trend.p_value, "slope": found.trend.slope,
            }  # fmt: skip
    if not types:
        raise UserError("no weight type has a course over the layers")
    return {"name": analysis.name, "types": types, "left_out": len(analysis.depth) - len(types)}


def draw(data: Data, theme: Theme) -> Figure:
    grid, foot = Grid.of(len(data["types"])), foot_text(data)
    paper = sheet(theme, grid.total + grid.room_below(foot), title(data))
    for index, (name, one) in enumerate(data["types"].items()):
        grid.name(paper, index, f"{name}  {shape_text(one['shape'])}", said_of(one))
        draw_type(grid.panel(paper, index), one, theme)
    grid.write_note(paper, foot)
    return paper.figure


def draw_type(axes: Axes, one: dict[str, Any], theme: Theme) -> None:
    """One type: its course, the random level, the thirds and where it changes."""
    layer_axis(axes, one["layers"])
    value_axis(axes, [one["series"], one["random"]])
    thirds_bars(axes, one["layers"], one["thirds"], theme)
    change_lines(axes, one["change_points"], theme)
    line = (one["layers"], one["series"])
    marks = [
        ((point - 0.01, point + 0.01), np.array(axes.get_ylim()))
        for point in np.asarray(one["change_points"]) - 0.5
    ]
    level(axes, one["random"], f"random {rank_text(one['random'])}", theme, [line, *marks])
    series_line(axes, one["layers"], one["series"], theme.accent)


def said_of(one: dict[str, Any]) -> str:
    return f"{trend_text(trend_of(one))}; {ratio_text(one['relative'])} of random"


def trend_of(one: dict[str, Any]) -> Trend:
    return Trend(one["label"], one["tested"], one["p_value"], one["slope"])


def foot_text(data: Data) -> str:
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
        f"{words.get(label, label)}: {listed(names)}"
        for label, names in by_label.items()
        if words.get(label, label) and len(names) <= 7
    ).replace("no trend in:", "no trend:")
    return f"{data['name']}: effective rank over depth" + (f" ({said})" if 0 < len(said) < 130 else "")


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{name} {shape_text(one['shape'])}: mean {rank_text(one['mean'])}, standard deviation "
        f"{rank_text(one['std'])}, {ratio_text(one['relative'])} of a random matrix, "
        f"{trend_text(trend_of(one))}" + changes_text(one)
        for name, one in data["types"].items()
    )
    tested = [one for one in data["types"].values() if p_text(one["p_value"])]
    return (
        f"Effective rank, exp of the entropy of sigma / sum(sigma), of every weight matrix. {rows}. Dashed: "
        "the mean for a matrix of independent normal numbers of that shape (Marchenko and Pastur). Panels "
        "have axes of their own, which do not begin at 0, for ranks of different shapes cannot be compared. "
        + (
            "Trends are what a test finds, with its p, type by type, not corrected for their number. "
            if tested
            else ""
        )
        + foot_text(data)
    )


def changes_text(one: dict[str, Any]) -> str:
    points = [str(layer) for layer in np.asarray(one["change_points"], int)]
    return f", another level from layer {listed(points)} on" if points else ""
