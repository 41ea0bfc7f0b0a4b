"""Composition: how much a head's queries, keys and values read of what an earlier head writes."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import BODY, SMALL, Frame, foot_height, sheet, write_foot
from glassformer.draw.parts.matrices import name_ticks, scale_bar, share_map
from glassformer.draw.picture import Data
from glassformer.draw.spectra.grid import Grid
from glassformer.draw.spectra.lines import layer_axis, level, series_line, value_axis
from glassformer.draw.theme import Theme, kind_colours
from glassformer.errors import UserError
from glassformer.spectra.relations import strongest
from glassformer.spectra.results import Analysis
from glassformer.spectra.words import ratio_text

STRONGEST = 12  # pairs of heads that are named
ROW, BAR, RANKED = 0.42, 1.0, 0.75  # cm: a named pair; the scale bar; heading of the list
NAMES = {"Q": "queries", "K": "keys", "V": "values"}


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
            [one.score, one.by, *one.writer, *one.reader] for one in strongest(found, STRONGEST)
        ],
        "scores": int(sum(scores.size for scores in found.composition.values())),
    }  # fmt: skip


def draw(data: Data, theme: Theme) -> Figure:
    is_near = bool((data["pairs"][:, 1] - data["pairs"][:, 0] == 1).all())
    grid = Grid.of(len(data["kinds"]), height=3.6) if is_near else Grid.of_squares(len(data["kinds"]))
    middle = grid.total + (0 if is_near else BAR)
    foot = foot_text(data)
    paper = sheet(theme, middle + RANKED + ROW * len(data["ranked"]) + 1.0 + foot_height(foot), title(data))
    (draw_courses if is_near else draw_maps)(paper, grid, data, theme)
    draw_ranked(paper.part(0, middle, paper.width, 1.0), data, theme)
    write_foot(paper, foot)
    return paper.figure


def draw_courses(paper: Frame, grid: Grid, data: Data, theme: Theme) -> None:
    """Neighbouring layers: the strongest pair of heads and the mean, over the reading layer."""
    readers = [int(layer) for layer in data["pairs"][:, 1]]
    every = [part[key] for part in data["kinds"].values() for key in ("strongest", "mean")]
    colours = kind_colours(len(data["kinds"]), theme)
    for index, (kind, one) in enumerate(data["kinds"].items()):
        grid.name(paper, index, f"{kind}: {NAMES.get(kind, kind)} read the layer before", said_of(one))
        axes = grid.panel(paper, index)
        layer_axis(axes, readers, "reading layer")
        value_axis(axes, [*every, one["chance"]])
        level(axes, one["chance"], "", theme)
        series_line(axes, readers, one["strongest"], colours[index])
        series_line(axes, readers, one["mean"], theme.muted, 0.8)


def draw_maps(paper: Frame, grid: Grid, data: Data, theme: Theme) -> None:
    """All pairs of layers: the strongest pair of heads of each."""
    layers = sorted({int(layer) for layer in data["pairs"].ravel()})
    top = max(float(one["strongest"].max()) for one in data["kinds"].values())
    low = min(float(one["strongest"].min()) for one in data["kinds"].values())
    names = [str(layer) for layer in layers]
    for index, (kind, one) in enumerate(data["kinds"].items()):
        grid.name(paper, index, f"{kind}: strongest pair of heads", said_of(one))
        axes = grid.panel(paper, index)
        values = np.full((len(layers), len(layers)), np.nan)
        for (writer, reader), score in zip(data["pairs"], one["strongest"], strict=True):
            values[layers.index(int(writer)), layers.index(int(reader))] = score
        colours = share_map(theme).with_extremes(bad=theme.paper)
        image = axes.imshow(values, colours, vmin=low, vmax=top if top > low else low + 1, aspect="auto")
        name_ticks(axes, names, names)
        axes.tick_params(top=False, labeltop=False, labelbottom=True)
        axes.set_xlabel("reading layer")
        axes.set_ylabel("writing layer" if index == 0 else "")
    bar = paper.axes(0.75, grid.total + 0.1, 5.0, 0.2)
    scale_bar(bar, image, theme, ticks=(low, (low + top) / 2, top))
    bar.set_xticklabels([ratio_text(tick) for tick in (low, (low + top) / 2, top)])


def draw_ranked(part: Frame, data: Data, theme: Theme) -> None:
    """The strongest pairs as bars, with the mean of random heads as a line."""
    rows = data["ranked"]
    part.write(
        0, 0.05, f"the {len(rows)} strongest pairs" if len(rows) > 1 else "the only pair", BODY, weight="bold"
    )
    axes = part.axes(5.6, RANKED - 0.1, 9.2, ROW * len(rows))
    kinds = list(data["kinds"])
    colours = dict(zip(kinds, kind_colours(len(kinds), theme), strict=True))
    places = np.arange(len(rows))
    axes.barh(places, [row[0] for row in rows], height=0.62, color=[colours[row[1]] for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(places, [pair_text(row) for row in rows])
    largest = max(row[0] for row in rows) or 1.0
    axes.set_xlim(0, max(largest, data["kinds"][kinds[0]]["chance"]) * 1.16)
    for place, row in zip(places, rows, strict=True):
        axes.text(row[0] + 0.01 * largest, place, ratio_text(row[0]), va="center", fontsize=SMALL)
    chance_line(axes, data, theme)
    axes.set_xlabel("composition score")


def chance_line(axes: Axes, data: Data, theme: Theme) -> None:
    for chance in {one["chance"] for one in data["kinds"].values()}:
        axes.axvline(chance, color=theme.ink, linewidth=0.8, linestyle=(0, (4, 2)))


def pair_text(row: list[Any]) -> str:
    _, kind, writer_layer, writer, reader_layer, reader = row
    return f"L{writer_layer} h{writer} \u2192 {kind} of L{reader_layer} h{reader}"


def said_of(one: dict[str, Any]) -> str:
    return f"up to {ratio_text(float(one['strongest'].max()))}; chance {ratio_text(one['chance'])}"


def foot_text(data: Data) -> str:
    is_near = bool((data["pairs"][:, 1] - data["pairs"][:, 0] == 1).all())
    above = (
        "Coloured: strongest pair of heads, grey: mean of all pairs. "
        if is_near
        else "The scale does not begin at 0. "
    )
    return f"{above}Dashed: heads in random directions. Score: |A B| / (|A| |B|) in the Frobenius norm."


def title(data: Data) -> str:
    row = data["ranked"][0]
    chance = data["kinds"][row[1]]["chance"]
    return (
        f"{data['name']}: the {NAMES.get(row[1], row[1])} of layer {row[4]} head {row[5]} read layer "
        f"{row[2]} head "
        f"{row[3]} most, at {row[0] / chance:.1f} times chance"
    )


def caption(data: Data) -> str:
    rows = "; ".join(f"{kind}: {said_of(one)}" for kind, one in data["kinds"].items())
    return (
        f"Composition scores of {len(data['pairs'])} pairs of layers ({data['scores']:,} scores): the "
        "Frobenius norm of the "
        "product of two kernels over the product of their norms, for what a head writes (OV) and what a "
        "later head's "
        f"queries, keys or values read (Elhage and others, 2021). {rows}. Chance is the root mean square for "
        "kernels in random directions, 1 / sqrt(width). A kernel of low rank scores higher by chance more "
        "often than "
        "one of high rank, and the largest of many scores is above chance anyway. Weights are raw."
    )
