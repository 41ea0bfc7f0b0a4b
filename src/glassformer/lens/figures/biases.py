"""Biases: the four terms of a score, x'Ay, b_q'Ky, x'Q'b_k and b_q'b_k, over the layers."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.lens.figures.grid import PanelGrid
from glassformer.lens.figures.groups import list_head_layers, make_head_grid, select_kernels
from glassformer.lens.figures.head import limit_log_ticks
from glassformer.lens.figures.lines import set_layer_axis
from glassformer.lens.results import Analysis
from glassformer.lens.words import format_sized_number
from glassformer.pictures.parts.frame import make_sheet, measure_foot_height, write_foot
from glassformer.pictures.picture import Data

_TERMS = {
    "content": "content x\u2032Ay: |A|",
    "key_only": "key only: |b_q\u2032K|",
    "query_position": "query only: |Q\u2032b_k|",
    "position": "constant: |b_q\u2032b_k|",
}
_WHOSE = {"key_only": "query", "query_position": "key"}  # the bias that a term comes from
_FOOT = "Every head a point, the line their median; logarithmic, one scale for all. Zeros are not drawn."


def compute(analysis: Analysis) -> Data:
    found = [one for one in select_kernels(analysis, "QK") if one.biases is not None]
    if not found:
        raise UserError("the queries and keys of this model have no biases")
    layers = tuple(
        layer for layer in list_head_layers(analysis) if any(one.head.layer == layer for one in found)
    )
    terms = {
        term: make_head_grid(found, lambda one, term=term: float(getattr(one.biases, term)), layers)  # type: ignore[misc]
        for term in _TERMS
    }
    return {"name": analysis.name, "layers": layers, "terms": terms}


def draw(data: Data, theme: Theme) -> Figure:
    grid = PanelGrid.of(len(_TERMS), height=3.6)
    paper = make_sheet(theme, grid.total + measure_foot_height(_FOOT), title(data))
    for index, (term, heading) in enumerate(_TERMS.items()):
        grid.name(paper, index, heading, _describe_bias_term(data, term))
        axes = grid.panel(paper, index)
        _draw_bias_term(axes, data, term, theme)
    write_foot(paper, _FOOT)
    return paper.figure


def _draw_bias_term(axes: Axes, data: Data, term: str, theme: Theme) -> None:
    every = np.concatenate([values[values > 0] for values in data["terms"].values()])
    low, high = (float(every.min()), float(every.max())) if every.size else (0.1, 1.0)
    values = np.where(data["terms"][term] > 0, data["terms"][term], np.nan)
    axes.set_yscale("log")
    axes.set_ylim(low / 1.8, high * 1.8)
    set_layer_axis(axes, data["layers"])
    limit_log_ticks(axes)
    for layer, heads in zip(data["layers"], values, strict=True):
        seen = heads[np.isfinite(heads)]
        axes.scatter(np.full(len(seen), layer), seen, s=5, color=theme.accent, alpha=0.55, linewidths=0)
    seen = np.isfinite(values).any(1)
    medians = [float(np.nanmedian(heads)) for heads in values[seen]]
    axes.plot(np.asarray(data["layers"])[seen], medians, color=theme.ink, linewidth=1.1)


def _describe_bias_term(data: Data, term: str) -> str:
    values = data["terms"][term]
    row, head = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return (
        f"median {format_sized_number(float(np.nanmedian(values)))}, largest "
        f"{format_sized_number(float(values[row, head]))} (L{data['layers'][row]} h{head})"
    )


def title(data: Data) -> str:
    content = np.where(data["terms"]["content"] > 0, data["terms"]["content"], np.nan)
    ratios = {name: data["terms"][term] / content for term, name in _WHOSE.items()}
    most = max(ratios, key=lambda name: float(np.nanmedian(ratios[name])))
    ratio = ratios[most]
    row, head = np.unravel_index(int(np.nanargmax(ratio)), ratio.shape)
    return (
        f"{data['name']}: the term of the {most} bias is {format_sized_number(float(np.nanmedian(ratio)))} "
        f"times the content's in the median head, {format_sized_number(float(ratio[row, head]))} times in "
        f"layer {data['layers'][row]} head {head}"
    )


def caption(data: Data) -> str:
    rows = "; ".join(f"{heading}: {_describe_bias_term(data, term)}" for term, heading in _TERMS.items())
    return (
        "A score with biases is (Qx + b_q)'(Ky + b_k) = x'Ay + b_q'Ky + x'Q'b_k + b_q'b_k. Sizes of the "
        f"four: {rows}. The first is a Frobenius norm, the next two are lengths of vectors and the last a "
        "magnitude, so that they say how large a term can be for inputs of length 1, not how large it is on "
        "text. The terms of the query alone and the constant are the same for every key without rotary "
        "positions, and softmax takes them away; with rotary positions they depend on the distance."
    )
