"""Heads that changed: how much the effective rank of every head's QK and OV kernel changed, around 0."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.lens.compare import SEEN, Comparison, HeadPair
from glassformer.lens.figures.groups import list_head_layers
from glassformer.lens.figures.heads import ABOVE, BAR, BELOW, CELL, LEAST_CELL, SIDE, STACKED
from glassformer.lens.figures.maps import (
    choose_colour_scale,
    describe_extreme_heads,
    describe_map_frames,
    draw_head_map,
    draw_map_scale,
    find_extreme_head,
)
from glassformer.lens.words import format_head_location, format_signed_rank
from glassformer.pictures.parts.frame import BODY, SMALL, Frame, make_sheet, measure_foot_height, write_foot
from glassformer.pictures.picture import Data

_FOOT = "Effective rank of the second minus that of the first, on a scale around 0. " + describe_map_frames()


def compute(both: Comparison) -> Data:
    if not both.heads:
        raise UserError("the heads of the two models are not the same in number and size")
    if not both.most_changed_heads:
        raise UserError("no head's rank changed")
    layers = list_head_layers(both.first)
    return {
        "names": (both.first.name, both.second.name),
        "layers": layers,
        "maps": [_make_change_map(both.heads, kernel, layers) for kernel in ("QK", "OV")],
        "moved": len(both.most_changed_heads),
        "kernels": len(both.heads),
    }


def _make_change_map(pairs: tuple[HeadPair, ...], kernel: str, layers: tuple[int, ...]) -> dict[str, Any]:
    values = np.full((len(layers), 1 + max(pair.first.head.index for pair in pairs)), np.nan)
    chosen = [pair for pair in pairs if pair.first.kernel == kernel]
    for pair in chosen:
        values[layers.index(pair.first.head.layer), pair.first.head.index] = pair.by
    return {"kernel": kernel, "size": chosen[0].first.size, "values": values}


def draw(data: Data, theme: Theme) -> Figure:
    layers, heads = data["maps"][0]["values"].shape
    columns = 1 if layers >= STACKED else 2
    wide = min(16.2 / columns - SIDE - 0.15, CELL[0] * layers)
    high = max(min(CELL[1] if heads < 20 else 0.3, 10.0 * columns / heads), LEAST_CELL) * heads
    block = ABOVE + high + BELOW + BAR
    paper = make_sheet(theme, (2 // columns) * block + measure_foot_height(_FOOT), title(data))
    for index, one in enumerate(data["maps"]):
        down, across = divmod(index, columns)
        part = paper.part(across * 16.4 / columns, down * block, 16.4 / columns - 0.15, block)
        _draw_change_map(part, data["layers"], one, wide, high)
    write_foot(paper, _FOOT)
    return paper.figure


def _draw_change_map(
    part: Frame, layers: tuple[int, ...], one: dict[str, Any], wide: float, high: float
) -> None:
    values = one["values"]
    part.write(0, 0.05, f"{one['kernel']}: change of the effective rank", BODY, weight="bold")
    part.write(0, 0.47, _describe_change_ends(one, layers), SMALL, part.width, color=part.theme.muted)
    axes = part.axes(SIDE, ABOVE, wide, high)
    if np.nanmax(np.abs(values)) < SEEN:
        values = np.where(np.isfinite(values), 0.0, np.nan)
    image = draw_head_map(axes, values, layers, choose_colour_scale(values, is_signed=True), part.theme)
    draw_map_scale(part, SIDE, ABOVE + high + BELOW + 0.1, min(5.0, max(wide, 3.0)), image, "", False)


def _describe_change_ends(one: dict[str, Any], layers: tuple[int, ...]) -> str:
    """The smallest and the largest with their heads."""
    if np.nanmax(np.abs(one["values"])) < SEEN:
        return "no head's rank changed"
    return describe_extreme_heads(one["values"], layers, format_signed_rank)


def title(data: Data) -> str:
    kernel, row, head, by = _find_most_changed(data)
    many = f"{data['moved']:,} of {data['kernels']:,} kernels"
    place = format_head_location(data["layers"][row], head)
    return f"{many} differ in effective rank; {kernel} of {place} changed most, by {format_signed_rank(by)}"


def _find_most_changed(data: Data) -> tuple[str, int, int, float]:
    """Kernel, row, head and change of the one that moved most."""
    one = max(data["maps"], key=lambda one: float(np.nanmax(np.abs(one["values"]))))
    row, head = find_extreme_head(np.abs(one["values"]), "highest")
    return one["kernel"], row, head, float(one["values"][row, head])


def caption(data: Data) -> str:
    rows = " ".join(
        f"{one['kernel']} (at most {one['size']}): {_describe_change_ends(one, data['layers'])}; mean "
        f"{format_signed_rank(float(np.nanmean(one['values'])))}, mean size "
        f"{format_signed_rank(float(np.nanmean(np.abs(one['values']))))[1:]}."
        for one in data["maps"]
    )
    return (
        f"Effective rank of every head's kernels in {data['names'][1]} minus that in {data['names'][0]}. "
        f"{rows} {_FOOT} A rank that stayed does not say that the head did: it may compare other directions."
    )
