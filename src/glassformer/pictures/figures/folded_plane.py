"""The folded plane: a grid over the states z, and where the feed-forward layer takes it.

Two states that one line of the grid joins are joined by its image, bent where the line crosses a hinge.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from glassformer.core.share import MeasuredShare
from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.core.words import format_percent
from glassformer.models.norm import NoNorm
from glassformer.pictures.measure.hidden_units import (
    collect_all_states,
    collect_last_states,
    describe_contexts,
    fold_states,
    name_mid_stream,
    require_feedforward,
)
from glassformer.pictures.measure.landscape import compute_state_logits, make_landscape, make_slice
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import FOOT, SMALL, make_sheet, measure_text_height
from glassformer.pictures.parts.labels import Taken, place_labels
from glassformer.pictures.parts.marks import make_readable_colour, show_plane
from glassformer.pictures.parts.regions import draw_winner_regions
from glassformer.pictures.picture import Data

_SIDE, _GAP = 7.0, 1.15  # cm: a panel, and what stands left of it
_LINES, _STEPS = 21, 240  # of the grid: lines each way, and points on a line
_SHOWN = 600  # contexts whose states are drawn; all are measured
_BEHIND = 150  # contexts whose states at all positions are drawn behind


def compute(subject: Subject) -> Data:
    require_feedforward(subject)  # there must be one
    names = name_mid_stream(subject), f"{subject.layer}stream"
    before, after = (collect_last_states(subject, name) for name in names)
    planes = [_make_context_plane(states, name, subject) for states, name in ((before, "z"), (after, "h"))]
    number = np.arange(min(len(before), _SHOWN), dtype=float)
    points = [plane(states[:_SHOWN], number) for plane, states in zip(planes, (before, after), strict=True)]
    everywhere = [collect_all_states(subject, name, _BEHIND) for name in names]
    row = np.arange(len(everywhere[0])) % len(number)
    behind = [plane(states, row) for plane, states in zip(planes, everywhere, strict=True)]
    limits = planes[0].limits(points[0], behind[0])
    grid = _make_grid_lines(limits)
    image = planes[1](
        fold_states(subject, planes[0].lift(grid).reshape(-1, before.shape[1])), grid[..., 1].reshape(-1)
    ).reshape(grid.shape)
    image_limits = planes[1].limits(points[1], behind[1], image, room=0.04)
    ground = make_landscape(subject.model, planes[1], image_limits, from_mid=False)
    answers = collect_last_states(subject, "logits").argmax(1)
    return {
        "tokens": subject.tokens,
        "planes": planes,
        "points": points,
        "behind": behind,
        "limits": [limits, image_limits],
        "grids": [grid, image],
        "winner": ground.winner,
        "answers": answers[:_SHOWN],
        "on_colour": MeasuredShare.of(
            int((ground.winner_at(points[1]) == answers[:_SHOWN]).sum()), len(points[1])
        ),
        "right": [_measure_right_share(subject, states) for states in (before, after)],
        "moved": float(np.linalg.norm(after - before, axis=1).mean()),
        "is_normed": not isinstance(subject.model.architecture.layers[-1].feedforward_norm, NoNorm),
        "residual": subject.model.architecture.layers[-1].residual,
        "sample": describe_contexts(subject),
    }


def _make_context_plane(states: Float[np.ndarray, "context dim"], name: str, subject: Subject) -> Plane:
    found = make_slice(states, name, f"the {name} shown", subject.dims)
    up = "number of the context" if found.is_line else found.labels[1]
    return replace(found, labels=(found.labels[0], up), note="" if found.is_line else found.note)


def _make_grid_lines(limits: Float[np.ndarray, "2 2"]) -> Float[np.ndarray, "line step 2"]:
    """Upright lines, then level ones, over the whole panel."""
    (left, right), (low, high) = limits
    along = np.linspace(0, 1, _STEPS)
    x, y = np.linspace(left, right, _LINES), np.linspace(low, high, _LINES)
    upright = [np.stack([np.full(_STEPS, value), low + along * (high - low)], 1) for value in x]
    level = [np.stack([left + along * (right - left), np.full(_STEPS, value)], 1) for value in y]
    return np.stack(upright + level)


def _measure_right_share(subject: Subject, states: Float[np.ndarray, "context dim"]) -> MeasuredShare:
    """How often the head, put on these states, says something that is allowed."""
    count = len(subject.trials)
    if not count:
        return MeasuredShare.of(0, 0)
    answers = compute_state_logits(subject.model, states, from_mid=False).argmax(1)
    return MeasuredShare.of(int(subject.trials.allowed[np.arange(count), answers].sum()), count)


def draw(data: Data, theme: Theme) -> Figure:
    text = _foot(data)
    below = measure_text_height(text, SMALL, FOOT)
    paper = make_sheet(theme, _SIDE + below + 1.6, title(data))
    second = f"h = {'z + ' * data['residual']}ff({'normed z' if data['is_normed'] else 'z'})"
    for panel, name in enumerate(("before: z", f"after: {second}, over the head's answers")):
        axes = paper.axes(_GAP + panel * (_SIDE + _GAP + 0.1), 0.55, _SIDE, _SIDE)
        show_plane(axes, data["planes"][panel], data["limits"][panel], name)
        taken: Taken = []
        if panel:
            draw_winner_regions(
                axes, data["winner"], data["limits"][1], data["tokens"], theme, taken, avoid=data["points"][1]
            )
        _draw_folded_grid(axes, data["grids"][panel], theme)
        axes.scatter(*data["behind"][panel].T, s=2.5, color=theme.muted, alpha=0.6, linewidths=0, zorder=2.5)
        _draw_context_states(axes, data["points"][panel], data["answers"], data["tokens"], theme, not panel)
    paper.write(0, _SIDE + 1.55, text, SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    before, after = data["right"]
    if not after.positions:
        return f"What the feed-forward layer does to the plane of z, on {data['sample']}"
    return (
        f"How the feed-forward layer folds the plane: applied to z, the head is right in "
        f"{format_percent(before.value)} of {data['sample']}; applied to h, in {format_percent(after.value)}"
    )


def _foot(data: Data) -> str:
    notes = " ".join(dict.fromkeys(plane.note for plane in data["planes"] if plane.note))
    hits = data["on_colour"]
    sliced = (
        f" {format_percent(hits.value, 0)} of the dots on the right lie on their own colour of the slice."
        if notes
        else ""
    )
    return (
        "Both panels show the same grid (one colour for lines that are vertical on the left, one for "
        "horizontal ones) and the same states. Coloured dots: the last position, in the colour of the "
        f"model's answer; small {name_colour('muted')} dots: all positions. {notes}{sliced}"
    )


def _draw_folded_grid(axes: Axes, lines: Float[np.ndarray, "line step 2"], theme: Theme) -> None:
    for half, colour in ((lines[:_LINES], theme.accent), (lines[_LINES:], theme.negative)):
        axes.add_collection(
            LineCollection(list(half), colors=colour, linewidths=0.5, alpha=0.75, zorder=2), autolim=False
        )


def _draw_context_states(
    axes: Axes, points: Float[np.ndarray, "context 2"], answers: np.ndarray, tokens: Sequence[str],
    theme: Theme, label: bool,
) -> None:  # fmt: skip
    """The states of contexts, and one label per answer."""
    colours = [pick_token_colour(tokens[answer]) for answer in answers]
    axes.scatter(*points.T, s=10, c=colours, linewidths=0.35, edgecolors=theme.paper, zorder=3)
    if label:
        given = np.unique(answers)
        middles = np.array([_find_middle_point(points[answers == answer]) for answer in given])
        inks = [make_readable_colour(pick_token_colour(tokens[answer]), theme) for answer in given]
        place_labels(axes, middles, [tokens[answer] for answer in given], theme, inks, points[:200], size=8.0)


def _find_middle_point(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "2"]:
    """The point in the middle of some."""
    found: np.ndarray = points[np.linalg.norm(points - points.mean(0), axis=1).argmin()]
    return found


def caption(data: Data) -> str:
    before, after = data["right"]
    measured = ""
    if after.positions:
        measured = (
            f" Without the layer, with the head applied to z, {format_percent(before.value)} of the answers "
            f"are allowed (95% interval {format_percent(before.low)} to {format_percent(before.high)}, as if "
            f"trials were independent); with it {format_percent(after.value)} ({format_percent(after.low)} "
            f"to {format_percent(after.high)})."
        )
    return (
        f"A grid of {_LINES} by {_LINES} lines over the states z at the last position of {data['sample']}, "
        "and its image under the feed-forward "
        f"layer{' and the residual sum' if data['residual'] else ''}, by the model's forward pass; a "
        f"state moves by {data['moved']:.3g} on average.{measured} {_foot(data)}"
    )
