"""One sequence as figures show it: its row of cells, the names of its places, matrices along its places.

Place 4 of `4 1 + 4 6 9 5 +` is `6 (p4)` in a sentence and `p4: 6` at the row of a matrix.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from glassformer.draw.parts.frame import SMALL, Frame, text_width
from glassformer.draw.parts.marks import readable, token_row
from glassformer.draw.parts.matrices import MOST_NUMBERS, is_unwieldy, matrix, number_text, short_number
from glassformer.draw.theme import Theme, token_colour

ROW_NAMES = 1.0  # cm left of a matrix for names such as `p12: 10`
HEADINGS = 0.85  # cm above a matrix for its title and the names of its columns
STRIP = 0.8  # cm: a row of cells with the names of the places under it
SHARE_CELL = 0.5  # cm in which `100` can be read
MOST_LISTED = 3  # places that a label lists


def named(labels: Sequence[str], place: int) -> str:
    return f"{labels[place]} (p{place})"


def row_names(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"p{place}: {label}" for place, label in enumerate(labels))


def grouped(labels: Sequence[str]) -> dict[str, str]:
    """Each token of a sequence once, with its places: `4 (p0, p3)`."""
    places = {label: [i for i, other in enumerate(labels) if other == label] for label in labels}
    return {
        label: f"{label} ({', '.join(f'p{place}' for place in found)})"
        if len(found) <= MOST_LISTED
        else f"{label} ({len(found)} places)"
        for label, found in places.items()
    }


def strip(paper: Frame, x: float, y: float, labels: Sequence[str], source: int | None = None) -> Axes:
    """The tokens as cells with their places; the rule's source, where there is one, is framed."""
    theme, count = paper.theme, len(labels)
    cell = min(0.55, paper.width / count)
    axes = paper.axes(x, y, cell * count, STRIP, xlim=(-0.5, count - 0.5), ylim=(0.5 - STRIP / cell, 0.5))
    axes.axis("off")
    edges = [theme.negative if place == source else theme.paper for place in range(count)]
    token_row(axes, labels, theme, edges=edges)
    for place in range(count):
        axes.text(place, -0.72, f"p{place}", ha="center", va="center", fontsize=SMALL, color=theme.muted)
    return axes


def matrix_height(count: int) -> float:
    """Of a matrix with a row a place."""
    return float(np.clip(0.42 * count, 2.2, 4.8))


def vector_width(dims: int) -> float:
    """Of a matrix with a column a dimension."""
    return float(np.clip(0.62 * dims, 2.4, 3.5))


def share_width(count: int, height: float) -> float:
    """Of a matrix of attention: wide enough for its numbers where it has them."""
    return max(2.9, SHARE_CELL * count) if count <= MOST_NUMBERS else height


def place_matrix(
    axes: Axes,
    values: Float[np.ndarray, "pos column"],
    labels: Sequence[str],
    theme: Theme,
    title: str,
    columns: Sequence[str] | None = None,
    names: bool = True,
    signed: bool = True,
    largest: float | None = None,
) -> AxesImage:
    """A matrix with a row a place, named in the tokens' colours; columns are dimensions where not named."""
    found = tuple(map(str, range(values.shape[1]))) if columns is None else columns
    rows = row_names(labels) if names else ()
    image = matrix(axes, values, theme, rows, found, signed=signed, largest=largest)
    colour_names(axes, theme)
    axes.set_title(title, pad=14)
    return image


def attention_matrix(
    axes: Axes,
    weights: Float[np.ndarray, "pos pos"],
    labels: Sequence[str],
    theme: Theme,
    title: str = "attention (%)",
    names: bool = True,
    source: int | None = None,
) -> AxesImage:
    """Who looks where, in percent; the last place's look at the rule's source is framed."""
    values = 100.0 * below_diagonal(weights)
    columns = column_names(axes, labels)
    image = place_matrix(axes, values, labels, theme, title, columns, names, signed=False, largest=100.0)
    if source is not None:
        frame_cell(axes, len(labels) - 1, source, theme.negative)
    return image


def score_matrix(
    axes: Axes, scores: Float[np.ndarray, "pos pos"], labels: Sequence[str], theme: Theme, title: str,
    largest: float, names: bool = True,
) -> AxesImage:  # fmt: skip
    """Scores of every place against itself and those before it."""
    columns = column_names(axes, labels)
    return place_matrix(axes, below_diagonal(scores), labels, theme, title, columns, names, largest=largest)


def below_diagonal(values: Float[np.ndarray, "pos pos"]) -> Float[np.ndarray, "pos pos"]:
    """The same, with nan where a place would look at a later one."""
    return np.where(np.tri(len(values), dtype=bool), np.asarray(values, np.float64), np.nan)


def column_names(axes: Axes, labels: Sequence[str]) -> tuple[str, ...]:
    """Tokens where every one of them fits above its column, else places, which may be left out in between."""
    wide = axes.get_position().width * axes.figure.get_size_inches()[0] * 2.54
    fits = max(text_width(label, SMALL) for label in labels) + 0.08 <= wide / len(labels)
    return tuple(labels) if fits else tuple(f"p{place}" for place in range(len(labels)))


def colour_names(axes: Axes, theme: Theme) -> None:
    """Names of rows such as `p4: 6` in the colour of the token."""
    for text in axes.get_yticklabels():
        text.set_color(readable(token_colour(text.get_text().split(": ")[-1]), theme))


def frame_cell(axes: Axes, row: int, column: int, colour: str) -> None:
    axes.add_patch(
        Rectangle(
            (column - 0.5, row - 0.5),
            1,
            1,
            fill=False,
            edgecolor=colour,
            linewidth=1.4,
            zorder=5,
            clip_on=False,
        )
    )


def scale_words(largest: float) -> str:
    """The end of a scale of signed numbers, for a title: `±12`, `±0.35`."""
    if is_unwieldy(largest):
        return f"\N{PLUS-MINUS SIGN}{short_number(largest)}"
    return f"\N{PLUS-MINUS SIGN}{number_text(largest, 0 if largest >= 10 else 1 if largest >= 1 else 2)}"
