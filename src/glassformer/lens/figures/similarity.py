"""Similarity of layers: how alike the leading directions of a weight type are, layer against layer."""

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.lens.figures.grid import PanelGrid, shorten_title_name
from glassformer.lens.figures.groups import MOST_TYPES, order_type
from glassformer.lens.results import Analysis
from glassformer.lens.words import format_ratio
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.parts.matrices import draw_scale_bar, make_share_colours, name_ticks
from glassformer.pictures.picture import Data

_BAR = 1.0  # cm: scale with its ticks and name
_CROWD, _FAR = 0.99, 0.25  # share of the pairs that the scale is for, where the rest is so much farther


def compute(analysis: Analysis) -> Data:
    found = analysis.relations
    if found is None or not found.similarity or len(found.layers) < 2:
        raise UserError("there are no two layers whose leading directions could be compared")
    names = sorted(found.similarity, key=order_type)[:MOST_TYPES]
    return {
        "name": analysis.name, "top": found.top, "chance": found.chance, "layers": found.layers,
        "similarity": {name: found.similarity[name] for name in names},
        "left_out": len(found.similarity) - len(names),
    }  # fmt: skip


def draw(data: Data, theme: Theme) -> Figure:
    maps, foot = data["similarity"], _describe_similarity_foot(data)
    grid = PanelGrid.of_squares(len(maps))
    paper = make_sheet(theme, grid.total + grid.room_below(foot, _BAR), title(data))
    every = np.concatenate([_select_layer_pairs(values) for values in maps.values()])
    low, high = _choose_scale_ends(every, data["chance"])
    colours = make_share_colours(theme).with_extremes(bad=theme.paper)
    names = [str(layer) for layer in data["layers"]]
    for index, (name, values) in enumerate(maps.items()):
        grid.name(paper, index, name, _describe_pair_similarity(values, data["layers"]))
        axes = grid.panel(paper, index)
        shown = np.where(np.eye(len(values), dtype=bool), np.nan, values)
        image = axes.imshow(shown, colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
        name_ticks(axes, names, names)
        axes.tick_params(top=False, labeltop=False, labelbottom=True)
        axes.set_xlabel("layer")
    bar = paper.axes(*grid.key_corner(), min(5.0, grid.width - 0.4), 0.2)
    is_cut = bool(every.max() > high)
    draw_scale_bar(bar, image, theme, "mean squared cosine", ticks=(low, (low + high) / 2, high))
    bar.set_xticklabels(
        [format_ratio(low), format_ratio((low + high) / 2), is_cut * "\u2265 " + format_ratio(high)]
    )
    grid.write_note(paper, foot, _BAR)
    return paper.figure


def _choose_scale_ends(every: Float[np.ndarray, "pair"], chance: float) -> tuple[float, float]:
    """Chance is within; a few pairs far above all others do not make these pale."""
    low, high = min(float(every.min()), chance), float(every.max())
    crowd = float(np.quantile(every, _CROWD))
    high = crowd if high - crowd > _FAR * (crowd - low) > 0 else high
    return low, high if high > low else low + 0.01


def _select_layer_pairs(values: Float[np.ndarray, "layer layer"]) -> Float[np.ndarray, "pair"]:
    """Of two different layers."""
    found = values[~np.eye(len(values), dtype=bool)]
    return np.asarray(found[np.isfinite(found)])


def _average_neighbours(values: Float[np.ndarray, "layer layer"], layers: tuple[int, ...]) -> float:
    """Mean over a layer and the next; nan where no two follow each other."""
    near = values[np.abs(np.subtract.outer(layers, layers)) == 1]
    return float(near[np.isfinite(near)].mean()) if np.isfinite(near).any() else np.nan


def _describe_pair_similarity(values: Float[np.ndarray, "layer layer"], layers: tuple[int, ...]) -> str:
    near, every = _average_neighbours(values, layers), float(_select_layer_pairs(values).mean())
    return (
        f"neighbours {format_ratio(near)}, all pairs {format_ratio(every)}"
        if near == near
        else f"all pairs {format_ratio(every)}"
    )


def _describe_similarity_foot(data: Data) -> str:
    left_out = f" {data['left_out']} more types are not drawn." if data["left_out"] else ""
    return (
        f"The {data['top']} leading directions on the stream's side; chance {format_ratio(data['chance'])}. "
        f"The scale does not begin at 0; the diagonal, always 1, is blank.{left_out}"
    )


def title(data: Data) -> str:
    near = {name: _average_neighbours(values, data["layers"]) for name, values in data["similarity"].items()}
    has_near = any(value == value for value in near.values())
    alike = (
        near
        if has_near
        else {name: _select_layer_pairs(values).mean() for name, values in data["similarity"].items()}
    )
    most = max(alike, key=lambda name: np.nan_to_num(alike[name]))
    times = alike[most] / data["chance"]
    which = "neighbouring layers" if has_near else "layers"
    return f"{data['name']}: {which} are most alike in {shorten_title_name(most)}, {times:.1f} times chance"


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{name}: {_describe_pair_similarity(values, data['layers'])}"
        for name, values in data["similarity"].items()
    )
    return (
        f"Mean squared cosine between the {data['top']} leading singular directions, on the side of the "
        "residual stream, of two layers' matrices of one type: 1 for the same subspace, "
        f"{format_ratio(data['chance'])} for two random ones. {rows}. The diagonal is blank; the scale runs "
        "over what is drawn, with chance within. Directions are compared, not what is stored along them. "
        + _describe_similarity_foot(data)
    )
