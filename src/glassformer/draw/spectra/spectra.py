"""Singular values: every spectrum of a type, in units of the edge that a random matrix of its norm has.

Independent weights with the same Frobenius norm would end at 1.
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.picture import Data
from glassformer.draw.spectra.grid import in_title
from glassformer.draw.spectra.groups import by_type, experts_in, fitting, over_layers
from glassformer.draw.spectra.head import FEW, short_log_ticks
from glassformer.draw.spectra.lines import DASHED
from glassformer.draw.spectra.random_spectra import edge, random_values
from glassformer.draw.spectra.variance import draw_fans, line_colours
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.spectra.results import Analysis, MatrixResult

POINTS = 160  # of a curve: places evenly spaced on a logarithmic scale
LEAST = 1e-6  # of the edge: smaller ones are not drawn
CROWD = 0.97  # of the components set the scale; the smallest of a square matrix fall far below them
FOOT = (
    "Both axes logarithmic; 1 is where the singular values of a random matrix of the same Frobenius norm "
    "end. "
    "Dashed: that matrix. \u03b1: exponent of a power law fitted to the tail of \u03c3\u00b2, mean over "
    "the layers."
)


def compute(analysis: Analysis) -> Data:
    types = {}
    for name, group in fitting(by_type(analysis, needs_layer=False)).items():
        shape = group[0].shape
        places = log_places(min(shape))
        layers, curves = over_layers(group, lambda one, places=places: in_edges(one)[places - 1])  # type: ignore[misc]
        _, outside = over_layers(group, lambda one: float((in_edges(one) > 1).sum()))
        alphas = np.array([one.statistics.alpha for one in group])
        if not curves.any():
            continue
        types[name] = {
            "shape": shape, "layers": layers, "places": places, "curves": curves, "outside": outside,
            "random": (random_values(shape) / edge(shape))[places - 1], "experts": experts_in(group),
            "is_layered": group[0].weight.layer is not None,
            "alphas": alphas,
        }  # fmt: skip
    if not types:
        raise UserError("all weights are 0")
    return {"name": analysis.name, "types": types}


def log_places(count: int) -> np.ndarray:
    """Components that a curve is drawn at: all at first, then ever fewer."""
    return np.unique(np.geomspace(1, count, POINTS).round().astype(int))


def in_edges(one: MatrixResult) -> Float[np.ndarray, "component"]:
    """Singular values over the edge for the matrix's shape and norm."""
    norm = float(np.linalg.norm(one.values)) or 1.0
    return np.asarray(one.values / (norm * edge(one.shape)))


def draw(data: Data, theme: Theme) -> Figure:
    return draw_fans(data, theme, title(data), FOOT, said_of, draw_type)


def draw_type(axes: Axes, one: dict[str, Any], layers: tuple[int, ...], theme: Theme) -> None:
    places, curves = one["places"], one["curves"]
    width = 0.9 if len(one["layers"]) < 20 else 0.5
    dots = {"marker": "o", "markersize": 2.0} if len(places) <= FEW else {}
    axes.axhline(1, color=theme.ink, linewidth=0.7)
    for colour, curve in zip(line_colours(one, layers, theme), curves, strict=True):
        seen = curve > LEAST
        axes.plot(places[seen], curve[seen], color=colour, linewidth=width, **dots)
    axes.plot(places, one["random"], color=theme.ink, linewidth=0.9, linestyle=DASHED)
    axes.set_xscale("log")
    axes.set_yscale("log")
    crowd = curves[:, places <= CROWD * places[-1]] if len(places) > FEW else curves
    low = float(crowd[crowd > LEAST].min(initial=0.5))
    axes.set_ylim(low / 1.3, 1.3 * float(curves.max(initial=1.0)))
    axes.set_xlim(0.9, places[-1] * 1.15)
    short_log_ticks(axes)
    name_places(axes, int(places[-1]))
    axes.set_xlabel("component")
    axes.set_ylabel("\u03c3 / edge")


def name_places(axes: Axes, last: int) -> None:
    """Powers of ten, and the last component where it is far from one."""
    from matplotlib.ticker import NullLocator

    powers = [10**power for power in range(6) if 10**power <= last]
    ticks = [*powers, last] if last > 3.5 * powers[-1] or 1 < last <= FEW else powers
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def said_of(one: dict[str, Any]) -> str:
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
    where = f"{in_title(most)} in layer {layer}" if one["is_layered"] else in_title(most)
    return (
        f"{data['name']}: the largest singular value of {where} is {tops[most]:.2f} times the edge "
        "of a random matrix"
    )


def caption(data: Data) -> str:
    rows = "; ".join(f"{name}: {said_of(one)}{alpha_span(one)}" for name, one in data["types"].items())
    experts = (
        " Of experts the mean is drawn and counted."
        if any(one["experts"] > 1 for one in data["types"].values())
        else ""
    )
    return (
        "Singular values by falling size, every layer a line in the colour of the strip, "
        "divided by the "
        "upper edge of the law of Marchenko and Pastur for independent weights of the same shape and "
        f"Frobenius norm, |W| (1/sqrt(rows) + 1/sqrt(columns)). {rows}. Dashed: that law's quantiles. The "
        "power "
        "law is fitted to the tail of the squared singular values by maximum likelihood; a fit is no proof "
        "of a "
        f"power law. The last 3% of the components may fall below the panel.{experts}"
    )


def alpha_span(one: dict[str, Any]) -> str:
    known = one["alphas"][np.isfinite(one["alphas"])]
    return f", alpha from {known.min():.2f} to {known.max():.2f}" if known.size > 1 else ""
