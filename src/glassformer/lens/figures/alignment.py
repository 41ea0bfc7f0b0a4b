"""Alignment: whether attention and the feed-forward part of a layer use the same directions, over depth."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme, list_line_colours
from glassformer.lens.figures.lines import (
    draw_reference_level,
    draw_series_line,
    label_line_ends,
    set_layer_axis,
    set_value_axis,
)
from glassformer.lens.results import Analysis
from glassformer.lens.words import format_ratio
from glassformer.pictures.parts.frame import make_sheet, measure_foot_height, write_foot
from glassformer.pictures.picture import Data

_WIDE, _HIGH, _ABOVE, _BELOW = 12.0, 6.0, 0.4, 0.9  # cm


def compute(analysis: Analysis) -> Data:
    found = analysis.relations
    lines = {name: line for name, line in found.alignment.items() if np.isfinite(line).any()} if found else {}
    if found is None or not lines:
        raise UserError("no layer has both attention and feed-forward weights that face the stream")
    return {
        "name": analysis.name, "top": found.top, "chance": found.chance, "layers": found.layers,
        "lines": lines,
    }  # fmt: skip


def draw(data: Data, theme: Theme) -> Figure:
    foot = _describe_alignment_foot(data)
    paper = make_sheet(theme, _ABOVE + _HIGH + _BELOW + measure_foot_height(foot), title(data))
    axes = paper.axes(1.2, _ABOVE, _WIDE, _HIGH)
    set_layer_axis(axes, data["layers"])
    set_value_axis(axes, [*data["lines"].values(), data["chance"]], "mean squared cosine")
    draw_reference_level(axes, data["chance"], "", theme)
    colours = list_line_colours(len(data["lines"]), theme)
    for colour, line in zip(colours, data["lines"].values(), strict=True):
        draw_series_line(axes, data["layers"], line, colour)
    ends = [float(line[np.isfinite(line)][-1]) for line in data["lines"].values()]
    texts = [*(_format_weight_pair(name) for name in data["lines"]), f"chance {format_ratio(data['chance'])}"]
    label_line_ends(axes, [*ends, data["chance"]], texts, [*colours, theme.muted], theme)
    write_foot(paper, foot)
    return paper.figure


def _format_weight_pair(name: str) -> str:
    return " and ".join(name.split(" "))


def _describe_alignment_foot(data: Data) -> str:
    return f"The {_describe_leading_directions(data)} of two matrices of a layer, on the stream's side."


def _describe_leading_directions(data: Data) -> str:
    top = int(data["top"])
    return "leading direction" if top == 1 else f"{top} leading directions"


def title(data: Data) -> str:
    means = {name: float(np.nanmean(line)) for name, line in data["lines"].items()}
    most = max(means, key=means.__getitem__)
    return (
        f"{data['name']}: {_format_weight_pair(most)} share most directions, "
        f"{means[most] / data['chance']:.1f} times chance"
    )


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{_format_weight_pair(name)} {format_ratio(float(np.nanmean(line)))} on average"
        for name, line in data["lines"].items()
    )
    return (
        f"Mean squared cosine between the {_describe_leading_directions(data)}, on the side of the residual "
        f"stream, of two matrices of one layer: {rows}; two random subspaces have "
        f"{format_ratio(data['chance'])} on average. W_O is taken at its outputs, what reads the stream at "
        "its inputs. Of experts the mean is drawn. Norms between the two are not applied."
    )
