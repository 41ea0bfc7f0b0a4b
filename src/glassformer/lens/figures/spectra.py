"""Singular values: every spectrum of a type, in units of the edge that a random matrix of its norm has.

Independent weights with the same Frobenius norm would end at 1.
"""

from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.lens.curve_points import choose_curve_components
from glassformer.lens.figures.grid import shorten_title_name
from glassformer.lens.figures.groups import (
    average_over_layers,
    count_experts,
    group_by_type,
    keep_largest_groups,
)
from glassformer.lens.figures.head import FEW, limit_log_ticks
from glassformer.lens.figures.lines import DASHED
from glassformer.lens.figures.random_spectra import compute_random_edge, compute_random_values
from glassformer.lens.figures.variance import choose_line_colours, draw_layer_fans
from glassformer.lens.results import Analysis, MatrixResult
from glassformer.pictures.picture import Data

_POINTS = 160  # of a curve: places evenly spaced on a logarithmic scale
_LEAST = 1e-6  # of the edge: smaller ones are not drawn
_CROWD = 0.97  # of the components set the scale; the smallest of a square matrix fall far below them
_FOOT = (
    "Both axes logarithmic; 1 is where the singular values of a random matrix of the same Frobenius "
    "norm end. Dashed: that matrix. \u03b1: exponent of a power law fitted to the tail of "
    "\u03c3\u00b2, mean over the layers."
)


def compute(analysis: Analysis) -> Data:
    types = {}
    for name, group in keep_largest_groups(group_by_type(analysis, needs_layer=False)).items():
        shape = group[0].shape
        places = choose_curve_components(min(shape), _POINTS) + 1
        layers, curves = average_over_layers(group, partial(_pick_components, places))
        _, outside = average_over_layers(group, lambda one: float((_divide_by_edge(one) > 1).sum()))
        alphas = np.array([one.statistics.alpha for one in group])
        if not curves.any():
            continue
        types[name] = {
            "shape": shape, "layers": layers, "places": places, "curves": curves, "outside": outside,
            "random": (compute_random_values(shape) / compute_random_edge(shape))[places - 1],
            "experts": count_experts(group), "is_layered": group[0].weight.layer is not None,
            "alphas": alphas,
        }  # fmt: skip
    if not types:
        raise UserError("all weights are 0")
    return {"name": analysis.name, "types": types}


def _divide_by_edge(one: MatrixResult) -> Float[np.ndarray, "component"]:
    """Singular values over the edge for the matrix's shape and norm."""
    norm = float(np.linalg.norm(one.values)) or 1.0
    return np.asarray(one.values / (norm * compute_random_edge(one.shape)))


def _pick_components(
    numbers: Int[np.ndarray, "component"], one: MatrixResult
) -> Float[np.ndarray, "component"]:
    """The singular values with these numbers, counted from 1."""
    return np.asarray(_divide_by_edge(one)[numbers - 1])


def draw(data: Data, theme: Theme) -> Figure:
    return draw_layer_fans(data, theme, title(data), _FOOT, _describe_edge_excess, _draw_spectrum_curves)


def _draw_spectrum_curves(axes: Axes, one: dict[str, Any], layers: tuple[int, ...], theme: Theme) -> None:
    places, curves = one["places"], one["curves"]
    width = 0.9 if len(one["layers"]) < 20 else 0.5
    dots = {"marker": "o", "markersize": 2.0} if len(places) <= FEW else {}
    axes.axhline(1, color=theme.ink, linewidth=0.7)
    for colour, curve in zip(choose_line_colours(one, layers, theme), curves, strict=True):
        seen = curve > _LEAST
        axes.plot(places[seen], curve[seen], color=colour, linewidth=width, **dots)
    axes.plot(places, one["random"], color=theme.ink, linewidth=0.9, linestyle=DASHED)
    axes.set_xscale("log")
    axes.set_yscale("log")
    crowd = curves[:, places <= _CROWD * places[-1]] if len(places) > FEW else curves
    low = float(crowd[crowd > _LEAST].min(initial=0.5))
    axes.set_ylim(low / 1.3, 1.3 * float(curves.max(initial=1.0)))
    axes.set_xlim(0.9, places[-1] * 1.15)
    limit_log_ticks(axes)
    _label_components(axes, int(places[-1]))
    axes.set_xlabel("component")
    axes.set_ylabel("\u03c3 / edge")


def _label_components(axes: Axes, last: int) -> None:
    """Powers of ten, and the last component where it is far from one."""
    from matplotlib.ticker import NullLocator

    powers = [10**power for power in range(6) if 10**power <= last]
    ticks = [*powers, last] if last > 3.5 * powers[-1] or 1 < last <= FEW else powers
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def _describe_edge_excess(one: dict[str, Any]) -> str:
    low, high = int(one["outside"].min()), int(one["outside"].max())
    outside = f"{low}" if low == high else f"{low} to {high}"
    known = one["alphas"][np.isfinite(one["alphas"])]
    alpha = f"\u03b1 {known.mean():.1f}; " if known.size else ""
    return f"{alpha}{outside} above the edge"


def title(data: Data) -> str:
    tops = {name: float(one["curves"][:, 0].max()) for name, one in data["types"].items()}
    most = max(tops, key=tops.__getitem__)
    one = data["types"][most]
    layer = one["layers"][int(np.argmax(one["curves"][:, 0]))]
    where = f"{shorten_title_name(most)} in layer {layer}" if one["is_layered"] else shorten_title_name(most)
    return (
        f"{data['name']}: the largest singular value of {where} is {tops[most]:.2f} times the edge "
        "of a random matrix"
    )


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{name}: {_describe_edge_excess(one)}{_format_alpha_span(one)}"
        for name, one in data["types"].items()
    )
    experts = (
        " Of experts the mean is drawn and counted."
        if any(one["experts"] > 1 for one in data["types"].values())
        else ""
    )
    return (
        "Singular values by falling size, every layer a line in the colour of the strip, divided by the "
        "upper edge of the law of Marchenko and Pastur for independent weights of the same shape and "
        f"Frobenius norm, |W| (1/sqrt(rows) + 1/sqrt(columns)). {rows}. Dashed: that law's quantiles. The "
        "power law is fitted to the tail of the squared singular values by maximum likelihood; a fit is no "
        f"proof of a power law. The last 3% of the components may fall below the panel.{experts}"
    )


def _format_alpha_span(one: dict[str, Any]) -> str:
    known = one["alphas"][np.isfinite(one["alphas"])]
    return f", alpha from {known.min():.2f} to {known.max():.2f}" if known.size > 1 else ""
