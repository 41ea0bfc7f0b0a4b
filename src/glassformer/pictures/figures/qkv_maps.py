"""Q, K, V maps: every parameter of attention, what the three maps do to the plane, and where all inputs land.

A grid of the stream's plane stays a grid, stretched and turned; two arrows tell how.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Real
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, mix_colours, name_colour
from glassformer.core.words import format_percent
from glassformer.models.attention import AttentionSite
from glassformer.models.blocks import to_dense
from glassformer.models.forward import untie_parameters
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import (
    SMALL,
    Frame,
    make_sheet,
    measure_foot_height,
    measure_text_width,
    write_foot,
)
from glassformer.pictures.parts.marks import draw_data_arrow, draw_ghost_points, draw_zero_lines, show_plane
from glassformer.pictures.parts.parameter_tables import (
    ParameterBox,
    arrange_parameters,
    draw_parameter_tables,
)
from glassformer.pictures.parts.queries_keys_values import (
    NAMES,
    HeadSide,
    choose_round_step,
    describe_side_planes,
    draw_named_cloud,
    make_head_side,
    make_head_sides,
)
from glassformer.pictures.picture import Data, select_parameters

_CELLS, _FINE = 7, 4  # lines of the grid, about, and points between two of them
_COLUMNS = ("e", "q", "k", "v")
_PITCH = 4.1  # cm from column to column
_UNLIKE = 4.0  # queries that are so many times longer than keys, or shorter, get limits of their own
_PAGE_HEIGHT, _HEADER, _BETWEEN = 20.3, 0.6, 1.25  # cm: what a sheet may take; over a head; between panels
_SMALLEST, _LARGEST = 2.6, 2.85  # cm: the side of a panel


def compute(subject: Subject) -> Data:
    subject.need_heads(3)
    found = [make_head_sides(subject, head) for head in range(subject.heads)]
    entering = make_head_side("e", subject.pairs[f"{subject.layer}attn.input"], subject.stream_plane)
    grid, step = _make_cloud_grid(entering.plane, entering.points)
    arrows = step[0] * np.array([[0, 0], [1, 0], [0, 1]][: 2 if entering.plane.is_line else 3])
    stored = select_parameters(subject, f"{subject.layer}attn", f"{subject.layer}attn_norm")
    planes = [{"e": entering.plane} | {kind: three[kind].plane for kind in NAMES} for three in found]
    return {
        "tokens": subject.tokens,
        "parameters": {name: stored[name] for name in sorted(stored, key=_rank_projection)},
        "scale": subject.attention.score_scale,
        "planes": planes,
        "points": [{"e": entering.points} | {kind: three[kind].points for kind in NAMES} for three in found],
        "grids": _map_plane_points(
            subject, planes, grid, np.linspace(0, subject.context - 1, len(grid))[:, None]
        ),
        "arrows": _map_plane_points(subject, planes, arrows, 0.0),
        "unit": step[0],
        "alike": [max(ratio := _compute_size_ratio(three), 1 / ratio) < _UNLIKE for three in found],
        "one_line": {kind: [_measure_line_share(three[kind].vectors) for three in found] for kind in NAMES},
        "note": describe_side_planes(subject, found, stream=True),
    }


def _make_cloud_grid(
    plane: Plane, points: Float[np.ndarray, "*point 2"]
) -> tuple[Float[np.ndarray, "y x 2"], Float[np.ndarray, "2"]]:
    """Points along lines at round numbers around a cloud; every _FINE-th is where two lines cross."""
    low, high = points.reshape(-1, 2).min(0), points.reshape(-1, 2).max(0)
    size = high - low if plane.is_line else np.full(2, (high - low).max())
    step = np.array([choose_round_step(length, _CELLS) for length in size])
    x, y = (
        np.arange(np.floor(a / s) * _FINE, np.ceil(b / s) * _FINE + 1) * s / _FINE
        for a, b, s in zip(low, high, step, strict=True)
    )
    return np.stack(np.meshgrid(x, y), -1), step


def _map_plane_points(
    subject: Subject, planes: list[dict[str, Plane]], points: Float[np.ndarray, "*point 2"],
    spread: Real[np.ndarray, "*#point"] | float,
) -> list[dict[str, Float[np.ndarray, "*point 2"]]]:  # fmt: skip
    """Points of the plane through the mean input, and where each head's maps take them."""
    plane = planes[0]["e"]
    middle = subject.pairs[f"{subject.layer}attn.input"].mean((0, 1), dtype=np.float64)
    states = replace(plane, through=middle).lift(points)
    return [
        {
            kind: four[kind](vectors, spread)
            for kind, vectors in _project_states(subject, head, states).items()
        }
        for head, four in enumerate(planes)
    ]


def _project_states(
    subject: Subject, head: int, states: Float[np.ndarray, "*point dim"]
) -> dict[str, Float[np.ndarray, "*point size"]]:
    """The model's own projections of states of our choice, at the first position."""
    shape, attention = subject.model.architecture, subject.attention
    stream = np.asarray(states.reshape(-1, states.shape[-1]), shape.precision).T[:, None]  # dim 1 point
    params = untie_parameters(shape, subject.model.params)
    here = AttentionSite(NumpyOps(shape.precision), params, f"{subject.layer}attn", stream, range(1))
    q, k, v = attention.project(here)
    queries, keys = attention.meet(here, head, q, k)
    first = attention.group(head) * attention.values
    found = {"q": queries, "k": keys, "v": v[first : first + attention.values]}
    rows = {kind: np.asarray(to_dense(value))[:, 0].T for kind, value in found.items()}  # point size
    count = stream.shape[-1]  # a vector that does not depend on the state comes once
    every = {kind: np.broadcast_to(row, (count, row.shape[-1])) for kind, row in rows.items()}
    return {"e": states} | {k: np.reshape(r, (*states.shape[:-1], -1)) for k, r in every.items()}


def _compute_size_ratio(three: dict[str, HeadSide]) -> float:
    """How many times longer the longest query is than the longest key."""
    q, k = (float(np.linalg.norm(three[kind].vectors, axis=-1).max()) for kind in "qk")
    return max(q, 1e-9) / max(k, 1e-9)


def _measure_line_share(vectors: Float[np.ndarray, "tok pos dim"]) -> float:
    """Share of the square sum along one direction: 1 where all lie on a line through 0."""
    squares = np.linalg.svd(vectors.reshape(-1, vectors.shape[-1]), compute_uv=False) ** 2
    return float(squares[0] / max(squares.sum(), 1e-300))


def draw(data: Data, theme: Theme) -> Figure:
    heads, note = len(data["planes"]), measure_foot_height(data["note"])
    boxes, tables = arrange_parameters(data["parameters"], _PITCH)
    room = _PAGE_HEIGHT - tables - note - heads * _HEADER
    rows = 2 if room / (2 * heads) - _BETWEEN >= _SMALLEST else 1  # grid and cloud apart, or one on the other
    side = min(_LARGEST, room / (rows * heads) - _BETWEEN)
    block = rows * (side + _BETWEEN) + _HEADER
    paper = make_sheet(theme, tables + heads * block - 0.4 + note, title(data))
    _explain_letters(paper, data, boxes, draw_parameter_tables(paper, data["parameters"], boxes))
    for head in range(heads):
        part = paper.part(0, tables + head * block, paper.width, block)
        if heads > 1:
            part.write(0, 0, f"head {head}", weight="bold")
        _draw_head_maps(part, data, head, rows, side)
    write_foot(paper, data["note"])
    return paper.figure


def _draw_head_maps(part: Frame, data: Data, head: int, rows: int, side: float) -> None:
    """The grid, and below it or on it all pairs: as they enter, and after each map."""
    for column, kind in enumerate(_COLUMNS):
        left = 1.0 + column * _PITCH
        axes = part.axes(left, _HEADER + 0.1, side, side)
        _draw_mapped_grid(axes, data, head, kind, part.theme)
        below = axes if rows == 1 else part.axes(left, _HEADER + 0.1 + side + _BETWEEN, side, side)
        _draw_mapped_cloud(below, data, head, kind, part.theme)


def title(data: Data) -> str:
    count = sum(array.size for array in data["parameters"].values())
    shares = [f"{NAMES[kind]} {' and '.join(map(format_percent, data['one_line'][kind]))}" for kind in NAMES]
    heads = " (head by head)" if len(data["planes"]) > 1 else ""
    return (
        f"All {count} parameters of attention, and their maps of the inputs; share of the square sum along a "
        f"single line{heads}: {', '.join(shares)}"
    )


def _rank_projection(name: str) -> tuple[int, str]:
    """Queries, keys, values, and then the others."""
    part = name.rpartition("attn.")[2].partition(".")[0]
    return ("q", "k", "v", part).index(part), name


def _explain_letters(paper: Frame, data: Data, boxes: list[ParameterBox], free: float) -> None:
    """What the letters mean, where the matrices leave room for it."""
    left = 0.05 if not boxes or boxes[0].left > _PITCH else free + 0.8
    top = boxes[-1].top if boxes else 0.35
    text = f"e: what enters\nq, k, v: maps of e\nscore: {data['scale']:.3g} q · k"
    if left + measure_text_width("score: 0.1234 q · k", SMALL) < paper.width:
        paper.write(left, top - 0.35, text, SMALL + 0.5, color=paper.theme.muted)


def _draw_mapped_grid(axes: Axes, data: Data, head: int, kind: str, theme: Theme) -> None:
    """The grid after one map, with one step along each axis of the stream."""
    grid, arrows, points = (data[part][head][kind] for part in ("grids", "arrows", "points"))
    show_plane(
        axes, data["planes"][head][kind], _compute_map_limits(data, head, kind, ("grids", "points"), 0.04)
    )
    axes.set_title(describe_map_stretch(data, head, kind))
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, points, theme, 4.0)
    colours = (theme.positive, theme.negative)
    lines = (grid[:, ::_FINE].swapaxes(0, 1), grid[::_FINE])
    for family, colour in zip(lines, colours[::-1], strict=True):
        tint = mix_colours(colour, theme.paper, 0.55)
        axes.add_collection(LineCollection(family, colors=tint, linewidths=0.6, zorder=1.5), autolim=False)
    for end, colour in zip(arrows[1:], colours, strict=False):
        draw_data_arrow(axes, arrows[0], end, colour, 1.6)


def describe_map_stretch(data: Data, head: int, kind: str) -> str:
    """How much a map stretches the plane, and whether it turns it over."""
    if kind == "e":
        return "a grid, as it enters"
    image = _map_unit_steps(data, head, kind)
    sizes = np.linalg.svd(image, compute_uv=False)
    both = ", ".join(format_factor(size) for size in sizes)
    four = data["planes"][head]
    as_it_is = image.shape == (2, 2) and not four["e"].note and not four[kind].note
    return f"{kind}: {both}{', flipped' if as_it_is and np.linalg.det(image) < 0 else ''}"


def format_factor(factor: float) -> str:
    """A factor in few characters.

    >>> format_factor(14.81), format_factor(0.097), format_factor(0.0018), format_factor(123.4)
    ('15\u00d7', '0.10\u00d7', '<0.01\u00d7', '123\u00d7')
    """
    if factor < 0.01:
        text = "<0.01" if factor else "0"
    else:
        text = f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}" if factor >= 1 else f"{factor:.2f}"
    return f"{text}\N{MULTIPLICATION SIGN}"


def _map_unit_steps(data: Data, head: int, kind: str) -> Float[np.ndarray, "arrow 2"]:
    """The images of the stream's unit steps, as drawn."""
    ends = data["arrows"][head][kind]
    found: np.ndarray = (ends[1:] - ends[0]) / data["unit"]
    return found


def _draw_mapped_cloud(axes: Axes, data: Data, head: int, kind: str, theme: Theme) -> None:
    """All token-position pairs after one map, on the grid or in axes of their own."""
    if not axes.get_title(loc="left"):
        show_plane(axes, data["planes"][head][kind], _compute_map_limits(data, head, kind, ("points",), 0.12))
        axes.set_title("all inputs e" if kind == "e" else f"all {NAMES[kind]} {kind}")
        draw_zero_lines(axes, theme)
    draw_named_cloud(axes, data["points"][head][kind], data["tokens"], theme)


def _compute_map_limits(
    data: Data, head: int, kind: str, parts: tuple[str, ...], room: float
) -> Float[np.ndarray, "2 2"]:
    """Around what is drawn and the origin; queries and keys alike, where they are of like size."""
    alike = ("q", "k") if kind in "qk" and data["alike"][head] else (kind,)
    plane: Plane = data["planes"][head][kind]
    clouds = [data[part][head][one] for part in parts for one in alike]
    return plane.limits(*clouds, np.zeros((1, 2)), room=room)


def caption(data: Data) -> str:
    return (
        "Every parameter of attention, under the name it is stored by; a grid of the plane of "
        f"what enters attention, and where the query, key and value maps take it; the arrows are "
        f"{data['unit']:g} along the first axis ({name_colour('positive')}) and the second "
        f"({name_colour('negative')}), and the factors over a panel "
        "are the largest and smallest stretch of a step of the plane as drawn (flipped: turned over); "
        "and every token at every position after each map; a line joins the positions of a token, the large "
        "dot is p0. Queries and keys of a head share their "
        f"plane{', and its limits' if all(data['alike']) else ''}; nothing is centred. "
        f"{data['note']}"
    )
