"""Components for 90%: how many components hold 90% of the energy, over the layers, one panel per type."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.lens.figures.grid import PanelGrid, shorten_title_name
from glassformer.lens.figures.groups import (
    average_over_layers,
    compute_cumulative_energy,
    count_experts,
    group_by_type,
    keep_largest_groups,
)
from glassformer.lens.figures.lines import (
    draw_reference_level,
    draw_series_line,
    set_layer_axis,
    set_value_axis,
)
from glassformer.lens.figures.random_spectra import compute_random_values
from glassformer.lens.results import SHARES, Analysis
from glassformer.lens.words import format_ratio, format_shape
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.picture import Data

_PLACE = SHARES.index(90)
_FOOT = "Dashed: a random matrix of that shape. The axes do not begin at 0."


def compute(analysis: Analysis) -> Data:
    types = {}
    for name, group in keep_largest_groups(group_by_type(analysis)).items():
        layers, counts = average_over_layers(group, lambda one: float(one.statistics.components[_PLACE]))
        energy = compute_cumulative_energy(compute_random_values(group[0].shape))
        types[name] = {
            "shape": group[0].shape, "layers": layers, "counts": counts, "experts": count_experts(group),
            "random": int(np.searchsorted(energy, 0.9)) + 1,
        }  # fmt: skip
    return {"name": analysis.name, "types": types}


def draw(data: Data, theme: Theme) -> Figure:
    grid = PanelGrid.of(len(data["types"]))
    paper = make_sheet(theme, grid.total + grid.room_below(_FOOT), title(data))
    for index, (name, one) in enumerate(data["types"].items()):
        grid.name(paper, index, f"{name}  {format_shape(one['shape'])}", _describe_component_span(one))
        axes = grid.panel(paper, index)
        set_layer_axis(axes, one["layers"])
        set_value_axis(axes, [one["counts"], float(one["random"])])
        draw_reference_level(
            axes, one["random"], f"random {one['random']:,}", theme, [(one["layers"], one["counts"])]
        )
        draw_series_line(axes, one["layers"], one["counts"], theme.accent)
    grid.write_note(paper, _FOOT)
    return paper.figure


def _describe_component_span(one: dict[str, Any]) -> str:
    counts = one["counts"]
    span = f"{counts.min():,.0f}" if len(counts) == 1 else f"{counts.min():,.0f} to {counts.max():,.0f}"
    return f"{span} of {min(one['shape']):,}"


def title(data: Data) -> str:
    shares = {name: float(np.mean(one["counts"])) / one["random"] for name, one in data["types"].items()}
    low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    most = (
        f", {shorten_title_name(high)} most ({format_ratio(shares[high])})"
        if shares[high] > shares[low]
        else ""
    )
    return (
        f"{data['name']}: for 90% of the energy {shorten_title_name(low)} needs {format_ratio(shares[low])} "
        f"of the components of a random matrix{most}"
    )


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{name} {_describe_component_span(one)} (random {one['random']:,})"
        for name, one in data["types"].items()
    )
    experts = (
        " Of experts the mean is drawn." if any(one["experts"] > 1 for one in data["types"].values()) else ""
    )
    return (
        "The number of largest singular values whose squares make up 90% of the sum of all squares, for "
        f"every weight matrix. {rows}. Dashed: the same for a random matrix of that shape (Marchenko and "
        f"Pastur). Panels have axes of their own, which do not begin at 0.{experts}"
    )
