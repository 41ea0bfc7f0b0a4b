"""Sequences as rows of cells: tokens that are free, right or wrong, and arcs to what decides them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.patches import FancyBboxPatch
from matplotlib.path import Path

from glassformer.core.theme import Theme, mix_colours, pick_text_colour, pick_token_colour
from glassformer.pictures.parts.frame import SMALL, Frame, measure_text_width
from glassformer.tasks import mark_allowed, mark_constrained, measure_source_distance
from glassformer.tasks.automaton import Automaton

SHOWN = 28  # cells of a row
_CELL, _PITCH, _LEFT = 0.52, 1.86, 0.55  # cm a cell; cells from row to row; cm to the left of the cells
_BASE = FancyBboxPatch((-0.42, -0.42), 0.84, 0.84, boxstyle="round,pad=0,rounding_size=0.12").get_path()


class TokenKind(IntEnum):
    """What the rule says of a token."""

    FREE = 0
    RIGHT = 1
    WRONG = 2


@dataclass(frozen=True, eq=False)
class SequenceRow:
    """The first tokens of a sequence."""

    tokens: tuple[str, ...]
    kinds: Int[np.ndarray, " pos"]
    sources: Int[np.ndarray, " pos"]  # the position of the earliest token that is needed; -1: none is told
    length: int  # tokens of the whole sequence


def make_sequence_rows(
    automaton: Automaton, tokens: Int[np.ndarray, "pos batch"], lengths: Sequence[int], given: int = 0
) -> list[SequenceRow]:
    """What there is to see of some sequences; the first `given` tokens are free whatever the rule says."""
    kinds = classify_tokens(automaton, tokens, given)
    distance = measure_source_distance(automaton, tokens, reach=len(tokens))
    places = np.arange(len(tokens))[:, None]
    sources = np.where((kinds != TokenKind.FREE) & (distance > 0), places - distance, -1)
    return [
        SequenceRow(
            tuple(automaton.tokens[token] for token in tokens[:shown, index]),
            kinds[:shown, index],
            sources[:shown, index],
            length,
        )
        for index, length in enumerate(lengths)
        for shown in (min(SHOWN, length),)
    ]


def classify_tokens(
    automaton: Automaton, tokens: Int[np.ndarray, "pos batch"], given: int = 0
) -> Int[np.ndarray, "pos batch"]:
    """The `TokenKind` of every token."""
    asked = mark_constrained(automaton, tokens)
    asked[:given] = False
    return np.where(
        asked, np.where(mark_allowed(automaton, tokens), TokenKind.RIGHT, TokenKind.WRONG), TokenKind.FREE
    )


def measure_rows_height(count: int) -> float:
    """What so many rows take, in cm."""
    return count * _PITCH * _CELL


def draw_sequence_rows(paper: Frame, top: float, rows: Sequence[SequenceRow], first: int = 1) -> None:
    """Rows under each other, numbered from `first`, `top` cm below the frame's top."""
    axes = _make_cell_axes(paper, _LEFT, top, SHOWN, measure_rows_height(len(rows)) / _CELL)
    levels = [_PITCH * index + _PITCH - 0.5 for index in range(len(rows))]
    for level, row in zip(levels, rows, strict=True):
        _draw_token_cells(axes, row.tokens, row.kinds, level, paper.theme)
    arcs = [
        (level, place, int(source), row.kinds[place])
        for level, row in zip(levels, rows, strict=True)
        for place, source in enumerate(row.sources)
        if source >= 0
    ]
    _draw_source_arcs(axes, arcs, paper.theme)
    for index, (level, row) in enumerate(zip(levels, rows, strict=True)):
        low = top + level * _CELL - 0.14
        ink = paper.theme.muted
        paper.write(_LEFT - 0.15, low, str(first + index), SMALL, ha="right", color=ink)
        rest = row.length - len(row.tokens)
        if rest > 0:
            paper.write(_LEFT + SHOWN * _CELL + 0.1, low, f"{rest} more", SMALL, color=ink)


def _make_cell_axes(paper: Frame, x: float, y: float, columns: float, rows: float) -> Axes:
    """Axes whose unit is a cell, y downwards."""
    axes = paper.axes(x, y, columns * _CELL, rows * _CELL)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows, 0))
    axes.axis("off")
    return axes


def _draw_token_cells(
    axes: Axes,
    tokens: Sequence[str],
    kinds: Int[np.ndarray, " pos"],
    level: float,
    theme: Theme,
    left: float = 0.0,
) -> None:
    """Cells in the tokens' colours: pale where free, framed where constrained, crossed where wrong."""
    strength = np.where(np.asarray(kinds) == TokenKind.RIGHT, 0.7, 0.3)
    fills = [mix_colours(pick_token_colour(t), theme.paper, s) for t, s in zip(tokens, strength, strict=True)]
    edges = [(theme.paper, theme.good, theme.bad)[kind] for kind in kinds]
    paths = [Path(np.add(_BASE.vertices, (left + place, level)), _BASE.codes) for place in range(len(tokens))]
    widths = [0.0 if kind == TokenKind.FREE else 1.3 for kind in kinds]
    axes.add_collection(
        PathCollection(paths, facecolors=fills, edgecolors=edges, linewidths=widths, zorder=2)
    )
    wrong = left + np.flatnonzero(np.asarray(kinds) == TokenKind.WRONG)
    for across, down in ((-1, -1), (-1, 1), (1, -1), (1, 1)):  # a cross, open where the text stands
        x, y = (
            np.stack([wrong + 0.4 * across, wrong + 0.17 * across]),
            (level + 0.4 * down, level + 0.17 * down),
        )
        axes.plot(x, y, color=theme.bad, linewidth=1.3, zorder=2.5)
    for place, (token, fill) in enumerate(zip(tokens, fills, strict=True)):
        look = {"fontsize": SMALL + 0.5, "weight": "bold", "color": pick_text_colour(fill), "zorder": 3}
        axes.text(left + place, level, token, ha="center", va="center_baseline", **look)


def _draw_source_arcs(axes: Axes, arcs: Sequence[tuple[float, float, float, int]], theme: Theme) -> None:
    """From each constrained token over the cells between to its source, where the head is."""
    if not arcs:
        return
    level, start, end, kind = np.array(arcs, float).T
    height = np.minimum(0.28 + 0.1 * (start - end), 0.82) * 4 / 3
    colours = [theme.bad if one == TokenKind.WRONG else theme.good for one in kind]
    top = level - 0.47
    begin, stop = start - 0.14, end + 0.14
    corners = np.stack(
        [
            np.stack([begin, begin, stop, stop], 1),
            np.stack([top, top - height, top - height, top - 0.1], 1),
        ],
        2,
    )
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    paths = [Path(points, codes) for points in corners]
    axes.add_collection(
        PathCollection(paths, facecolors="none", edgecolors=colours, linewidths=0.8, alpha=0.8, zorder=1)
    )
    axes.scatter(stop, top - 0.08, s=9, marker="v", c=colours, linewidths=0, zorder=1.5)


def draw_cell_legend(paper: Frame, top: float, arcs: str) -> None:
    """One cell of each kind, and what an arc is, in a line at `top`."""
    axes = _make_cell_axes(paper, _LEFT, top - 0.35, SHOWN, 1.7)
    x = 0.0
    for kind, text in zip(TokenKind, ("free", "constrained, right", "constrained, wrong"), strict=True):
        _draw_token_cells(axes, [""], np.array([kind]), 1.1, paper.theme, x)
        paper.write(_LEFT + (x + 1.15) * _CELL, top + 0.08, text, SMALL)
        x += 2.3 + measure_text_width(text, SMALL) / _CELL
    _draw_source_arcs(axes, [(1.9, x + 1.6, x, TokenKind.RIGHT)], paper.theme)
    paper.write(_LEFT + (x + 2.6) * _CELL, top + 0.08, arcs, SMALL)
