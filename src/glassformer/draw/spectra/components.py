"""Components for 90%: how many components hold 90% of the energy, over the layers, one panel a type."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import sheet
from glassformer.draw.picture import Data
from glassformer.draw.spectra.grid import Grid, in_title
from glassformer.draw.spectra.groups import by_type, cumulative_energy, experts_in, fitting, over_layers
from glassformer.draw.spectra.lines import layer_axis, level, series_line, value_axis
from glassformer.draw.spectra.random_spectra import random_values
from glassformer.draw.theme import Theme
from glassformer.spectra.results import SHARES, Analysis
from glassformer.spectra.words import ratio_text, shape_text

PLACE = SHARES.index(90)
FOOT = "Dashed: a random matrix of that shape. The axes do not begin at 0."


def compute(analysis: Analysis) -> Data:
    types = {}
    for name, group in fitting(by_type(analysis)).items():
        layers, counts = over_layers(group, lambda one: float(one.statistics.components[PLACE]))
        energy = cumulative_energy(random_values(group[0].shape))
        types[name] = {
            "shape": group[0].shape, "layers": layers, "counts": counts, "experts": experts_in(group),
            "random": int(np.searchsorted(energy, 0.9)) + 1,
        }  # fmt: skip
    return {"name": analysis.name, "types": types}


def draw(data: Data, theme: Theme) -> Figure:
    grid = Grid.of(len(data["types"]))
    paper = sheet(theme, grid.total + grid.room_below(FOOT), title(data))
    for index, (name, one) in enumerate(data["types"].items()):
        grid.name(paper, index, f"{name}  {shape_text(one['shape'])}", said_of(one))
        axes = grid.panel(paper, index)
        layer_axis(axes, one["layers"])
        value_axis(axes, [one["counts"], float(one["random"])])
        level(axes, one["random"], f"random {one['random']:,}", theme, [(one["layers"], one["counts"])])
        series_line(axes, one["layers"], one["counts"], theme.accent)
    grid.write_note(paper, FOOT)
    return paper.figure


def said_of(one: dict[str, Any]) -> str:
    counts = one["counts"]
    span = f"{counts.min():,.0f}" if len(counts) == 1 else f"{counts.min():,.0f} to {counts.max():,.0f}"
    return f"{span} of {min(one['shape']):,}"


def title(data: Data) -> str:
    shares = {name: float(np.mean(one["counts"])) / one["random"] for name, one in data["types"].items()}
    low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    most = f", {in_title(high)} most ({ratio_text(shares[high])})" if shares[high] > shares[low] else ""
    return (
        f"{data['name']}: for 90% of the energy {in_title(low)} needs {ratio_text(shares[low])} of the "
        f"components of a random matrix{most}"
    )


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{name} {said_of(one)} (random {one['random']:,})" for name, one in data["types"].items()
    )
    experts = (
        " Of experts the mean is drawn." if any(one["experts"] > 1 for one in data["types"].values()) else ""
    )
    return (
        "The number of largest singular values whose squares make up 90% of the sum of all squares, for "
        "every "
        f"weight matrix. {rows}. Dashed: the same for a random matrix of that shape (Marchenko and Pastur). "
        f"Panels have axes of their own, which do not begin at 0.{experts}"
    )
