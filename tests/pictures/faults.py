"""What is wrong with a figure, as far as a machine can see it: texts that collide, are cut off or too small,
points outside their axes."""

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

SMALLEST = 6.0  # points, on a page of 17 cm
SLACK = 1.0  # pixels that two boxes may share: fonts' boxes are a little larger than their ink


def faults(figure: Figure, page: float = 17.0) -> list[str]:
    """One sentence a fault."""
    with rc_context({"text.hinting": "no_hinting"}):  # as it is saved
        return faults_as_saved(figure, page)


def faults_as_saved(figure: Figure, page: float) -> list[str]:
    figure.draw_without_rendering()
    scale = min(1.0, page / (figure.get_size_inches()[0] * 2.54))
    texts = list(drawn_texts(figure))
    boxes = [text.get_window_extent() for _, text in texts]
    found = [
        f"'{short(t)}' has {t.get_fontsize() * scale:.1f} points"
        for _, t in texts
        if t.get_fontsize() * scale < SMALLEST
    ]
    found += [
        f"'{short(t)}' leaves the figure"
        for (_, t), box in zip(texts, boxes, strict=True)
        if leaves(box, figure.bbox)
    ]
    found += collisions(texts, boxes)
    found += strangers(figure, texts, boxes)
    for axes in figure.axes:
        found += lost_points(axes)
    return found


def drawn_texts(figure: Figure):
    """(axes or None, text) for everything that is written."""
    for text in figure.texts:
        yield None, text
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        inside = [*axes.texts, axes.title, axes._left_title, axes._right_title]
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                inside.append(axis.label)
                inside += [label for tick in axis._update_ticks() for label in (tick.label1, tick.label2)]
                inside.append(axis.get_offset_text())
        if axes.get_legend():
            inside += axes.get_legend().get_texts()
        for text in inside:
            if text.get_visible() and text.get_text().strip():
                yield axes, text


def collisions(texts, boxes) -> list[str]:
    spans = corners(boxes)
    clash = np.triu(touching(spans, spans), 1)
    return [f"'{short(texts[a][1])}' and '{short(texts[b][1])}' overlap" for a, b in np.argwhere(clash)]


def corners(boxes) -> np.ndarray:
    """Left, bottom, right, top."""
    return np.array([box.extents for box in boxes]).reshape(-1, 4)


def touching(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Which boxes share more than some slack with which."""
    shared = np.minimum(first[:, None, 2:], second[None, :, 2:]) - np.maximum(
        first[:, None, :2], second[None, :, :2]
    )
    high = np.minimum((first[:, 3] - first[:, 1])[:, None], (second[:, 3] - second[:, 1])[None])
    return (shared[..., 0] > SLACK) & (shared[..., 1] > SLACK + 0.12 * high)


def strangers(figure: Figure, texts, boxes) -> list[str]:
    """Texts of one panel that lie in another."""
    panels = [axes for axes in figure.axes if axes.axison]
    if not panels or not texts:
        return []
    clash = touching(corners(boxes), corners([axes.bbox for axes in panels]))
    return [
        f"'{short(texts[a][1])}' lies in another panel ({panels[b].get_title(loc='left')!r})"
        for a, b in np.argwhere(clash)
        if panels[b] is not texts[a][0] and not is_inset(texts[a][0], panels[b])
    ]


def is_inset(axes, other: Axes) -> bool:
    """Whether axes lie inside others, where their texts may be."""
    return (
        axes is not None and other.bbox.containsx(axes.bbox.x0 + 1) and other.bbox.containsy(axes.bbox.y0 + 1)
    )


def leaves(box: Bbox, frame: Bbox) -> bool:
    return (
        box.x0 < frame.x0 - 0.5
        or box.y0 < frame.y0 - 0.5
        or box.x1 > frame.x1 + 0.5
        or box.y1 > frame.y1 + 0.5
    )


def lost_points(axes: Axes) -> list[str]:
    """Markers, arrow ends and texts in data coordinates that lie outside the axes."""
    where = axes.get_title(loc="left") or axes.get_label()
    found = []
    for artist in axes.collections:
        if isinstance(artist, PathCollection) and artist.get_offset_transform() == axes.transData:
            found += [
                f"a point at {spot} is outside '{where}'" for spot in outside(axes, artist.get_offsets())
            ]
    for line in axes.lines:
        if line.get_marker() not in ("None", "", None) and line.get_transform() == axes.transData:
            found += [f"a point at {spot} is outside '{where}'" for spot in outside(axes, line.get_xydata())]
    for text in axes.texts:
        if text.get_transform() == axes.transData:
            ends = [text.xy, text.xyann] if isinstance(text, Annotation) else [text.get_position()]
            found += [
                f"'{short(text)}' at {spot} is outside '{where}'"
                for spot in outside(axes, np.array(ends, float))
            ]
    return found


def outside(axes: Axes, points) -> list[tuple[float, ...]]:
    pixels = axes.transData.transform(np.asarray(points, float).reshape(-1, 2))
    box = axes.bbox.padded(1.0)
    good = (
        (pixels[:, 0] >= box.x0)
        & (pixels[:, 0] <= box.x1)
        & (pixels[:, 1] >= box.y0)
        & (pixels[:, 1] <= box.y1)
    )
    return [tuple(np.round(point, 3)) for point in np.asarray(points).reshape(-1, 2)[~good]][:3]


def short(text: Text) -> str:
    return text.get_text().replace("\n", " / ")[:40]
