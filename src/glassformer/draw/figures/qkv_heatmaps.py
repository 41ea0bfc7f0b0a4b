"""Q/K/V heatmaps: queries, keys and values dimension by dimension, a token a row and a place a column.

A map of stripes across is a dimension of tokens, one of stripes down a dimension of places.
"""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.figure import Figure

from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import Frame, sheet
from glassformer.draw.parts.matrices import matrix, scale_bar
from glassformer.draw.parts.queries_keys_values import NAMES, variance_shares
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme

MOST = 16  # dimensions of each kind on a page
ALONE = 4  # dimensions up to which each gets the full width of its column
PITCH, GAP, ABOVE = 5.5, 0.2, 0.85  # cm: from kind to kind; between two maps; over a map
PAGE_HEIGHT = 19.5  # cm that the maps may take


def compute(subject: Subject) -> Data:
    attention = subject.attention
    found = {kind: subject.pairs[f"{subject.layer}attn.{kind}"].astype(np.float64) for kind in NAMES}
    sizes = {"q": attention.head_size, "k": attention.head_size, "v": attention.values}
    shown = {kind: largest_dims(vectors) for kind, vectors in found.items()}
    return {
        "tokens": subject.tokens,
        "places": subject.places,
        "sizes": {kind: sizes[kind] for kind in NAMES},
        "counts": {kind: vectors.shape[-1] for kind, vectors in found.items()},
        "dims": shown,
        "maps": {kind: vectors[..., shown[kind]] for kind, vectors in found.items()},  # tok pos dim
        "shares": {kind: variance_shares(vectors) for kind, vectors in found.items()},
    }


def largest_dims(vectors: Float[np.ndarray, "tok pos dim"]) -> Int[np.ndarray, " dim"]:
    """All dimensions, or the MOST with the largest square sums, in their order."""
    squares = (vectors**2).sum((0, 1))
    return np.sort(np.argsort(-squares, kind="stable")[:MOST])


def draw(data: Data, theme: Theme) -> Figure:
    most = max(map(len, data["dims"].values()))
    across = 1 if most <= ALONE else 2
    rows = -(-most // across)
    high = min(0.33 * len(data["tokens"]), PAGE_HEIGHT / rows - ABOVE)
    paper = sheet(theme, rows * (high + ABOVE) + 1.0, title(data))
    for column, kind in enumerate(NAMES):
        part = paper.part(0.4 + column * PITCH, 0.35, PITCH - 0.55, paper.height)
        draw_kind(part, data, kind, across, high)
    return paper.figure


def title(data: Data) -> str:
    """How much of each kind is the token's and how much the place's."""
    parts = [
        f"{NAMES[kind]} {percent(token, 0)} token, {percent(place, 0)} place"
        for kind, (token, place) in data["shares"].items()
    ]
    return f"Stripes across: the token decides; stripes down: the place. Of the variance: {'; '.join(parts)}"


def draw_kind(part: Frame, data: Data, kind: str, across: int, high: float) -> None:
    """The maps of one kind, on one scale."""
    maps, theme = data["maps"][kind], part.theme
    largest = float(np.abs(maps).max())
    wide = (part.width - (across - 1) * GAP) / across
    part.write(0, 0.0, heading(data, kind), weight="bold", va="baseline")
    for index, dim in enumerate(data["dims"][kind]):
        row, column = divmod(index, across)
        axes = part.axes(column * (wide + GAP), ABOVE + row * (high + ABOVE), wide, high)
        names = data["tokens"] if column == 0 else ()
        image = matrix(axes, maps[..., index], theme, names, data["places"], largest=largest)
        axes.set_title(dim_name(data, kind, int(dim)), pad=12)
    bottom = ABOVE + (-(-len(data["dims"][kind]) // across)) * (high + ABOVE) - ABOVE
    scale_bar(part.axes(0, bottom + 0.2, part.width, 0.14), image, theme)


def heading(data: Data, kind: str) -> str:
    """How many dimensions of how many."""
    shown, count = len(data["dims"][kind]), data["counts"][kind]
    return NAMES[kind] if shown == count else f"{NAMES[kind]}: {shown} of {count} dimensions"


def dim_name(data: Data, kind: str, dim: int) -> str:
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
        "What the query, key and value projections make of every token (rows) at every place (columns), "
        "dimension by dimension, before any norm or turn by position; one scale for all maps of a kind. "
        f"{shown} The shares are "
        "of the variance over all tokens and places in all dimensions: what the means of the tokens account "
        "for, and what the means of the places do."
    )
