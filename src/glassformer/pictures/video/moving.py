"""What moves over a panel: trails, dots, chains, badges with their token inside, arrows, clouds of them.

`tracks` are the places of all points in all frames. Each function makes its artists once, as one collection
of paths, and returns the mover that sets them to a frame; a label is drawn inside its point, so that it
cannot flicker.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgba_array
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D, IdentityTransform, Transform

from glassformer.core.theme import Theme, pick_text_colour, pick_token_colour
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.parts.frame import POINTS, SMALL, measure_text_width
from glassformer.pictures.video.labelling import compute_label_tracks
from glassformer.pictures.video.stage import Mover

_Tracks = Float[np.ndarray, "frame point 2"]

MOST_LABELS = 13  # tokens of a cloud; more are told apart by a legend, or by another panel
_FULL = 150  # points of a cloud up to which its lines are drawn in full strength
_TRAIL = ((10, 0.16), (4, 0.30))  # frames back, and how strong: the newer part is drawn over the older
_WIDEST_LOOK = 3.0  # points, of the line of a query that looks at one key alone
_HEAD_LENGTH, _HEAD_WIDTH = 5.0, 4.0  # points, of an arrow


def make_chain_mover(
    axes: Axes,
    lines: Callable[[int], Float[np.ndarray, "line vertex 2"]],
    colours: Sequence[str],
    width: float,
    alpha: float,
    transform: Transform | None = None,
) -> Mover:
    """Open lines, one colour each; in data where no other transform is given."""
    start = lines(0)
    paths = [Path(line.copy(), closed=False) for line in start]
    drawn = PathCollection(
        paths, sizes=None, facecolors="none", edgecolors=to_rgba_array(colours, alpha), linewidths=width,
        transform=transform or axes.transData, animated=True, capstyle="round", joinstyle="round",
    )  # fmt: skip
    drawn.set_offset_transform(IdentityTransform())
    axes.add_collection(drawn, autolim=False)

    def move(index: int) -> None:
        for path, line in zip(paths, lines(index), strict=True):
            path.vertices[:] = line
        axes.draw_artist(drawn)

    return move


def make_trail_mover(
    axes: Axes, tracks: _Tracks, colours: Sequence[str], width: float = 1.4, strength: float = 1.0
) -> Mover:
    """Where points were in the last frames."""

    def back(length: int) -> Callable[[int], Float[np.ndarray, "line vertex 2"]]:
        return lambda index: tracks[np.maximum(0, index - np.arange(length + 1))].transpose(1, 0, 2)

    parts = [
        make_chain_mover(axes, back(length), colours, width, strength * alpha) for length, alpha in _TRAIL
    ]

    def move(index: int) -> None:
        for part in parts:
            part(index)

    return move


def make_dot_mover(
    axes: Axes,
    tracks: _Tracks,
    colours: Sequence[str],
    theme: Theme,
    size: float = 9.0,
    marker: str = "o",
    rims: Float[np.ndarray, "frame point 4"] | None = None,
    faces: Float[np.ndarray, "frame point 4"] | None = None,
) -> Mover:
    """Points in colours of their own; `rims` and `faces` are colours that change with the frame."""
    drawn = axes.scatter(
        *tracks[0].T, s=size, c=list(colours), marker=marker, linewidths=0.3 if rims is None else 0.7,
        edgecolors=theme.paper, animated=True,
    )  # fmt: skip

    def move(index: int) -> None:
        drawn.set_offsets(tracks[index])
        if rims is not None:
            drawn.set_edgecolors(rims[index])
        if faces is not None:
            drawn.set_facecolors(faces[index])
        axes.draw_artist(drawn)

    return move


def make_label_mover(
    axes: Axes,
    tracks: _Tracks,
    away: _Tracks,
    texts: Sequence[str],
    fills: Sequence[str],
    theme: Theme,
    which: Int[np.ndarray, "frame point"] | None = None,
) -> Mover:
    """A badge beside each point, on the side that `away` points to, with a line between them.

    `which`: the text of each point in each frame, where it is not always its own; it is then a tile.
    """
    shape = _make_disc(texts) if which is None else _make_tile(texts)
    box, scale = axes.get_window_extent(), axes.figure.dpi / 72
    points = axes.transData.transform(tracks.reshape(-1, 2)).reshape(tracks.shape)
    radius = scale * float(np.abs(shape.vertices).max())
    low, high = np.array([box.x0, box.y0]) + scale, np.array([box.x1, box.y1]) - scale
    centres = compute_label_tracks(points, away, radius, low, high)
    ends = np.stack([points, centres], 2)  # frame label 2 2
    lines = fills if which is None else [theme.ink] * tracks.shape[1]
    leaders = make_chain_mover(axes, lambda index: ends[index], lines, 0.7, 0.9, IdentityTransform())
    worn = _make_badge_mover(axes, centres, texts, fills, theme, shape, which)

    def move(index: int) -> None:
        leaders(index)
        worn(index)

    return move


def _make_badge_mover(
    axes: Axes,
    centres: _Tracks,
    texts: Sequence[str],
    fills: Sequence[str],
    theme: Theme,
    shape: Path,
    which: Int[np.ndarray, "frame point"] | None,
) -> Mover:
    """Shapes with a text inside, at pixels, each drawn with its text before the next."""
    drawn = PathCollection(
        [shape], sizes=None, linewidths=[0.6, 0.0], edgecolors=[theme.paper, "none"],
        offsets=np.zeros((1, 2)), offset_transform=IdentityTransform(), animated=True,
    )  # fmt: skip
    drawn.set_transform(Affine2D().scale(axes.figure.dpi / 72))
    axes.add_collection(drawn, autolim=False)
    wear = _make_badge_dresser(drawn, texts, fills, shape)
    wear(np.arange(centres.shape[1]) if which is None else which[0])

    def move(index: int) -> None:
        if which is not None:
            wear(which[index])
        drawn.set_offsets(np.repeat(centres[index], 2, axis=0))
        axes.draw_artist(drawn)

    return move


def _make_badge_dresser(
    drawn: PathCollection, texts: Sequence[str], fills: Sequence[str], shape: Path
) -> Callable[[Int[np.ndarray, " point"]], None]:
    """Sets which of the texts each badge has: its shape in the text's colour, then the text in ink."""
    glyphs = [_make_text_outline(text) for text in texts]
    inks = [pick_text_colour(fill) for fill in fills]
    pairs = np.stack([to_rgba_array(list(fills)), to_rgba_array(inks)], 1)  # text 2 4

    def wear(chosen: Int[np.ndarray, " point"]) -> None:
        drawn.set_paths([path for one in chosen for path in (shape, glyphs[one])])
        drawn.set_facecolors(pairs[chosen].reshape(-1, 4))

    return wear


def _make_disc(texts: Sequence[str]) -> Path:
    """A circle around the longest of the texts, in points."""
    longest = max((measure_text_width(text, SMALL, "bold") for text in texts), default=0.0) * POINTS
    return Affine2D().scale(max(longest, 0.8 * SMALL) / 2 + 1.2).transform_path(Path.unit_circle())


def _make_tile(texts: Sequence[str]) -> Path:
    """The same as a rectangle."""
    longest = max((measure_text_width(text, SMALL, "bold") for text in texts), default=0.0) * POINTS
    size = Affine2D().translate(-0.5, -0.5).scale(max(longest, 0.8 * SMALL) + 2.4, SMALL + 2)
    return size.transform_path(Path.unit_rectangle())


def _make_text_outline(text: str) -> Path:
    """A text as an outline around (0, 0), in points."""
    path = TextPath((0, 0), text, size=SMALL, prop=FontProperties(family="DejaVu Sans", weight="bold"))
    box = path.get_extents()
    centre = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    return Affine2D().translate(-centre[0], -centre[1]).transform_path(path)


def make_look_mover(
    axes: Axes,
    query: Float[np.ndarray, "frame 2"],
    keys: _Tracks,
    weights: Float[np.ndarray, "frame point"],
    colour: str,
) -> Mover:
    """Lines from one point to others, as wide as the attention that they get."""
    paths = [Path(np.zeros((2, 2))) for _ in range(keys.shape[1])]
    drawn = PathCollection(
        paths, sizes=None, edgecolors=to_rgba_array([colour], 0.6), transform=axes.transData, animated=True
    )
    drawn.set_offset_transform(IdentityTransform())
    axes.add_collection(drawn, autolim=False)

    def move(index: int) -> None:
        for path, key in zip(paths, keys[index], strict=True):
            path.vertices[:] = query[index], key
        drawn.set_linewidths(_WIDEST_LOOK * weights[index])
        axes.draw_artist(drawn)

    return move


def make_arrow_mover(
    axes: Axes, starts: _Tracks, ends: _Tracks, colours: Sequence[str], width: float | Sequence[float] = 1.0
) -> Mover:
    """From one track to the other; `width` in points."""
    wide = np.broadcast_to(np.asarray(width, np.float64), starts.shape[1:2]) * axes.figure.dpi / 72
    drawn = PolyCollection(
        np.zeros((starts.shape[1], 7, 2)), facecolors=list(colours), edgecolors="none", linewidths=0,
        transform=IdentityTransform(), animated=True,
    )  # fmt: skip
    axes.add_collection(drawn, autolim=False)

    def move(index: int) -> None:
        start, end = (axes.transData.transform(track[index]) for track in (starts, ends))
        drawn.set_verts(_outline_arrows(start, end, wide, axes.figure.dpi / 72))
        axes.draw_artist(drawn)

    return move


def _outline_arrows(
    start: Float[np.ndarray, "arrow 2"], end: Float[np.ndarray, "arrow 2"], wide: Float[np.ndarray, " arrow"],
    point: float,
) -> Float[np.ndarray, "arrow 7 2"]:  # fmt: skip
    """Outlines in pixels, `point` of them a point; the head of a short arrow is as long as the arrow."""
    whole = end - start
    length = np.linalg.norm(whole, axis=1)
    ahead = whole / np.maximum(length, 1e-9)[:, None]
    aside = np.stack([-ahead[:, 1], ahead[:, 0]], 1)
    head = np.minimum(length, _HEAD_LENGTH * point)
    neck = end - ahead * head[:, None]
    half = aside * np.minimum(wide, length)[:, None] / 2
    barb = aside * (head * _HEAD_WIDTH / _HEAD_LENGTH / 2)[:, None]
    return np.stack([start + half, neck + half, neck + barb, end, neck - barb, neck - half, start - half], 1)


def make_cloud_movers(
    axes: Axes,
    tracks: Float[np.ndarray, "frame tok pos 2"],
    tokens: Sequence[str],
    plane: Plane,
    theme: Theme,
    label: bool,
) -> list[Mover]:
    """All token-position pairs: joined from the first position, where the token's label is, to the last."""
    colours = [pick_token_colour(token) for token in tokens]
    frames, _, places, _ = tracks.shape
    each = [colour for colour in colours for _ in range(places)]
    flat, first = tracks.reshape(frames, -1, 2), tracks[:, :, 0]
    pale = min(1.0, _FULL / flat.shape[1])  # where there are many, lines would hide the points
    away = alternate_sides(first) if plane.is_line else first - tracks.mean(2)
    return [
        make_trail_mover(axes, flat, each, 0.8, max(pale, 0.4)),
        make_chain_mover(axes, lambda index: tracks[index], colours, 0.7, 0.7 * pale),
        make_dot_mover(axes, flat, each, theme, 5.0 + 4.0 * pale),
        *([make_label_mover(axes, first, away, tokens, colours, theme)] if label else []),
    ]


def alternate_sides(tracks: Float[np.ndarray, "frame point 2"]) -> Float[np.ndarray, "frame point 2"]:
    """To the left and to the right in turns."""
    sides = np.where(np.arange(tracks.shape[1]) % 2, 1.0, -1.0)
    return np.broadcast_to(np.stack([sides, 0 * sides], 1), tracks.shape)
