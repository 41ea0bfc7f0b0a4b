"""Similarity of layers: how alike the leading directions of a weight type are, layer against layer."""

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import sheet
from glassformer.draw.parts.matrices import name_ticks, scale_bar, share_map
from glassformer.draw.picture import Data
from glassformer.draw.spectra.grid import Grid, in_title
from glassformer.draw.spectra.groups import MOST_TYPES, place_of
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.spectra.results import Analysis
from glassformer.spectra.words import ratio_text

BAR = 1.0  # cm: scale with its ticks and name
CROWD, FAR = 0.99, 0.25  # share of the pairs that the scale is for, where the rest is so much farther


def compute(analysis: Analysis) -> Data:
    found = analysis.relations
    if found is None or not found.similarity or len(found.layers) < 2:
        raise UserError("there are no two layers whose leading directions could be compared")
    names = sorted(found.similarity, key=place_of)[:MOST_TYPES]
    return {
        "name": analysis.name, "top": found.top, "chance": found.chance, "layers": found.layers,
        "similarity": {name: found.similarity[name] for name in names},
        "left_out": len(found.similarity) - len(names),
    }  # fmt: skip


def draw(data: Data, theme: Theme) -> Figure:
    maps, foot = data["similarity"], foot_text(data)
    grid = Grid.of_squares(len(maps))
    paper = sheet(theme, grid.total + grid.room_below(foot, BAR), title(data))
    every = np.concatenate([others(values) for values in maps.values()])
    low, high = scale_ends(every, data["chance"])
    colours = share_map(theme).with_extremes(bad=theme.paper)
    names = [str(layer) for layer in data["layers"]]
    for index, (name, values) in enumerate(maps.items()):
        grid.name(paper, index, name, said_of(values, data["layers"]))
        axes = grid.panel(paper, index)
        shown = np.where(np.eye(len(values), dtype=bool), np.nan, values)
        image = axes.imshow(shown, colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
        name_ticks(axes, names, names)
        axes.tick_params(top=False, labeltop=False, labelbottom=True)
        axes.set_xlabel("layer")
    bar = paper.axes(*grid.key_corner(), min(5.0, grid.width - 0.4), 0.2)
    is_cut = bool(every.max() > high)
    scale_bar(bar, image, theme, "mean squared cosine", ticks=(low, (low + high) / 2, high))
    bar.set_xticklabels(
        [ratio_text(low), ratio_text((low + high) / 2), is_cut * "\u2265 " + ratio_text(high)]
    )
    grid.write_note(paper, foot, BAR)
    return paper.figure


def scale_ends(every: Float[np.ndarray, "pair"], chance: float) -> tuple[float, float]:
    """Chance is within; a few pairs far above all others do not make these pale."""
    low, high = min(float(every.min()), chance), float(every.max())
    crowd = float(np.quantile(every, CROWD))
    high = crowd if high - crowd > FAR * (crowd - low) > 0 else high
    return low, high if high > low else low + 0.01


def others(values: Float[np.ndarray, "layer layer"]) -> Float[np.ndarray, "pair"]:
    """Of two different layers."""
    found = values[~np.eye(len(values), dtype=bool)]
    return np.asarray(found[np.isfinite(found)])


def neighbours(values: Float[np.ndarray, "layer layer"], layers: tuple[int, ...]) -> float:
    """Mean over a layer and the next; nan where no two follow each other."""
    near = values[np.abs(np.subtract.outer(layers, layers)) == 1]
    return float(near[np.isfinite(near)].mean()) if np.isfinite(near).any() else np.nan


def said_of(values: Float[np.ndarray, "layer layer"], layers: tuple[int, ...]) -> str:
    near, every = neighbours(values, layers), float(others(values).mean())
    return (
        f"neighbours {ratio_text(near)}, all pairs {ratio_text(every)}"
        if near == near
        else f"all pairs {ratio_text(every)}"
    )


def foot_text(data: Data) -> str:
    left_out = f" {data['left_out']} more types are not drawn." if data["left_out"] else ""
    return (
        f"The {data['top']} leading directions on the stream's side; chance {ratio_text(data['chance'])}. "
        f"The scale does not begin at 0; the diagonal, always 1, is blank.{left_out}"
    )


def title(data: Data) -> str:
    near = {name: neighbours(values, data["layers"]) for name, values in data["similarity"].items()}
    has_near = any(value == value for value in near.values())
    alike = near if has_near else {name: others(values).mean() for name, values in data["similarity"].items()}
    most = max(alike, key=lambda name: np.nan_to_num(alike[name]))
    times = alike[most] / data["chance"]
    which = "neighbouring layers" if has_near else "layers"
    return f"{data['name']}: {which} are most alike in {in_title(most)}, {times:.1f} times chance"


def caption(data: Data) -> str:
    rows = "; ".join(
        f"{name}: {said_of(values, data['layers'])}" for name, values in data["similarity"].items()
    )
    return (
        f"Mean squared cosine between the {data['top']} leading singular directions, on the side of the "
        "residual stream, of two layers' matrices of one type: 1 for the same subspace, "
        f"{ratio_text(data['chance'])} "
        f"for two random ones. {rows}. The diagonal is blank; the scale runs over what is drawn, with "
        "chance within. Directions are compared, not what is stored along them. " + foot_text(data)
    )
