"""How the model encodes positions: the table added to the tokens, rotations or slopes inside attention.

Three dimensions are drawn as what they are, seen obliquely; others through the plane that shows them best.
"""

import numpy as np
from matplotlib.axes import Axes

from glassformer.core.theme import Theme
from glassformer.core.words import format_count, join_words, lower_digits
from glassformer.models.forward import list_parameters
from glassformer.pictures.measure.plane import fit_plane
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import draw_zero_lines, show_plane
from glassformer.pictures.parts.matrices import make_share_colours
from glassformer.pictures.picture import Data
from glassformer.pictures.poster.column_kernel import ColumnKernel, title_column_kernel
from glassformer.pictures.poster.projection import project_points
from glassformer.pictures.poster.relations import (
    DIALS,
    Biases,
    Rotations,
    collect_position_relations,
    describe_position_relation,
    draw_relation,
    find_digit_distances,
)
from glassformer.pictures.poster.style import (
    SIZE,
    choose_position_colour,
    is_end_digit,
    write_paragraph,
)
from glassformer.pictures.poster.sums import Sums

_SCORE_WORDS = (
    "Right: exp(mean score of each position minus the best one's), for every answer digit (rows, in the "
    "order of writing). Strong colour: near 1; positions in the background colour get almost no weight."
)
_KERNEL_WORDS = "Right: the same at every position, for every answer digit (rows, in the order of writing)."
_SIDE = 7.2  # cm: the view on the left
_MOST = 6  # heads that have a map, the last ones
_SAME = 1e-6  # of the largest number of a table: what differs by less is the same
_FLOOR = -10.0  # scores so far below the best one weigh less than 1 in 20,000


def compute(sums: Sums) -> Data:
    table, labels = sums.place_table, sums.layout.position_labels()[: sums.layout.length - 1]
    used = np.flatnonzero(np.ptp(table, 0) + np.abs(table).max(0))
    groups = group_same_rows(table, labels)
    return {
        "table": table,
        "labels": labels,
        "kind": sums.architecture.position.kind,
        "numbers": sum(
            one.free
            for name, one in list_parameters(sums.architecture).items()
            if name.startswith("position.")
        ),
        "groups": groups,
        "view": _view_positions(
            table[:, used],
            groups,
            used + sums.architecture.token_dims * bool(sums.architecture.position_dims),
        ),
        "relations": collect_position_relations(sums),
        "scores": {
            head.name: sums.sample.scores[f"{head.layer}.{head.head}"] for head in sums.heads[-_MOST:]
        },
        "columns": sums.columns,
        "distances": find_digit_distances(sums),
        "shared": _describe_shared_columns(groups, labels, sums.task.digits),
    }


def group_same_rows(table: np.ndarray, labels: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    """Positions that are told apart by nothing in the table, with a common name: x3, y3 and z3 are `xyz3`."""
    _, index = np.unique(_snap_numbers(table), axis=0, return_inverse=True)
    found: list[tuple[str, list[int]]] = []
    for group in dict.fromkeys(index.ravel().tolist()):
        places = np.flatnonzero(index.ravel() == group).tolist()
        found.append((_make_common_name([labels[place] for place in places]), places))
    return found


def _snap_numbers(table: np.ndarray) -> np.ndarray:
    """With each number that is another one of its column but for rounding put to that one.

    >>> _snap_numbers(np.array([[2.0], [1.0], [1.0 + 1e-8]])).tolist()
    [[2.0], [1.0], [1.0]]
    """
    merged, least = table.copy(), _SAME * float(np.abs(table).max(initial=0.0))
    for column in merged.T:
        order = np.argsort(column, kind="stable")
        starts = np.r_[True, np.diff(column[order]) > least]
        column[order] = column[order][starts][np.cumsum(starts) - 1]
    return merged


def _describe_shared_columns(
    groups: list[tuple[str, list[int]]], labels: tuple[str, ...], digits: int
) -> str:
    """Which digits have the same position in every column: `xₖ, yₖ and zₖ`; empty where none have."""
    together = [{labels[place] for place in places} for _, places in groups]
    for letters in ("xyz", "xy", "xz", "yz"):
        columns = [{f"{letter}{column}" for letter in letters} for column in range(digits)]
        if all(any(column <= group for group in together) for column in columns):
            return join_words([f"{letter}ₖ" for letter in letters])
    return ""


def _make_common_name(labels: list[str]) -> str:
    """The name of positions that share a point: the letters of a column together, signs as they are.

    >>> _make_common_name(["x3", "y3", "z3"]), _make_common_name(["+"]), _make_common_name(["x9", "y9"])
    ('xyz₃', '+', 'xy₉')
    """
    numbers = list(dict.fromkeys(label[1:] for label in labels if label[1:].isdigit()))
    letters = {number: "".join(label[0] for label in labels if label[1:] == number) for number in numbers}
    signs = [label for label in labels if not label[1:].isdigit()]
    return " ".join([lower_digits(letters[number] + number) for number in numbers] + signs)


def _view_positions(table: np.ndarray, groups: list[tuple[str, list[int]]], dims: np.ndarray) -> Data:
    """The positions as points: in space, in a plane, or nowhere."""
    first = [places[0] for _, places in groups]
    if not table.shape[1]:
        return {"kind": "none"}
    if table.shape[1] == 3:
        rows = table[first]
        low = rows[:, 2].min() - 0.25 * max(np.ptp(rows[:, 2]), 0.3 * np.ptp(rows[:, :2]))
        floor = np.c_[rows[:, :2], np.full(len(rows), low)]
        reach, around = np.linalg.norm(rows[:, :2], axis=1).max() * 1.12, np.linspace(0, 2 * np.pi, 73)
        ring = np.stack([reach * np.cos(around), reach * np.sin(around), np.full(73, low)], 1)
        note = (
            f"Seen obliquely, true to scale: dimensions {dims[0]} and {dims[1]} along the floor, {dims[2]} "
            "upwards; thin lines go down to the floor."
        )
        origin = np.array([[0, 0, low], [0, 0, rows[:, 2].max() * 1.1]])
        seen = {"points": rows, "floor": floor, "ring": ring, "origin": origin}
        return {"kind": "space", "note": note} | {name: project_points(part) for name, part in seen.items()}
    plane = fit_plane(table, "place")
    return {"kind": "plane", "plane": plane, "points": plane(table[first], np.array(first, float))}


def title(data: Data) -> str:
    if data["view"]["kind"] != "none":
        told = f"{len(data['groups'])} different points for {len(data['labels'])} positions"
        share = f"; {data['shared']} share one" if data["shared"] else ""
        curve = {"spiral": "A spiral", "circle": "A circle"}.get(data["kind"], f"A {data['kind']} table")
        return f"{curve} of positions: {told}{share}"
    for relation in data["relations"]:
        if isinstance(relation, Rotations):
            angles = join_words([f"{np.degrees(rate):.1f}°" for rate in relation.rates[:DIALS]])
            return (
                f"No position table: queries and keys are rotated by {angles} per position, so scores depend "
                "on distances"
            )
        if isinstance(relation, ColumnKernel):
            return title_column_kernel(relation)
        if isinstance(relation, Biases):
            return f"No position table: {relation.effect}"
        return "No position table: each head lowers a score by its slope times the distance"
    return "Only the causal mask tells positions apart"


def draw(frame: Frame, data: Data) -> None:
    lines: list[str] = []
    if data["view"]["kind"] == "space":
        _draw_position_space(frame.axes(0, 0.45, _SIDE + 0.6, _SIDE), data, frame.theme)
        lines.append(data["view"]["note"])
    elif data["view"]["kind"] == "plane":
        _draw_position_plane(frame.axes(1.2, 0.45, _SIDE - 0.8, _SIDE - 0.8), data, frame.theme)
        lines.append(data["view"]["plane"].note)
    elif data["relations"]:
        relation, distances = data["relations"][0], data["distances"]
        draw_relation(frame, relation, distances, len(data["labels"]), _SIDE)
        lines += describe_position_relation(relation, distances)
    else:
        frame.write(0.3, 3.5, "no positions", 16, color=frame.theme.muted)
    _draw_position_scores(frame, data)
    lines.append(_describe_score_map(data))
    write_paragraph(frame, 0, 8.25, frame.width, [line for line in lines if line])


def _describe_score_map(data: Data) -> str:
    """What is at the right; where the left has the weights of columns, that says most of it."""
    is_kernel = any(isinstance(relation, ColumnKernel) for relation in data["relations"])
    return _KERNEL_WORDS if is_kernel else _SCORE_WORDS


def _draw_position_space(axes: Axes, data: Data, theme: Theme) -> None:
    view = data["view"]
    points, floor, ring = view["points"], view["floor"], view["ring"]
    every = np.concatenate([points, floor, ring, view["origin"]])
    low, high = every.min(0), every.max(0)
    box, centre = axes.get_position(), (low + high) / 2
    paper = np.array([box.width * axes.figure.get_figwidth(), box.height * axes.figure.get_figheight()])
    half = ((high - low) / paper).max() * paper / 2 * 1.04
    axes.set_xlim(centre[0] - half[0], centre[0] + half[0])
    axes.set_ylim(centre[1] - half[1], centre[1] + half[1])
    axes.set_axis_off()
    axes.fill(*ring.T, color=theme.zero, zorder=0)
    axes.plot(*ring.T, color=theme.faint, linewidth=0.8, zorder=1)
    axes.plot(*view["origin"].T, color=theme.faint, linewidth=1.2, zorder=1)
    on_curve = [
        index for index, (_, places) in enumerate(data["groups"]) if data["labels"][places[0]][1:].isdigit()
    ]
    axes.plot(*points[on_curve].T, color=theme.muted, linewidth=1.2, zorder=3)
    for point, below in zip(points, floor, strict=True):
        axes.plot(*np.stack([point, below]).T, color=theme.faint, linewidth=0.7, zorder=2)
    axes.scatter(*floor.T, s=6, color=theme.faint, linewidths=0, zorder=2)
    _draw_position_points(axes, data, points, theme)


def _draw_position_plane(axes: Axes, data: Data, theme: Theme) -> None:
    view = data["view"]
    show_plane(axes, view["plane"], view["plane"].limits(view["points"], np.zeros((1, 2)), room=0.14))
    draw_zero_lines(axes, theme)
    axes.plot(*view["points"].T, color=theme.faint, linewidth=0.8, zorder=1)
    _draw_position_points(axes, data, view["points"], theme)


def _draw_position_points(axes: Axes, data: Data, points: np.ndarray, theme: Theme) -> None:
    """Groups of positions that share a point, the colour of the first one's number."""
    names = [name for name, _ in data["groups"]]
    colours = [choose_position_colour(data["labels"][places[0]], theme) for _, places in data["groups"]]
    axes.scatter(*points.T, s=34, c=colours, edgecolors=theme.paper, linewidths=0.6, zorder=5)
    place_labels(axes, points, names, theme, colours, size=SIZE)


def _draw_position_scores(frame: Frame, data: Data) -> None:
    """The mean score of every position for every answer digit, minus the best of its row, per head."""
    theme, heads = frame.theme, data["scores"]
    left, wide, top = _SIDE + 1.9, frame.width - _SIDE - 1.95, 0.5
    gap = 0.55
    high = (7.2 - top - gap * (len(heads) - 1)) / len(heads)
    high = min(high, 5.8)
    for row, (name, scores) in enumerate(heads.items()):
        axes = frame.axes(left, top + row * (high + gap), wide, high)
        best = np.nanmax(scores, 1, keepdims=True)
        shown = np.exp(np.maximum(scores - best, _FLOOR))
        colours = make_share_colours(theme).with_extremes(bad=theme.paper)
        axes.imshow(shown, colours, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axes.set_title(f"score of every position, {name}" if len(heads) > 1 else "score of every position")
        _name_score_map(axes, data, high, row == len(heads) - 1)


def _name_score_map(axes: Axes, data: Data, high: float, is_last: bool) -> None:
    steps = range(len(data["columns"])) if high > 2.8 else (0, len(data["columns"]) - 1)
    axes.set_yticks(list(steps), [lower_digits(f"z{data['columns'][step]}") for step in steps])
    ends = [place for place, label in enumerate(data["labels"]) if is_end_digit(label, data["labels"], place)]
    axes.set_xticks(
        ends, [lower_digits(data["labels"][place]) for place in ends] if is_last else [""] * len(ends)
    )
    axes.tick_params(length=2)


def caption(data: Data) -> str:
    kinds = [one.kind for one in data["relations"]]
    inside = f"Inside attention: {join_words(kinds)}. " if kinds else ""
    words = " ".join(
        line for one in data["relations"] for line in describe_position_relation(one, data["distances"])
    )
    table = (
        "Positions: no table. "
        if data["view"]["kind"] == "none"
        else f"Positions: a table of kind {data['kind']} with "
        f"{format_count(data['numbers'], 'stored parameter')}. "
    )
    return f"{table}{inside}{words} {_describe_score_map(data)} Means over random sums."
