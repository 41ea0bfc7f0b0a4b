"""Alignment: whether attention and the feed-forward part of a layer use the same directions, over depth."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import foot_height, sheet, write_foot
from glassformer.draw.picture import Data
from glassformer.draw.spectra.lines import layer_axis, level, name_ends, series_line, value_axis
from glassformer.draw.theme import Theme, kind_colours
from glassformer.errors import UserError
from glassformer.spectra.results import Analysis
from glassformer.spectra.words import ratio_text

WIDE, HIGH, ABOVE, BELOW = 12.0, 6.0, 0.4, 0.9  # cm


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
    foot = foot_text(data)
    paper = sheet(theme, ABOVE + HIGH + BELOW + foot_height(foot), title(data))
    axes = paper.axes(1.2, ABOVE, WIDE, HIGH)
    layer_axis(axes, data["layers"])
    value_axis(axes, [*data["lines"].values(), data["chance"]], "mean squared cosine")
    level(axes, data["chance"], "", theme)
    colours = kind_colours(len(data["lines"]), theme)
    for colour, line in zip(colours, data["lines"].values(), strict=True):
        series_line(axes, data["layers"], line, colour)
    ends = [float(line[np.isfinite(line)][-1]) for line in data["lines"].values()]
    texts = [*(between(name) for name in data["lines"]), f"chance {ratio_text(data['chance'])}"]
    name_ends(axes, [*ends, data["chance"]], texts, [*colours, theme.muted], theme)
    write_foot(paper, foot)
    return paper.figure


def between(name: str) -> str:
    return " and ".join(name.split(" "))


def foot_text(data: Data) -> str:
    return f"The {leading_text(data)} of two matrices of a layer, on the stream's side."


def leading_text(data: Data) -> str:
    top = int(data["top"])
    return "leading direction" if top == 1 else f"{top} leading directions"


def title(data: Data) -> str:
    means = {name: float(np.nanmean(line)) for name, line in data["lines"].items()}
    most = max(means, key=means.__getitem__)
    return (
        f"{data['name']}: {between(most)} share most directions, {means[most] / data['chance']:.1f} times "
        "chance"
    )


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{between(name)} {ratio_text(float(np.nanmean(line)))} on average"
        for name, line in data["lines"].items()
    )
    return (
        f"Mean squared cosine between the {leading_text(data)}, on the side of the "
        f"residual stream, of two matrices of one layer: {rows}; two random subspaces have "
        f"{ratio_text(data['chance'])} on average. W_O is taken at its outputs, what reads the stream at its "
        "inputs. Of experts the mean is drawn. Norms between the two are not applied."
    )
