"""Composition: how much a head's queries, keys and values read of what an earlier head writes."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme, list_line_colours, name_colour
from glassformer.lens.figures.grid import PanelGrid
from glassformer.lens.figures.lines import (
    draw_reference_level,
    draw_series_line,
    set_layer_axis,
    set_value_axis,
)
from glassformer.lens.relations import find_strongest_compositions
from glassformer.lens.results import Analysis
from glassformer.lens.words import format_ratio
from glassformer.pictures.parts.frame import BODY, SMALL, Frame, make_sheet, measure_foot_height, write_foot
from glassformer.pictures.parts.matrices import draw_scale_bar, make_share_colours, name_ticks
from glassformer.pictures.picture import Data

_STRONGEST = 12  # pairs of heads that are named
_ROW, _BAR, _RANKED = 0.42, 1.0, 0.75  # cm: a named pair; the scale bar; heading of the list
_NAMES = {"Q": "queries", "K": "keys", "V": "values"}


def compute(analysis: Analysis) -> Data:
    found = analysis.relations
    if found is None or not found.composition or not found.pairs:
        raise UserError("there are no heads of two layers whose composition was computed")
    if not any(scores.any() for scores in found.composition.values()):
        raise UserError("no head reads anything that another writes")
    kinds = {
        kind: {
            "strongest": np.nanmax(scores, axis=(1, 2)), "mean": np.nanmean(scores, axis=(1, 2)),
            "chance": found.composition_chance[kind],
        }
        for kind, scores in found.composition.items()
    }  # fmt: skip
    return {
        "name": analysis.name, "pairs": np.array(found.pairs), "kinds": kinds,
        "ranked": [
            [one.score, one.by, *one.writer, *one.reader]
            for one in find_strongest_compositions(found, _STRONGEST)
        ],
        "scores": int(sum(scores.size for scores in found.composition.values())),
    }  # fmt: skip


def draw(data: Data, theme: Theme) -> Figure:
    is_near = bool((data["pairs"][:, 1] - data["pairs"][:, 0] == 1).all())
    grid = (
        PanelGrid.of(len(data["kinds"]), height=3.6) if is_near else PanelGrid.of_squares(len(data["kinds"]))
    )
    middle = grid.total + (0 if is_near else _BAR)
    foot = _describe_composition_foot(data)
    paper = make_sheet(
        theme, middle + _RANKED + _ROW * len(data["ranked"]) + 1.0 + measure_foot_height(foot), title(data)
    )
    (_draw_composition_courses if is_near else _draw_composition_maps)(paper, grid, data, theme)
    _draw_strongest_pairs(paper.part(0, middle, paper.width, 1.0), data, theme)
    write_foot(paper, foot)
    return paper.figure


def _draw_composition_courses(paper: Frame, grid: PanelGrid, data: Data, theme: Theme) -> None:
    """Neighbouring layers: the strongest pair of heads and the mean, over the reading layer."""
    readers = [int(layer) for layer in data["pairs"][:, 1]]
    every = [part[key] for part in data["kinds"].values() for key in ("strongest", "mean")]
    colours = list_line_colours(len(data["kinds"]), theme)
    for index, (kind, one) in enumerate(data["kinds"].items()):
        grid.name(
            paper,
            index,
            f"{kind}: {_NAMES.get(kind, kind)} read the layer before",
            _describe_composition_scores(one),
        )
        axes = grid.panel(paper, index)
        set_layer_axis(axes, readers, "reading layer")
        set_value_axis(axes, [*every, one["chance"]])
        draw_reference_level(axes, one["chance"], "", theme)
        draw_series_line(axes, readers, one["strongest"], colours[index])
        draw_series_line(axes, readers, one["mean"], theme.muted, 0.8)


def _draw_composition_maps(paper: Frame, grid: PanelGrid, data: Data, theme: Theme) -> None:
    """All pairs of layers: the strongest pair of heads of each."""
    layers = sorted({int(layer) for layer in data["pairs"].ravel()})
    top = max(float(one["strongest"].max()) for one in data["kinds"].values())
    low = min(float(one["strongest"].min()) for one in data["kinds"].values())
    names = [str(layer) for layer in layers]
    for index, (kind, one) in enumerate(data["kinds"].items()):
        grid.name(paper, index, f"{kind}: strongest pair of heads", _describe_composition_scores(one))
        axes = grid.panel(paper, index)
        values = np.full((len(layers), len(layers)), np.nan)
        for (writer, reader), score in zip(data["pairs"], one["strongest"], strict=True):
            values[layers.index(int(writer)), layers.index(int(reader))] = score
        colours = make_share_colours(theme).with_extremes(bad=theme.paper)
        image = axes.imshow(values, colours, vmin=low, vmax=top if top > low else low + 1, aspect="auto")
        name_ticks(axes, names, names)
        axes.tick_params(top=False, labeltop=False, labelbottom=True)
        axes.set_xlabel("reading layer")
        axes.set_ylabel("writing layer" if index == 0 else "")
    bar = paper.axes(0.75, grid.total + 0.1, 5.0, 0.2)
    draw_scale_bar(bar, image, theme, ticks=(low, (low + top) / 2, top))
    bar.set_xticklabels([format_ratio(tick) for tick in (low, (low + top) / 2, top)])


def _draw_strongest_pairs(part: Frame, data: Data, theme: Theme) -> None:
    """The strongest pairs as bars, with the mean of random heads as a line."""
    rows = data["ranked"]
    part.write(
        0, 0.05, f"the {len(rows)} strongest pairs" if len(rows) > 1 else "the only pair", BODY, weight="bold"
    )
    axes = part.axes(5.6, _RANKED - 0.1, 9.2, _ROW * len(rows))
    kinds = list(data["kinds"])
    colours = dict(zip(kinds, list_line_colours(len(kinds), theme), strict=True))
    places = np.arange(len(rows))
    axes.barh(places, [row[0] for row in rows], height=0.62, color=[colours[row[1]] for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(places, [_format_head_pair(row) for row in rows])
    largest = max(row[0] for row in rows) or 1.0
    axes.set_xlim(0, max(largest, data["kinds"][kinds[0]]["chance"]) * 1.16)
    for place, row in zip(places, rows, strict=True):
        axes.text(row[0] + 0.01 * largest, place, format_ratio(row[0]), va="center", fontsize=SMALL)
    _draw_chance_line(axes, data, theme)
    axes.set_xlabel("composition score")


def _draw_chance_line(axes: Axes, data: Data, theme: Theme) -> None:
    for chance in {one["chance"] for one in data["kinds"].values()}:
        axes.axvline(chance, color=theme.ink, linewidth=0.8, linestyle=(0, (4, 2)))


def _format_head_pair(row: list[object]) -> str:
    _, kind, writer_layer, writer, reader_layer, reader = row
    return f"L{writer_layer} h{writer} \u2192 {kind} of L{reader_layer} h{reader}"


def _describe_composition_scores(one: dict[str, Any]) -> str:
    return f"up to {format_ratio(float(one['strongest'].max()))}; chance {format_ratio(one['chance'])}"


def _describe_composition_foot(data: Data) -> str:
    is_near = bool((data["pairs"][:, 1] - data["pairs"][:, 0] == 1).all())
    above = (
        f"Coloured: strongest pair of heads, {name_colour('muted')}: mean of all pairs. "
        if is_near
        else "The scale does not begin at 0. "
    )
    return f"{above}Dashed: heads in random directions. Score: |A B| / (|A| |B|) in the Frobenius norm."


def title(data: Data) -> str:
    row = data["ranked"][0]
    chance = data["kinds"][row[1]]["chance"]
    return (
        f"{data['name']}: the {_NAMES.get(row[1], row[1])} of layer {row[4]} head {row[5]} read layer "
        f"{row[2]} head {row[3]} most, at {row[0] / chance:.1f} times chance"
    )


def caption(data: Data) -> str:
    rows = "; ".join(f"{kind}: {_describe_composition_scores(one)}" for kind, one in data["kinds"].items())
    return (
        f"Composition scores of {len(data['pairs'])} pairs of layers ({data['scores']:,} scores): the "
        "Frobenius norm of the product of two kernels over the product of their norms, for what a head "
        "writes (OV) and what a later head's queries, keys or values read (Elhage and others, 2021). "
        f"{rows}. Chance is the root mean square for kernels in random directions, 1 / sqrt(width). A kernel "
        "of low rank scores higher by chance more often than one of high rank, and the largest of many "
        "scores is above chance anyway. Weights are raw."
    )
