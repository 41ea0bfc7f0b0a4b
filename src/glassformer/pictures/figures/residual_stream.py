"""Residual stream: one sequence from embedding e over the state after attention z to the final state h.

With residual connections z = e + attention and h = z + feed-forward; without them each replaces the state.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.pictures.measure.demand import describe_answer
from glassformer.pictures.measure.landscape import compute_state_probabilities, make_landscape, make_slice
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame, make_sheet, measure_foot_height, write_foot
from glassformer.pictures.parts.labels import Taken, place_labels, to_points
from glassformer.pictures.parts.marks import (
    describe_slices,
    draw_data_arrow,
    make_readable_colour,
    show_plane,
)
from glassformer.pictures.parts.matrices import MOST_NUMBERS
from glassformer.pictures.parts.regions import draw_winner_regions
from glassformer.pictures.parts.sequence_matrices import (
    HEADINGS,
    MOST_LISTED,
    ROW_NAMES,
    draw_position_matrix,
    format_scale_end,
    format_token_position,
    measure_matrix_height,
)
from glassformer.pictures.picture import Data

_SIDE, _LEFT, _GAP = 7.0, 0.95, 0.5  # cm: a map, what stands left of it, between matrices
_MATRICES = 8.0  # cm for the rows of all matrices
_CLIMB = 0.3  # in one dimension, where y is the position: z is drawn this much above e, and h above z
_SAME_SPOT = 6.0  # points within which positions with the same answer share a name
_MOST_NAMED, _LAST_NAMED = 12, 8  # positions up to which all are named, and how many of more


def compute(subject: Subject) -> Data:
    trace, layer, _ = subject.trace(0), subject.layer, subject.attention
    steps = {
        "e": trace[subject.entering],
        "attention": trace[f"{layer}attn.output"],
        "z": trace[f"{layer}mid"],
        "feed-forward": trace.get(f"{layer}ff.output", 0 * trace[f"{layer}mid"]),
        "h": trace[f"{layer}stream"],
    }  # each pos dim
    probability = compute_state_probabilities(subject.model, steps["h"], from_mid=False)
    return {
        "labels": subject.labels(0),
        "tokens": subject.tokens,
        "residual": subject.model.architecture.layers[-1].residual,
        "has_feedforward": subject.model.architecture.layers[-1].feedforward is not None,
        "steps": steps,
        "predicted": probability.argmax(-1),
        "verdict": describe_answer(subject.tokens, probability[-1], subject.demanded(0), subject.words),
        "lens": {
            name: int(compute_state_probabilities(subject.model, steps[name][-1:], False).argmax())
            for name in "ez"
        },
        "middle": _make_path_map(subject, steps, "mid", "z", "ez"),
        "end": _make_path_map(subject, steps, "stream", "h", "ezh"),
    }


def _make_path_map(subject: Subject, steps: Data, part: str, name: str, path: str) -> Data:
    """The sequence's path through a slice that holds the last position's state, and who wins there."""
    states = steps[name]
    about = f"the last position's {name}"
    plane = make_slice(states, "stream", about, subject.dims, centre=states[-1])
    places = np.arange(len(steps["e"]), dtype=float)
    climbs = [plane(steps[step], places + _CLIMB * index) for index, step in enumerate(path)]
    points = np.stack(climbs, 1)  # pos step 2
    land = make_landscape(subject.model, plane, plane.limits(points, room=0.12), from_mid=part == "mid")
    same = land.winner_at(points[:, -1]) == compute_state_probabilities(
        subject.model, steps["h"], False
    ).argmax(-1)
    found = {"plane": plane, "points": points, "agreeing": int(same.sum())}
    return found | {"limits": land.limits, "winner": land.winner}


def draw(data: Data, theme: Theme) -> Figure:
    rows = _arrange_matrix_rows(data)
    high = HEADINGS + _choose_matrix_height(data)
    top = len(rows) * (high + 0.25) + 0.7
    paper = make_sheet(theme, top + _SIDE + 0.8 + measure_foot_height(_foot(data)), title(data))
    for index, row in enumerate(rows):
        _draw_stream_matrices(paper.part(0, index * (high + 0.25), paper.width, high), data, row)
    for column, kind in enumerate(("middle", "end")):
        axes = paper.axes(_LEFT + column * (_SIDE + 1.4), top, _SIDE, _SIDE)
        _draw_stream_paths(axes, data, kind, theme)
    write_foot(paper, _foot(data))
    return paper.figure


def _arrange_matrix_rows(data: Data) -> list[list[str]]:
    """Which matrices stand in which row: two rows at most, without what the others tell where need be."""
    names = list(data["steps"]) if data["residual"] else ["e", "z", "h"]
    wide = _choose_matrix_width(data)
    fitting = int((16.4 - ROW_NAMES + _GAP) // (wide + _GAP))
    if len(names) > 2 * fitting:
        names.remove("feed-forward")
    return [names[start : start + fitting] for start in range(0, len(names), fitting)]


def _choose_matrix_width(data: Data) -> float:
    """Wide enough for numbers where there are any."""
    places, dims = data["steps"]["e"].shape
    return float(np.clip(0.62 * dims, 2.4, 7.44)) if max(places, dims) <= MOST_NUMBERS else 2.4


def _choose_matrix_height(data: Data) -> float:
    """Of a matrix; lower where there are two rows of them."""
    return min(measure_matrix_height(len(data["labels"])), _MATRICES / len(_arrange_matrix_rows(data)))


def _draw_stream_matrices(frame: Frame, data: Data, row: list[str]) -> None:
    """A row of matrices with the signs between them; those that add up share a scale."""
    wide, high = _choose_matrix_width(data), _choose_matrix_height(data)
    for column, name in enumerate(row):
        x = ROW_NAMES + column * (wide + _GAP)
        group = ("e", "attention", "z") if name in ("e", "attention", "z") else ("feed-forward", "h")
        largest = max(float(np.abs(data["steps"][one]).max()) for one in group)
        axes = frame.axes(x, HEADINGS, wide, high)
        scale = (
            f" ({format_scale_end(largest)})" if name in ("e", "h") else ""
        )  # once for those that share it
        heading = _format_matrix_name(name, data) + scale
        draw_position_matrix(
            axes, data["steps"][name], data["labels"], frame.theme, heading, names=not column, largest=largest
        )
        if column:
            frame.write(
                x - _GAP / 2,
                HEADINGS + high / 2 - 0.2,
                _choose_sign_between(row[column - 1], name),
                10.0,
                ha="center",
            )


def _format_matrix_name(name: str, data: Data) -> str:
    return name if data["residual"] else {"e": "e", "z": "z: attention", "h": "h: feed-forward"}[name]


def _choose_sign_between(name: str, following: str) -> str:
    signs = {
        ("e", "attention"): "+",
        ("attention", "z"): "=",
        ("z", "feed-forward"): "+",
        ("feed-forward", "h"): "=",
    }
    return signs.get((name, following), "\N{RIGHTWARDS ARROW}")


def _draw_stream_paths(axes: Axes, data: Data, kind: str, theme: Theme) -> None:
    """Every position's arrows over the map, the last position's thick, with names at their ends."""
    found = data[kind]
    points: Float[np.ndarray, "pos step 2"] = found["points"]
    taken: Taken = []
    names = {
        "middle": "e to z, over the predictions at every z",
        "end": f"e to z ({name_colour('accent')}) to h, over the predictions at every h",
    }
    show_plane(axes, found["plane"], found["limits"], names[kind])
    flat = points.reshape(-1, 2)
    draw_winner_regions(axes, found["winner"], found["limits"], data["tokens"], theme, taken, avoid=flat)
    for place, path in enumerate(points):
        is_last = place == len(points) - 1
        for start, end, colour in zip(path, path[1:], (theme.accent, theme.ink), strict=False):
            draw_data_arrow(axes, start, end, colour, 1.9 if is_last else 0.6, 1.0 if is_last else 0.75)
    _mark_path_ends(axes, data, points, theme)
    _name_path_ends(axes, data, kind, theme, taken)


def _mark_path_ends(axes: Axes, data: Data, points: Float[np.ndarray, "pos step 2"], theme: Theme) -> None:
    """A dot in the token's colour at e, a square in the predicted token's colour at h."""
    sizes = np.r_[np.full(len(points) - 1, 12.0), 34.0]
    starts = [pick_token_colour(label) for label in data["labels"]]
    look = {"s": sizes, "linewidths": 0.5, "edgecolors": theme.ink, "zorder": 5}
    axes.scatter(*points[:, 0].T, c=starts, **look)
    if points.shape[1] == 3:
        ends = [pick_token_colour(data["tokens"][token]) for token in data["predicted"]]
        axes.scatter(*points[:, 2].T, c=ends, marker="s", **look)


def _name_path_ends(axes: Axes, data: Data, kind: str, theme: Theme, taken: Taken) -> None:
    """`+@p7` at the embeddings of the first map, `p7: 2` at the final states of the second."""
    labels, points, last = data["labels"], data[kind]["points"], len(data["labels"]) - 1
    shown = list(
        range(len(labels)) if len(labels) <= _MOST_NAMED else range(last - _LAST_NAMED + 1, last + 1)
    )
    starts = shown if kind == "middle" else [last]
    names = [(points[place, 0], f"{labels[place]}@p{place}", labels[place]) for place in starts]
    if kind == "end":
        answers = [data["tokens"][token] for token in data["predicted"]]
        groups = _group_equal_answers(to_points(axes, points[:, -1]), answers, shown)
        names += [
            (points[group[0], -1], f"{_format_position_list(group)}: {answers[group[0]]}", answers[group[0]])
            for group in groups
        ]
    spots, texts, tokens = zip(*names, strict=True)
    inks = [make_readable_colour(pick_token_colour(token), theme) for token in tokens]
    place_labels(axes, np.array(spots), texts, theme, inks, points.reshape(-1, 2), taken=taken)


def _group_equal_answers(
    spots: Float[np.ndarray, "pos 2"], answers: Sequence[str], shown: Sequence[int]
) -> list[list[int]]:
    """Positions with the same answer at the same spot, which share a name."""
    groups: list[list[int]] = []
    for place in shown:
        for group in groups:
            near = np.linalg.norm(spots[place] - spots[group[0]]) < _SAME_SPOT
            if near and answers[place] == answers[group[0]]:
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


def _format_position_list(places: Sequence[int]) -> str:
    """`p1, p3`; of many the first and the number of the others."""
    names = [f"p{place}" for place in places]
    return ", ".join(names) if len(names) <= MOST_LISTED else f"{names[0]} and {len(names) - 1} more"


def title(data: Data) -> str:
    steps, here = data["steps"], format_token_position(data["labels"], len(data["labels"]) - 1)
    far, farther = (float(np.linalg.norm(steps[b][-1] - steps[a][-1])) for a, b in ("ez", "zh"))
    if not data["has_feedforward"]:
        return f"At {here} attention moves the state by {far:.3g}, and nothing else does: {data['verdict']}"
    if data["residual"]:
        moves = f"attention moves the state by {far:.3g}, the feed-forward layer by {farther:.3g}"
        return f"At {here} {moves}: {data['verdict']}"
    replaced = "attention replaces e, the feed-forward layer replaces z"
    return f"Nothing is added up: at {here} {replaced}; {data['verdict']}"


def _foot(data: Data) -> str:
    hits = f"{{}} of {len(data['labels'])} arrows end in the colour of their own prediction."
    found = describe_slices({"Left": data["middle"], "Right": data["end"]}, hits)
    return found or str(data["end"]["plane"].note)


def caption(data: Data) -> str:
    tokens, lens = data["tokens"], data["lens"]
    sums = (
        "z is e plus attention's output, h is z plus the feed-forward layer's."
        if data["residual"]
        else "There are no residual connections: z is attention's output and h the feed-forward layer's."
    )
    places, dims = data["steps"]["e"].shape
    return f"""{" ".join(data["labels"])}: the states of all {places} positions in all {dims} dimensions, and
        the same as arrows. {sums} {name_colour("accent").capitalize()} arrows are attention's, the others
        the feed-forward layer's, thick
        ones those of the last position; round ends are e, square ends h, in the colour of the prediction.
        Left, the map is the most probable token for every state z; right, for every final state. Applied
        to e of the last position the head would predict {tokens[lens["e"]]}, to z {tokens[lens["z"]]},
        and to h it predicts {tokens[data["predicted"][-1]]}. {_foot(data)}"""
