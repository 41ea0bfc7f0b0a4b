"""How the model knows places: the table that joins the tokens, rotations or slopes inside attention.

Three dimensions are drawn as what they are, seen obliquely; others through the plane that shows them best.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from glassformer.draw.measure.plane import plane_of
from glassformer.draw.parts.frame import Frame
from glassformer.draw.parts.labels import place_labels
from glassformer.draw.parts.marks import cross, show_plane
from glassformer.draw.parts.matrices import share_map
from glassformer.draw.picture import Data
from glassformer.draw.poster.projection import seen
from glassformer.draw.poster.relations import DIALS, distances, draw_relations, relation_words, relations
from glassformer.draw.poster.style import SIZE, paragraph, place_colour
from glassformer.draw.poster.sums import Sums
from glassformer.draw.poster.words import counted, listed, lowered
from glassformer.draw.theme import Theme
from glassformer.model.forward import parameters

SCORE_WORDS = (
    "Right: e to the mean score of each place less the best one's, for every answer digit (rows, in "
    "the order of writing): the stronger the colour, the nearer to 1; places as pale as the ground get "
    "almost no weight."
)
SIDE = 7.2  # cm: the view on the left
MOST = 6  # heads that have a map, the last ones
SAME = 1e-6  # of the largest number of a table: what differs by less is the same
FLOOR = -10.0  # scores so far below the best one weigh less than 1 in 20,000


def compute(sums: Sums) -> Data:
    table, labels = sums.place_table, sums.layout.position_labels()[: sums.layout.length - 1]
    used = np.flatnonzero(np.ptp(table, 0) + np.abs(table).max(0))
    groups = same_rows(table, labels)
    return {
        "table": table,
        "labels": labels,
        "kind": sums.architecture.position.kind,
        "numbers": sum(
            one.free for name, one in parameters(sums.architecture).items() if name.startswith("position.")
        ),
        "groups": groups,
        "view": view(
            table[:, used],
            groups,
            used + sums.architecture.token_dims * bool(sums.architecture.position_dims),
        ),
        "relations": relations(sums),
        "scores": {head.name: sums.sample.scores[f"{head.layer}.{head.head}"] for head in sums.heads[-MOST:]},
        "columns": sums.columns,
        "distances": distances(sums),
        "shared": shared_columns(groups, labels, sums.task.digits),
    }


def same_rows(table: np.ndarray, labels: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    """Places that are told apart by nothing in the table, with a common name: x3, y3 and z3 are `xyz3`."""
    _, index = np.unique(nearly(table), axis=0, return_inverse=True)
    found: list[tuple[str, list[int]]] = []
    for group in dict.fromkeys(index.ravel().tolist()):
        places = np.flatnonzero(index.ravel() == group).tolist()
        found.append((common_name([labels[place] for place in places]), places))
    return found


def nearly(table: np.ndarray) -> np.ndarray:
    """With each number that is another one of its column but for rounding put to that one.

    >>> nearly(np.array([[2.0], [1.0], [1.0 + 1e-8]])).tolist()
    [[2.0], [1.0], [1.0]]
    """
    merged, least = table.copy(), SAME * float(np.abs(table).max(initial=0.0))
    for column in merged.T:
        order = np.argsort(column, kind="stable")
        starts = np.r_[True, np.diff(column[order]) > least]
        column[order] = column[order][starts][np.cumsum(starts) - 1]
    return merged


def shared_columns(groups: list[tuple[str, list[int]]], labels: tuple[str, ...], digits: int) -> str:
    """Which digits have the same place in every column: `xₖ, yₖ and zₖ`; empty where none have."""
    together = [{labels[place] for place in places} for _, places in groups]
    for letters in ("xyz", "xy", "xz", "yz"):
        columns = [{f"{letter}{column}" for letter in letters} for column in range(digits)]
        if all(any(column <= group for group in together) for column in columns):
            return listed([f"{letter}ₖ" for letter in letters])
    return ""


def common_name(labels: list[str]) -> str:
    """The name of places that share a point: the letters of a column together, signs as they are.

    >>> common_name(["x3", "y3", "z3"]), common_name(["+"]), common_name(["x9", "y9"])
    ('xyz₃', '+', 'xy₉')
    """
    numbers = list(dict.fromkeys(label[1:] for label in labels if label[1:].isdigit()))
    letters = {number: "".join(label[0] for label in labels if label[1:] == number) for number in numbers}
    signs = [label for label in labels if not label[1:].isdigit()]
    return " ".join([lowered(letters[number] + number) for number in numbers] + signs)


def view(table: np.ndarray, groups: list[tuple[str, list[int]]], dims: np.ndarray) -> Data:
    """The places as points: in space, in a plane, or nowhere."""
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
        return {"kind": "space", "note": note, "points": seen(rows), "floor": seen(floor), "ring": seen(ring),
                "origin": seen(np.array([[0, 0, low], [0, 0, rows[:, 2].max() * 1.1]]))}  # fmt: skip
    plane = plane_of(table, "place")
    return {"kind": "plane", "plane": plane, "points": plane(table[first], np.array(first, float))}


def title(data: Data) -> str:
    if data["view"]["kind"] != "none":
        told = f"{len(data['groups'])} different points for {len(data['labels'])} places"
        share = f"; {data['shared']} share one" if data["shared"] else ""
        curve = {"spiral": "A spiral", "circle": "A circle"}.get(data["kind"], f"A {data['kind']} table")
        return f"{curve} of places: {told}{share}"
    for relation in data["relations"]:
        if relation["kind"] == "rope":
            angles = listed([f"{np.degrees(rate):.1f}°" for rate in relation["rates"][:DIALS]])
            return (
                f"No table of places: queries and keys are turned by {angles} a place, so that scores see "
                "distances"
            )
        return "No table of places: each head lowers a score by its slope times the distance"
    return "Nothing tells places apart but that later ones are hidden"


def draw(frame: Frame, data: Data) -> None:
    lines: list[str] = []
    if data["view"]["kind"] == "space":
        draw_space(frame.axes(0, 0.45, SIDE + 0.6, SIDE), data, frame.theme)
        lines.append(data["view"]["note"])
    elif data["view"]["kind"] == "plane":
        draw_plane(frame.axes(1.2, 0.45, SIDE - 0.8, SIDE - 0.8), data, frame.theme)
        lines.append(data["view"]["plane"].note)
    elif data["relations"]:
        draw_relations(frame, data, SIDE)
        lines += relation_words(data)
    else:
        frame.write(0.3, 3.5, "no positions", 16, color=frame.theme.muted)
    draw_scores(frame, data)
    lines.append(SCORE_WORDS)
    paragraph(frame, 0, 8.25, frame.width, [line for line in lines if line])


def draw_space(axes: Axes, data: Data, theme: Theme) -> None:
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
    draw_points(axes, data, points, theme)


def draw_plane(axes: Axes, data: Data, theme: Theme) -> None:
    view = data["view"]
    show_plane(axes, view["plane"], view["plane"].limits(view["points"], np.zeros((1, 2)), room=0.14))
    cross(axes, theme)
    axes.plot(*view["points"].T, color=theme.faint, linewidth=0.8, zorder=1)
    draw_points(axes, data, view["points"], theme)


def draw_points(axes: Axes, data: Data, points: np.ndarray, theme: Theme) -> None:
    """Groups of places that share a point, the colour of the first one's number."""
    names = [name for name, _ in data["groups"]]
    colours = [place_colour(data["labels"][places[0]], theme) for _, places in data["groups"]]
    axes.scatter(*points.T, s=34, c=colours, edgecolors=theme.paper, linewidths=0.6, zorder=5)
    place_labels(axes, points, names, theme, colours, size=SIZE)


def draw_scores(frame: Frame, data: Data) -> None:
    """The mean score of every place for every answer digit, less the best of its row: one map a head."""
    theme, heads = frame.theme, data["scores"]
    left, wide, top = SIDE + 1.9, frame.width - SIDE - 1.95, 0.5
    gap = 0.55
    high = (7.2 - top - gap * (len(heads) - 1)) / len(heads)
    high = min(high, 5.8)
    for row, (name, scores) in enumerate(heads.items()):
        axes = frame.axes(left, top + row * (high + gap), wide, high)
        best = np.nanmax(scores, 1, keepdims=True)
        shown = np.exp(np.maximum(scores - best, FLOOR))
        colours = share_map(theme).with_extremes(bad=theme.paper)
        axes.imshow(shown, colours, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axes.set_title(f"score of every place, {name}" if len(heads) > 1 else "score of every place")
        name_map(axes, data, high, row == len(heads) - 1)


def name_map(axes: Axes, data: Data, high: float, is_last: bool) -> None:
    steps = range(len(data["columns"])) if high > 2.8 else (0, len(data["columns"]) - 1)
    axes.set_yticks(list(steps), [lowered(f"z{data['columns'][step]}") for step in steps])
    ends = [place for place, label in enumerate(data["labels"]) if is_end(label, data["labels"], place)]
    axes.set_xticks(ends, [lowered(data["labels"][place]) for place in ends] if is_last else [""] * len(ends))
    axes.tick_params(length=2)


def is_end(label: str, labels: tuple[str, ...], place: int) -> bool:
    """First and last digits of the numbers."""
    beside = [labels[other][:1] for other in (place - 1, place + 1) if 0 <= other < len(labels)]
    return label[1:].isdigit() and (len(beside) < 2 or any(letter != label[0] for letter in beside))


def caption(data: Data) -> str:
    relation: list[Any] = [one["kind"] for one in data["relations"]]
    inside = f"Inside attention: {listed(relation)}. " if relation else ""
    return (
        f"Positions: a table of kind {data['kind']} with {counted(data['numbers'], 'stored number')}. "
        f"{inside}"
        f"{SCORE_WORDS} Means over random sums."
    )
