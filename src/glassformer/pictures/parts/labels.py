"""Labels beside points that cover neither each other nor, where it can be helped, the points.

Every label tries places around its point, nearer ones first; one that ends far away gets a thin line to it.
Limits of the axes must be final: places are reckoned in pixels.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from glassformer.core.theme import Theme
from glassformer.pictures.parts.frame import POINTS, SMALL, measure_text_width

_DISTANCES = (4.5, 7.0, 10.0, 14.0, 19.0, 25.0, 32.0, 42.0, 55.0, 72.0)  # points, from the point to the box
_DIRECTIONS = tuple(np.radians([20, 160, 340, 200, 90, 270, 0, 180, 45, 135, 225, 315]))
_LEADER = 9.0  # points; labels farther away than this get a line
_MANY, _DENSITY = 24, 1.8  # labels of a panel that are all written; of more, so many a square centimetre
_PAD = 0.8  # points around a label
_COVERS_POINT, _COVERS_LABEL, _OUTSIDE = 1.0, 1e3, 1e4  # how bad it is

Taken = list[tuple[float, float, float, float]]  # left, bottom, right, top of what is written, in points
_Boxes = Float[np.ndarray, "box 4"]  # left, bottom, right, top, in points


def place_labels(
    axes: Axes,
    points: Float[np.ndarray, "label 2"],
    texts: Sequence[str],
    theme: Theme,
    colours: Sequence[str] | None = None,
    obstacles: Float[np.ndarray, "point 2"] | None = None,
    size: float = SMALL,
    weight: str = "bold",
    taken: Taken | None = None,
) -> None:
    """Write each text near its point; `taken` are boxes to keep clear of, and is added to."""
    around = points if obstacles is None else np.concatenate([points, obstacles])
    here, around = to_points(axes, points), to_points(axes, around)
    occupied = [] if taken is None else taken
    named = set(range(len(texts))[:: _choose_label_step(axes, len(texts))])
    for index in _sort_by_crowding(here):
        if index not in named or not texts[index]:
            continue
        box, distance = _find_best_box(axes, here[index], texts[index], size, weight, around, occupied)
        occupied.append(tuple(box))
        colour = colours[index] if colours else theme.ink
        _draw_label(axes, here[index], box, distance, texts[index], size, weight, colour, theme)


def _choose_label_step(axes: Axes, count: int) -> int:
    """Of so many points every how many-th has a name: all, unless there are too many for the panel."""
    box, (wide, high) = axes.get_position(), axes.figure.get_size_inches() * 2.54
    room = _DENSITY * box.width * wide * box.height * high
    return 1 if count <= _MANY else max(1, ceil(count / room))


def to_points(axes: Axes, points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "point 2"]:
    """Data to points (1/72 inch) from the figure's lower left corner."""
    pixels = axes.transData.transform(np.asarray(points, float).reshape(-1, 2))
    return np.asarray(pixels * (72 / axes.figure.dpi))


def _sort_by_crowding(points: Float[np.ndarray, "point 2"]) -> list[int]:
    """Points in the thick of others choose first."""
    near = np.linalg.norm(points[:, None] - points[None], axis=-1) + 1e9 * np.eye(len(points))
    return list(np.argsort(near.min(1, initial=1e9), kind="stable"))


def _find_best_box(
    axes: Axes,
    point: Float[np.ndarray, "2"],
    text: str,
    size: float,
    weight: str,
    around: Float[np.ndarray, "point 2"],
    occupied: Taken,
) -> tuple[Float[np.ndarray, "4"], float]:
    """The first box that covers nothing, or the least bad one, and how far it is from its point."""
    wide, high = measure_text_width(text, size, weight) * POINTS + 2 * _PAD, size * 0.98 + 2 * _PAD
    boxes, far = _list_candidate_boxes(point, wide, high)
    frame = measure_axes_box(axes)
    if flag_outside_boxes(boxes, frame).all():
        boxes = push_boxes_inside(boxes, frame)
    cost = _COVERS_POINT * _count_covered_points(boxes, around, 1.6) + 0.02 * far
    if occupied:
        cost = cost + _COVERS_LABEL * _count_overlaps(boxes, np.array(occupied))
    cost = cost + _OUTSIDE * flag_outside_boxes(boxes, frame)
    best = int(np.argmin(cost))
    return boxes[best], float(far[best])


def _list_candidate_boxes(
    point: Float[np.ndarray, "2"], wide: float, high: float
) -> tuple[_Boxes, Float[np.ndarray, " box"]]:
    """Boxes around a point, and how far each is from it."""
    far = np.repeat(_DISTANCES, len(_DIRECTIONS))
    angle = np.tile(_DIRECTIONS, len(_DISTANCES))
    centre_x = point[0] + np.cos(angle) * (far + wide / 2)
    centre_y = point[1] + np.sin(angle) * (far + high / 2)
    half = np.array([wide / 2, high / 2])
    centres = np.stack([centre_x, centre_y], 1)
    return np.concatenate([centres - half, centres + half], 1), far


def _count_covered_points(
    boxes: _Boxes, points: Float[np.ndarray, "point 2"], radius: float
) -> Float[np.ndarray, " box"]:
    """How many points each box covers."""
    inside = (points[None] > boxes[:, None, :2] - radius) & (points[None] < boxes[:, None, 2:] + radius)
    return np.asarray(inside.all(-1).sum(1), float)


def _count_overlaps(boxes: _Boxes, others: Float[np.ndarray, "other 4"]) -> Float[np.ndarray, " box"]:
    """How many of the others each box overlaps."""
    apart = (boxes[:, None, 2:] <= others[None, :, :2]) | (boxes[:, None, :2] >= others[None, :, 2:])
    return np.asarray((~apart.any(-1)).sum(1), float)


def flag_outside_boxes(boxes: _Boxes, frame: Float[np.ndarray, "4"]) -> Float[np.ndarray, " box"]:
    """1 where a box leaves the frame."""
    leaves = (boxes[:, :2] < frame[:2]).any(1) | (boxes[:, 2:] > frame[2:]).any(1)
    return np.asarray(leaves, float)


def push_boxes_inside(boxes: _Boxes, frame: Float[np.ndarray, "4"]) -> _Boxes:
    """Boxes moved into the frame by the shortest way; one wider than the frame begins at its left."""
    shift = np.minimum(frame[2:] - boxes[:, 2:], 0)
    shift = shift + np.maximum(frame[:2] - boxes[:, :2] - shift, 0)
    return np.asarray(boxes + np.tile(shift, 2))


def measure_axes_box(axes: Axes) -> Float[np.ndarray, "4"]:
    """The axes' rectangle in points."""
    box = axes.get_position()
    size = axes.figure.get_size_inches() * 72
    return np.array([box.x0 * size[0], box.y0 * size[1], box.x1 * size[0], box.y1 * size[1]])


def _draw_label(
    axes: Axes,
    point: Float[np.ndarray, "2"],
    box: Float[np.ndarray, "4"],
    distance: float,
    text: str,
    size: float,
    weight: str,
    colour: str,
    theme: Theme,
) -> None:
    centre = (box[:2] + box[2:]) / 2
    to_axes = axes.transAxes.inverted().transform
    scale = axes.figure.dpi / 72
    if distance > _LEADER:
        nearest = np.clip(point, box[:2], box[2:])
        ends = to_axes(np.stack([point, nearest]) * scale)
        axes.plot(*ends.T, color=theme.muted, linewidth=0.4, transform=axes.transAxes, zorder=4)
    place = to_axes(centre * scale)
    halo = [withStroke(linewidth=1.6, foreground=theme.paper, alpha=0.8)]
    axes.text(
        *place, text, transform=axes.transAxes, fontsize=size, color=colour, weight=weight,
        ha="center", va="center_baseline", zorder=6, path_effects=halo,
    )  # fmt: skip
