"""One sequence as figures show it: its row of cells, the names and matrices of its positions.

Position 4 of `4 1 + 4 6 9 5 +` is `6 (p4)` in a sentence and `p4: 6` at the row of a matrix.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.core.words import format_decimals
from glassformer.pictures.parts.frame import SMALL, Frame, measure_text_width
from glassformer.pictures.parts.marks import draw_token_row, make_readable_colour
from glassformer.pictures.parts.matrices import MOST_NUMBERS, draw_heatmap, format_short_number, is_unwieldy
from glassformer.pictures.parts.queries_keys_values import make_seen_mask

ROW_NAMES = 1.0  # cm left of a matrix for names such as `p12: 10`
HEADINGS = 0.85  # cm above a matrix for its title and the names of its columns
STRIP = 0.8  # cm: a row of cells with the names of the positions under it
SHARE_CELL = 0.5  # cm in which `100` can be read
MOST_LISTED = 3  # positions that a label lists


def format_token_position(labels: Sequence[str], place: int) -> str:
    return f"{labels[place]} (p{place})"


def list_position_names(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"p{place}: {label}" for place, label in enumerate(labels))


def group_token_positions(labels: Sequence[str]) -> dict[str, str]:
    """Each token of a sequence once, with its positions: `4 (p0, p3)`."""
    places = {label: [i for i, other in enumerate(labels) if other == label] for label in labels}
    return {
        label: f"{label} ({', '.join(f'p{place}' for place in found)})"
        if len(found) <= MOST_LISTED
        else f"{label} ({len(found)} positions)"
        for label, found in places.items()
    }


def list_point_names(labels: Sequence[str], by_token: Mapping[str, str] | None = None) -> list[str]:
    """`4 p0` at each position; of many, or where `by_token` names tokens, one at each token's first."""
    if by_token is None and len(labels) <= MOST_NUMBERS:
        return [f"{label} p{place}" for place, label in enumerate(labels)]
    names = by_token or {label: label for label in labels}
    return [names[label] if labels.index(label) == place else "" for place, label in enumerate(labels)]


def draw_token_strip(
    paper: Frame, x: float, y: float, labels: Sequence[str], source: int | None = None
) -> Axes:
    """The tokens as cells with their positions; the rule's source, where there is one, is framed."""
    theme, count = paper.theme, len(labels)
    cell = min(0.55, paper.width / count)
    axes = paper.axes(x, y, cell * count, STRIP, xlim=(-0.5, count - 0.5), ylim=(0.5 - STRIP / cell, 0.5))
    axes.axis("off")
    edges = [theme.negative if place == source else theme.paper for place in range(count)]
    draw_token_row(axes, labels, theme, edges=edges)
    for place in range(count):
        axes.text(place, -0.72, f"p{place}", ha="center", va="center", fontsize=SMALL, color=theme.muted)
    return axes


def measure_matrix_height(count: int) -> float:
    """Of a matrix with one row per position."""
    return float(np.clip(0.42 * count, 2.2, 4.8))


def measure_vector_width(dims: int) -> float:
    """Of a matrix with one column per dimension."""
    return float(np.clip(0.62 * dims, 2.4, 3.5))


def measure_attention_width(count: int, height: float) -> float:
    """Of a matrix of attention: wide enough for its numbers where it has them."""
    return max(2.9, SHARE_CELL * count) if count <= MOST_NUMBERS else height


def draw_position_matrix(
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
    """One row per position, named in the tokens' colours; columns are dimensions where not named."""
    found = tuple(map(str, range(values.shape[1]))) if columns is None else columns
    rows = list_position_names(labels) if names else ()
    image = draw_heatmap(axes, values, theme, rows, found, signed=signed, largest=largest)
    colour_row_names(axes, theme)
    axes.set_title(title, pad=14)
    return image


def draw_attention_matrix(
    axes: Axes,
    weights: Float[np.ndarray, "pos pos"],
    labels: Sequence[str],
    theme: Theme,
    title: str = "attention (%)",
    names: bool = True,
    source: int | None = None,
) -> AxesImage:
    """Who looks where, in percent; the last position's look at the rule's source is framed."""
    values = 100.0 * mask_above_diagonal(weights)
    columns = choose_column_names(axes, labels)
    image = draw_position_matrix(
        axes, values, labels, theme, title, columns, names, signed=False, largest=100.0
    )
    if source is not None:
        frame_matrix_cell(axes, len(labels) - 1, source, theme.negative)
    return image


def draw_score_matrix(
    axes: Axes, scores: Float[np.ndarray, "pos pos"], labels: Sequence[str], theme: Theme, title: str,
    largest: float, names: bool = True,
) -> AxesImage:  # fmt: skip
    """Scores of every position against itself and those before it."""
    columns = choose_column_names(axes, labels)
    return draw_position_matrix(
        axes, mask_above_diagonal(scores), labels, theme, title, columns, names, largest=largest
    )


def mask_above_diagonal(values: Float[np.ndarray, "pos pos"]) -> Float[np.ndarray, "pos pos"]:
    """The same, with nan where a position would look at a later one."""
    return np.where(make_seen_mask(len(values)), np.asarray(values, np.float64), np.nan)


def choose_column_names(axes: Axes, labels: Sequence[str]) -> tuple[str, ...]:
    """Tokens where every one fits above its column, else positions, of which some may be left out."""
    wide = axes.get_position().width * axes.figure.get_size_inches()[0] * 2.54
    fits = max(measure_text_width(label, SMALL) for label in labels) + 0.08 <= wide / len(labels)
    return tuple(labels) if fits else tuple(f"p{place}" for place in range(len(labels)))


def colour_row_names(axes: Axes, theme: Theme) -> None:
    """Names of rows such as `p4: 6` in the colour of the token."""
    for text in axes.get_yticklabels():
        text.set_color(make_readable_colour(pick_token_colour(text.get_text().split(": ")[-1]), theme))


def frame_matrix_cell(axes: Axes, row: int, column: int, colour: str) -> None:
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


def format_scale_end(largest: float) -> str:
    """The end of a scale of signed numbers, for a title: `±12`, `±0.35`."""
    if is_unwieldy(largest):
        return f"\N{PLUS-MINUS SIGN}{format_short_number(largest)}"
    return f"\N{PLUS-MINUS SIGN}{format_decimals(largest, 0 if largest >= 10 else 1 if largest >= 1 else 2)}"
