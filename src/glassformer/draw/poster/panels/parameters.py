"""Every parameter by name and value, each array on its own scale; what changes nothing is crossed out."""

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from glassformer.draw.frame import Frame, text_width
from glassformer.draw.matrices import matrix
from glassformer.draw.picture import Data
from glassformer.draw.poster.style import SIZE, fit, paragraph, stage_colour, stage_of, write_numbers
from glassformer.draw.poster.subject import AdderSubject
from glassformer.draw.poster.words import counted, listed, scientific, trimmed
from glassformer.draw.theme import Theme
from glassformer.model.model import Model

NUDGE = 0.01  # by which a number is changed, of its size; a zero by this much itself
MOST_NUDGED = 400  # numbers; more are not tried one by one
SUMS = 64  # over which a nudge must change something
LONGEST = 6  # cells in a row of a vector
TITLE, GAP = 0.48, 0.28  # cm above a grid and between grids
ROOMS = (  # cells, in cm; the first with which everything fits
    (5.0, 2.2), (3.8, 1.9), (3.0, 1.4), (2.4, 1.1), (2.0, 0.9), (1.7, 0.75),
    (1.5, 0.62), (1.4, 0.56), (1.3, 0.52), (1.2, 0.5), (1.1, 0.46), (1.0, 0.42), (0.9, 0.38), (0.8, 0.34),
    (0.5, 0.28), (0.3, 0.2), (0.16, 0.12), (0.08, 0.06), (0.03, 0.03),
)  # fmt: skip


def compute(subject: AdderSubject) -> Data:
    params = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    ordered = dict(sorted(params.items(), key=lambda item: order(item[0])))
    return {
        "parameters": ordered,
        "grids": {name: as_grid(array) for name, array in ordered.items()},
        "dead": {name: dead_numbers(subject, name) for name in ordered}
        if total(ordered) <= MOST_NUDGED
        else {},
        "total": total(ordered),
        "ties": tuple(f"{tie.name} = {tie.to}" for tie in subject.architecture.ties),
    }


def total(params: dict[str, np.ndarray]) -> int:
    return sum(array.size for array in params.values())


def order(name: str) -> tuple[int, int]:
    """In the order of the pass."""
    layer = next((int(part[5:]) for part in name.split(".") if part.startswith("layer")), 0)
    stages = ("digits", "places", "norms", "attention", "feed-forward", "head")
    return layer, stages.index(stage_of(name))


def as_grid(array: np.ndarray) -> np.ndarray:
    """Two axes for any array: long vectors in rows of equal length, the last one filled up with nan."""
    if array.ndim >= 2:
        return array.reshape(array.shape[0], -1)
    flat = array.reshape(-1)
    if len(flat) <= LONGEST:
        return flat[None]
    rows = -(-len(flat) // LONGEST)
    columns = -(-len(flat) // rows)
    filled = np.full(rows * columns, np.nan)
    filled[: len(flat)] = flat
    return filled.reshape(rows, columns)


def dead_numbers(subject: AdderSubject, name: str) -> np.ndarray:
    """Which numbers of an array change no logit of any of the sums when they are nudged, in float64."""
    shape = replace(subject.architecture, precision="float64")
    params = {key: np.asarray(array, np.float64) for key, array in subject.model.params.items()}
    tokens = some_tokens(subject)
    before = Model(shape, params).forward(tokens)[:, subject.layout.predicting]
    dead = np.zeros(params[name].shape, bool)
    for place in np.ndindex(params[name].shape):
        moved = params[name].copy()
        moved[place] += NUDGE * (abs(moved[place]) or 1.0)
        after = Model(shape, params | {name: moved}).forward(tokens)[:, subject.layout.predicting]
        dead[place] = np.array_equal(before, after)
    return dead


def some_tokens(subject: AdderSubject) -> np.ndarray:
    sample, layout = subject.sample, subject.layout
    x, y, z = (part[:SUMS].T for part in (sample.x[:, :-1], sample.y[:, :-1], sample.z))
    return np.asarray(layout.encode(x, y, z)[:-1].T)


def title(data: Data) -> str:
    arrays = counted(len(data["parameters"]), "array")
    silent = sum(int(mask.sum()) for mask in data["dead"].values())
    words = f"; {silent} of them change nothing" if silent else ""
    return f"All {counted(data['total'], 'parameter')} in {arrays}{words}"


def draw(frame: Frame, data: Data) -> None:
    room = frame.height - 1.0
    for cell in ROOMS:
        placed, high = packed(data["grids"], cell, frame.width)
        if high <= room:
            break
    for name, (x, y, wide, tall) in placed.items():
        axes = frame.axes(x, y + TITLE, wide, tall)
        draw_array(axes, data, name, cell, frame)
        words = fit(name, max(wide, name_width(name)), SIZE, "bold")
        frame.write(x, y + 0.1, words, SIZE, color=stage_colour(stage_of(name), frame.theme), weight="bold")
    paragraph(frame, 0, frame.height - 0.8, frame.width, [words_below(data)])


def packed(
    grids: dict[str, np.ndarray], cell: tuple[float, float], width: float
) -> tuple[dict[str, tuple[float, float, float, float]], float]:
    """Grids from left to right, line below line; and how high they are together."""
    x = y = high = 0.0
    placed: dict[str, tuple[float, float, float, float]] = {}
    for name, grid in grids.items():
        wide, tall = grid.shape[1] * cell[0], grid.shape[0] * cell[1]
        room = max(wide, name_width(name))
        if x and x + room > width:
            x, y, high = 0.0, y + high, 0.0
        placed[name] = (x, y, min(wide, width), tall)
        x, high = x + room + GAP, max(high, tall + TITLE + GAP)
    return placed, y + high


def name_width(name: str) -> float:
    return text_width(name, SIZE, "bold") * 1.04


def draw_array(axes: Axes, data: Data, name: str, room: tuple[float, float], frame: Frame) -> None:
    """One grid on its own scale; the name is in the image, so that a test can add up what is shown."""
    theme, grid, (wide, tall) = frame.theme, data["grids"][name], room
    size = float(np.clip(15 * tall, SIZE, 18))
    image = matrix(axes, grid, theme, numbers=False, parameter=name)
    axes.set_xticks([])
    axes.set_yticks([])
    if wide < 0.75:
        return
    write_numbers(axes, image, grid, lambda value: number_for(value, wide, size), size)
    dead = as_grid(data["dead"][name].astype(float)) if name in data["dead"] else np.zeros(grid.shape)
    for row, column in np.argwhere(dead == 1):
        cross_out(axes, column, row, theme)


def number_for(value: float, wide: float, size: float) -> str:
    """As many digits as fit."""
    most = 9 if size > 9 else 3
    plain = [trimmed(value, digits) for digits in range(most, 1, -1)]
    exact = [text for text in plain if text_width(text, size) <= wide - 0.1]
    return exact[0] if exact else fit(scientific(value) if value else "0", wide - 0.02, size)


def cross_out(axes: Axes, column: int, row: int, theme: Theme) -> None:
    axes.plot(
        [column - 0.42, column + 0.42], [row + 0.36, row - 0.36], color=theme.bad, linewidth=0.9, zorder=5
    )


def words_below(data: Data) -> str:
    scale = "Each array has its own colour scale, centred at 0: blue above, brown below."
    silent = [name for name, mask in data["dead"].items() if mask.any()]
    if not data["dead"]:
        return scale
    if not silent:
        return f"{scale} Changing any of them by {NUDGE:.0%} changes a logit."
    return (
        f"{scale} Crossed out, in {listed(silent)}: to change such a number by {NUDGE:.0%} (a zero by "
        f"{NUDGE}) changes no logit of {SUMS} sums, not even in its last bit."
    )


def caption(data: Data) -> str:
    tied = f" Tied, and so not stored again: {listed(data['ties'])}." if data["ties"] else ""
    return f"Every one of the {data['total']} stored numbers, by name.{tied} {words_below(data)}"
