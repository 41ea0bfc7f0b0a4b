"""Q/K/V heatmaps: queries, keys and values by dimension, a row per token and a column per position.

Horizontal stripes: the dimension depends on the token; vertical stripes: on the position.
"""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.core.words import format_percent
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame, make_sheet
from glassformer.pictures.parts.matrices import draw_heatmap, draw_scale_bar
from glassformer.pictures.parts.queries_keys_values import NAMES, measure_variance_shares
from glassformer.pictures.picture import Data

_MOST = 16  # dimensions of each kind on a page
_ALONE = 4  # dimensions up to which each gets the full width of its column
_PITCH, _GAP, _ABOVE = 5.5, 0.2, 0.85  # cm: from kind to kind; between two maps; over a map
_PAGE_HEIGHT = 19.5  # cm that the maps may take


def compute(subject: Subject) -> Data:
    attention = subject.attention
    found = {kind: subject.pairs[f"{subject.layer}attn.{kind}"].astype(np.float64) for kind in NAMES}
    sizes = {"q": attention.head_size, "k": attention.head_size, "v": attention.values}
    shown = {kind: _pick_largest_dims(vectors) for kind, vectors in found.items()}
    return {
        "tokens": subject.tokens,
        "places": subject.places,
        "sizes": {kind: sizes[kind] for kind in NAMES},
        "counts": {kind: vectors.shape[-1] for kind, vectors in found.items()},
        "dims": shown,
        "maps": {kind: vectors[..., shown[kind]] for kind, vectors in found.items()},  # tok pos dim
        "shares": {kind: measure_variance_shares(vectors) for kind, vectors in found.items()},
    }


def _pick_largest_dims(vectors: Float[np.ndarray, "tok pos dim"]) -> Int[np.ndarray, " chosen"]:
    """All dimensions, or the _MOST with the largest square sums, in their order."""
    squares = (vectors**2).sum((0, 1))
    return np.sort(np.argsort(-squares, kind="stable")[:_MOST])


def draw(data: Data, theme: Theme) -> Figure:
    most = max(map(len, data["dims"].values()))
    across = 1 if most <= _ALONE else 2
    rows = -(-most // across)
    high = min(0.33 * len(data["tokens"]), _PAGE_HEIGHT / rows - _ABOVE)
    paper = make_sheet(theme, rows * (high + _ABOVE) + 1.0, title(data))
    for column, kind in enumerate(NAMES):
        part = paper.part(0.4 + column * _PITCH, 0.35, _PITCH - 0.55, paper.height)
        _draw_kind_maps(part, data, kind, across, high)
    return paper.figure


def title(data: Data) -> str:
    """How much of each kind is the token's and how much the position's."""
    parts = [
        f"{NAMES[kind]} {format_percent(token, 0)} token, {format_percent(place, 0)} position"
        for kind, (token, place) in data["shares"].items()
    ]
    return f"Horizontal stripes: token; vertical stripes: position. Share of the variance: {'; '.join(parts)}"


def _draw_kind_maps(part: Frame, data: Data, kind: str, across: int, high: float) -> None:
    """The maps of one kind, on one scale."""
    maps, theme = data["maps"][kind], part.theme
    largest = float(np.abs(maps).max())
    wide = (part.width - (across - 1) * _GAP) / across
    part.write(0, 0.0, format_kind_heading(data, kind), weight="bold", va="baseline")
    for index, dim in enumerate(data["dims"][kind]):
        row, column = divmod(index, across)
        axes = part.axes(column * (wide + _GAP), _ABOVE + row * (high + _ABOVE), wide, high)
        names = data["tokens"] if column == 0 else ()
        image = draw_heatmap(axes, maps[..., index], theme, names, data["places"], largest=largest)
        axes.set_title(_format_dim_name(data, kind, int(dim)), pad=12)
    bottom = _ABOVE + (-(-len(data["dims"][kind]) // across)) * (high + _ABOVE) - _ABOVE
    draw_scale_bar(part.axes(0, bottom + 0.2, part.width, 0.14), image, theme)


def format_kind_heading(data: Data, kind: str) -> str:
    """How many dimensions of how many."""
    shown, count = len(data["dims"][kind]), data["counts"][kind]
    return NAMES[kind] if shown == count else f"{NAMES[kind]}: {shown} of {count} dimensions"


def _format_dim_name(data: Data, kind: str, dim: int) -> str:
    """`q[3]`, or `q1[3]` where there are several heads."""
    head, inside = divmod(dim, data["sizes"][kind])
    return f"{kind}{head if data['counts'][kind] > data['sizes'][kind] else ''}[{inside}]"


def caption(data: Data) -> str:
    chosen = [
        f"{len(data['dims'][kind])} of the {count} dimensions of {NAMES[kind]}"
        for kind, count in data["counts"].items()
        if count > len(data["dims"][kind])
    ]
    shown = f"By square sum, the first are shown: {'; '.join(chosen)}." if chosen else "None is left out."
    return (
        "Query, key and value projections of every token (rows) at every position (columns), "
        "dimension by dimension, before any norm or rotation; one scale for all maps of a kind. "
        f"{shown} The shares are "
        "of the variance over all tokens and positions in all dimensions that token means explain, and that "
        "position means explain."
    )
