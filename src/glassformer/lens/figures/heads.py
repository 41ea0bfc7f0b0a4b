"""Heads: a number of every head's QK and OV kernel, layers across and heads down, raw and treated.

Ranks (S01), or what kind of kernel it is (S02): asymmetry of QK, copying of OV.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.lens.figures.groups import (
    list_head_layers,
    list_treatments,
    make_head_grid,
    require_read_heads,
    select_kernels,
)
from glassformer.lens.figures.maps import (
    ColourScale,
    choose_colour_scale,
    describe_extreme_heads,
    describe_map_frames,
    draw_head_map,
    draw_map_scale,
    find_extreme_head,
    has_one_value,
)
from glassformer.lens.results import Analysis, KernelResult
from glassformer.lens.words import format_head_location, format_rank, format_ratio, order_treatment
from glassformer.pictures.parts.frame import BODY, SMALL, Frame, make_sheet, measure_foot_height, write_foot
from glassformer.pictures.picture import Data

_About = Literal["rank", "character"]
STACKED = 16  # layers from which on two maps alone stand one above the other
CELL = 1.3, 0.55  # cm: a cell's largest width and height
LEAST_CELL = 0.06  # cm
SIDE, ABOVE, BELOW, BAR = 0.85, 0.95, 0.75, 0.85  # cm around a map: heads, title, layers, scale

_NUMBERS: dict[str, dict[str, tuple[str, Callable[[KernelResult], float], bool]]] = {
    "rank": {
        "QK": ("effective rank", lambda one: one.eff_rank, False),
        "OV": ("effective rank", lambda one: one.eff_rank, False),
    },
    "character": {
        "QK": ("asymmetry |A \u2212 A\u2032| / |A|", lambda one: one.asymmetry, False),
        "OV": ("copying score", lambda one: one.copying, True),
    },
}


def compute(analysis: Analysis, about: _About = "rank") -> Data:
    require_read_heads(analysis)
    layers = list_head_layers(analysis)
    maps = []
    for kernel in ("QK", "OV"):
        name, number, is_signed = _NUMBERS[about][kernel]
        for treatment in list_treatments(analysis, kernel) if about == "rank" else ("raw",):
            found = select_kernels(analysis, kernel, treatment)
            maps.append(
                {
                    "kernel": kernel,
                    "treatment": treatment,
                    "number": name,
                    "is_signed": is_signed,
                    "values": make_head_grid(found, number, layers),
                    "size": max(one.size for one in found),
                    "random": float(np.mean([one.random.eff_rank for one in found])),
                }
            )
    return {"about": about, "name": analysis.name, "layers": layers, "maps": maps}


def draw(data: Data, theme: Theme) -> Figure:
    maps, layers = data["maps"], data["layers"]
    rows = _arrange_maps(maps, len(layers))
    columns = max(len(row) for row in rows)
    heads = maps[0]["values"].shape[1]
    wide = min(16.2 / columns - SIDE - 0.15, CELL[0] * len(layers))
    high = min(max(CELL[1] if heads < 20 else 0.3, 1.0 / heads), 20.0 / len(rows) / heads) * heads
    high = max(high, LEAST_CELL * heads)
    block = ABOVE + high + BELOW + BAR
    foot = _describe_heads_foot(data)
    paper = make_sheet(theme, len(rows) * block + measure_foot_height(foot), title(data))
    for down, row in enumerate(rows):
        for across, one in enumerate(row):
            part = paper.part(across * 16.4 / columns, down * block, 16.4 / columns - 0.15, block)
            _draw_kernel_map(part, data, one, wide, high)
    write_foot(paper, foot)
    return paper.figure


def _arrange_maps(maps: list[dict[str, Any]], layers: int) -> list[list[dict[str, Any]]]:
    """Rows of maps: two wide ones above each other, else two in a row, QK and OV of a treatment together."""
    if len(maps) == 2 and layers >= STACKED:
        return [[one] for one in maps]
    order = sorted(maps, key=lambda one: order_treatment(one["treatment"]))
    return [order[start : start + 2] for start in range(0, len(order), 2)]


def _draw_kernel_map(part: Frame, data: Data, one: dict[str, Any], wide: float, high: float) -> None:
    theme, values = part.theme, one["values"]
    treated = "" if one["treatment"] == "raw" else f", {one['treatment']}"
    part.write(0, 0.05, f"{one['kernel']}: {one['number']}{treated}", BODY, weight="bold")
    part.write(0, 0.47, _describe_map_ends(one, data["layers"]), SMALL, part.width, color=theme.muted)
    scale = _choose_kernel_scale(data, one)
    image = draw_head_map(part.axes(SIDE, ABOVE, wide, high), values, data["layers"], scale, theme)
    below = ABOVE + high + BELOW + 0.1
    draw_map_scale(part, SIDE, below, min(5.0, max(wide, 3.0)), image, "", scale.is_cut(values))


def _choose_kernel_scale(data: Data, one: dict[str, Any]) -> ColourScale:
    """One for all maps of a kernel, raw and treated."""
    same = [np.ravel(other["values"]) for other in data["maps"] if other["kernel"] == one["kernel"]]
    return choose_colour_scale(np.concatenate(same), one["is_signed"])


def _describe_map_ends(one: dict[str, Any], layers: tuple[int, ...]) -> str:
    """The smallest and the largest with their heads."""
    said = format_rank if one["number"] == "effective rank" else format_ratio
    if has_one_value(one["values"]):
        count = int(np.isfinite(one["values"]).sum())
        return f"{said(float(np.nanmean(one['values'])))}{' in all heads' * (count > 1)}"
    return describe_extreme_heads(one["values"], layers, said)


def _describe_heads_foot(data: Data) -> str:
    is_framed = any(not has_one_value(one["values"]) for one in data["maps"])
    frames = f"{describe_map_frames()} " * is_framed
    if data["about"] == "rank":
        sizes = "; ".join(
            f"{kernel}: at most {one['size']}, a random head {format_rank(one['random'])}"
            for kernel, one in _select_raw_maps(data).items()
        )
        begins = " The scales do not begin at 0." * any(
            _choose_kernel_scale(data, one).low > 0 for one in data["maps"]
        )
        return f"{frames}{sizes}.{begins}"
    return (
        f"{frames}Asymmetry: 0 symmetric, \u221a2 a random head, 2 antisymmetric. Copying: sum(eig) / "
        "sum|eig|, 1 where directions are written back as they are read, \u22121 where with the other sign."
    )


def _select_raw_maps(data: Data) -> dict[str, dict[str, Any]]:
    """The raw map of each kernel."""
    return {one["kernel"]: one for one in data["maps"] if one["treatment"] == "raw"}


def title(data: Data) -> str:
    raw = _select_raw_maps(data)
    layers = data["layers"]
    if data["about"] == "rank":
        row, head = find_extreme_head(raw["QK"]["values"], "lowest")
        mean = np.nanmean(raw["QK"]["values"])
        if has_one_value(raw["QK"]["values"]):
            every = " in all heads" * (int(np.isfinite(raw["QK"]["values"]).sum()) > 1)
            return (
                f"{data['name']}: QK effective rank is {format_rank(float(mean))} of "
                f"{raw['QK']['size']}{every}"
            )
        return (
            f"{data['name']}: QK effective rank is {format_rank(float(mean))} of {raw['QK']['size']} on "
            f"average, {format_rank(raw['QK']['values'][row, head])} in "
            f"{format_head_location(layers[row], head)}"
        )
    copying = raw["OV"]["values"]
    mean = format_ratio(float(np.nanmean(raw["QK"]["values"])))
    if has_one_value(copying):
        return (
            f"{data['name']}: asymmetry of QK is {mean}, copying score of OV "
            f"{_describe_map_ends(raw['OV'], layers)}"
        )
    row, head = find_extreme_head(copying, "highest")
    return (
        f"{data['name']}: mean asymmetry of QK is {mean}; copying scores of OV reach from "
        f"{format_ratio(float(np.nanmin(copying)))} to {format_ratio(copying[row, head])} "
        f"({format_head_location(layers[row], head)})"
    )


def caption(data: Data) -> str:
    if data["about"] == "character":
        return (
            f"{_describe_map_numbers(data)} Asymmetry |A - A'| / |A| of the QK kernel A = W_Q' W_K in the "
            "Frobenius norm: 0 for a symmetric kernel, 2 for an antisymmetric one, close to the root of 2 "
            "for a random head. The copying score of the OV kernel W_O W_V is sum(eig) / sum|eig| (Elhage "
            "and others, 2021): 1 where all eigenvalues are positive. Both are about the stream's directions "
            "as stored; embeddings, norms and rotary positions are not applied."
        )
    return (
        f"{_describe_map_numbers(data)} Effective rank: exp of the entropy of sigma / sum(sigma), of "
        "each head's QK kernel W_Q' W_K and OV kernel W_O W_V, from float64 problems of the head's "
        "size. The scale runs over the numbers that are there, not from 0; where a few heads lie far "
        "below all others it begins at the 2% quantile. A low rank says that a head compares few "
        "directions, not that it matters less."
    )


def _describe_map_numbers(data: Data) -> str:
    """Mean, spread and ends of each map."""
    parts = []
    for one in data["maps"]:
        values: Float[np.ndarray, "layer head"] = one["values"]
        said = format_rank if one["number"] == "effective rank" else format_ratio
        random = f", random head {said(one['random'])}" if one["number"] == "effective rank" else ""
        parts.append(
            f"{one['kernel']} {one['treatment']}: mean {said(float(np.nanmean(values)))}, standard deviation "
            f"{said(float(np.nanstd(values)))}, {_describe_map_ends(one, data['layers'])}{random}."
        )
    return " ".join(parts)
