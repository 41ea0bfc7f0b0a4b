"""Biases: the four terms of a score, x'Ay, b_q'Ky, x'Q'b_k and b_q'b_k, over the layers."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import foot_height, sheet, write_foot
from glassformer.draw.picture import Data
from glassformer.draw.spectra.grid import Grid
from glassformer.draw.spectra.groups import head_grid, kernels_of, layers_with_heads
from glassformer.draw.spectra.head import short_log_ticks
from glassformer.draw.spectra.lines import layer_axis
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.spectra.results import Analysis
from glassformer.spectra.words import sized

TERMS = {
    "content": "content x\u2032Ay: |A|",
    "key_only": "key only: |b_q\u2032K|",
    "query_position": "query only: |Q\u2032b_k|",
    "position": "constant: |b_q\u2032b_k|",
}
WHOSE = {"key_only": "query", "query_position": "key"}  # the bias that a term comes from
FOOT = "Every head a point, the line their median; logarithmic, one scale for all. Zeros are not drawn."


def compute(analysis: Analysis) -> Data:
    found = [one for one in kernels_of(analysis, "QK") if one.biases is not None]
    if not found:
        raise UserError("the queries and keys of this model have no biases")
    layers = tuple(
        layer for layer in layers_with_heads(analysis) if any(one.head.layer == layer for one in found)
    )
    terms = {
        term: head_grid(found, lambda one, term=term: float(getattr(one.biases, term)), layers)  # type: ignore[misc]
        for term in TERMS
    }
    return {"name": analysis.name, "layers": layers, "terms": terms}


def draw(data: Data, theme: Theme) -> Figure:
    grid = Grid.of(len(TERMS), height=3.6)
    paper = sheet(theme, grid.total + foot_height(FOOT), title(data))
    for index, (term, heading) in enumerate(TERMS.items()):
        grid.name(paper, index, heading, said_of(data, term))
        axes = grid.panel(paper, index)
        draw_term(axes, data, term, theme)
    write_foot(paper, FOOT)
    return paper.figure


def draw_term(axes: Axes, data: Data, term: str, theme: Theme) -> None:
    every = np.concatenate([values[values > 0] for values in data["terms"].values()])
    low, high = (float(every.min()), float(every.max())) if every.size else (0.1, 1.0)
    values = np.where(data["terms"][term] > 0, data["terms"][term], np.nan)
    axes.set_yscale("log")
    axes.set_ylim(low / 1.8, high * 1.8)
    layer_axis(axes, data["layers"])
    short_log_ticks(axes)
    for layer, heads in zip(data["layers"], values, strict=True):
        seen = heads[np.isfinite(heads)]
        axes.scatter(np.full(len(seen), layer), seen, s=5, color=theme.accent, alpha=0.55, linewidths=0)
    seen = np.isfinite(values).any(1)
    medians = [float(np.nanmedian(heads)) for heads in values[seen]]
    axes.plot(np.asarray(data["layers"])[seen], medians, color=theme.ink, linewidth=1.1)


def said_of(data: Data, term: str) -> str:
    values = data["terms"][term]
    row, head = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return (
        f"median {sized(float(np.nanmedian(values)))}, largest {sized(float(values[row, head]))} "
        f"(L{data['layers'][row]} h{head})"
    )


def title(data: Data) -> str:
    content = np.where(data["terms"]["content"] > 0, data["terms"]["content"], np.nan)
    ratios = {name: data["terms"][term] / content for term, name in WHOSE.items()}
    most = max(ratios, key=lambda name: float(np.nanmedian(ratios[name])))
    ratio = ratios[most]
    row, head = np.unravel_index(int(np.nanargmax(ratio)), ratio.shape)
    return (
        f"{data['name']}: the term of the {most} bias is {sized(float(np.nanmedian(ratio)))} times the "
        "content's in the "
        f"median head, {sized(float(ratio[row, head]))} times in layer {data['layers'][row]} head {head}"
    )


def caption(data: Data) -> str:
    rows = "; ".join(f"{heading}: {said_of(data, term)}" for term, heading in TERMS.items())
    return (
        "A score with biases is (Qx + b_q)'(Ky + b_k) = x'Ay + b_q'Ky + x'Q'b_k + b_q'b_k. Sizes of the "
        "four: "
        f"{rows}. The first is a Frobenius norm, the next two are lengths of vectors and the last a "
        "magnitude, so "
        "that they say how large a term can be for inputs of length 1, not how large it is on text. The "
        "terms "
        "of the query alone and the constant are the same for every key without rotary positions, and "
        "softmax "
        "takes them away; with rotary positions they depend on the distance."
    )
