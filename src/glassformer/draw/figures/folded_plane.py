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

from glassformer.draw.measure.hidden_units import (
    all_places,
    before_feedforward,
    feedforward_of,
    folded,
    last_state,
    sample_text,
)
from glassformer.draw.measure.landscape import landscape, logits_of, slice_through
from glassformer.draw.measure.plane import Plane
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import FOOT, SMALL, sheet, text_height
from glassformer.draw.parts.labels import Taken, place_labels
from glassformer.draw.parts.marks import readable, show_plane
from glassformer.draw.parts.regions import regions
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme, token_colour
from glassformer.model.norm import NoNorm
from glassformer.verify.share import Share

SIDE, GAP = 7.0, 1.15  # cm: a panel, and what stands left of it
LINES, STEPS = 21, 240  # of the grid: lines each way, and points on a line
SHOWN = 600  # contexts whose states are drawn; all are measured
BEHIND = 150  # contexts whose states at all places are drawn behind


def compute(subject: Subject) -> Data:
    feedforward_of(subject)  # there must be one
    names = before_feedforward(subject), f"{subject.layer}stream"
    before, after = (last_state(subject, name) for name in names)
    planes = [context_plane(states, name, subject) for states, name in ((before, "z"), (after, "h"))]
    number = np.arange(min(len(before), SHOWN), dtype=float)
    points = [plane(states[:SHOWN], number) for plane, states in zip(planes, (before, after), strict=True)]
    everywhere = [all_places(subject, name, BEHIND) for name in names]
    row = np.arange(len(everywhere[0])) % len(number)
    behind = [plane(states, row) for plane, states in zip(planes, everywhere, strict=True)]
    limits = planes[0].limits(points[0], behind[0])
    grid = grid_lines(limits)
    image = planes[1](
        folded(subject, planes[0].lift(grid).reshape(-1, before.shape[1])), grid[..., 1].reshape(-1)
    ).reshape(grid.shape)
    image_limits = planes[1].limits(points[1], behind[1], image, room=0.04)
    ground = landscape(subject.model, planes[1], image_limits, from_mid=False)
    answers = last_state(subject, "logits").argmax(1)
    return {
        "tokens": subject.tokens,
        "planes": planes,
        "points": points,
        "behind": behind,
        "limits": [limits, image_limits],
        "grids": [grid, image],
        "winner": ground.winner,
        "answers": answers[:SHOWN],
        "on_colour": Share.of(int((ground.winner_at(points[1]) == answers[:SHOWN]).sum()), len(points[1])),
        "right": [right_share(subject, states) for states in (before, after)],
        "moved": float(np.linalg.norm(after - before, axis=1).mean()),
        "is_normed": not isinstance(subject.model.architecture.layers[-1].feedforward_norm, NoNorm),
        "residual": subject.model.architecture.layers[-1].residual,
        "sample": sample_text(subject),
    }


def context_plane(states: Float[np.ndarray, "context dim"], name: str, subject: Subject) -> Plane:
    found = slice_through(states, name, f"the {name} shown", subject.dims)
    up = "number of the context" if found.is_line else found.labels[1]
    return replace(found, labels=(found.labels[0], up), note="" if found.is_line else found.note)


def grid_lines(limits: Float[np.ndarray, "2 2"]) -> Float[np.ndarray, "line step 2"]:
    """Upright lines, then level ones, over the whole panel."""
    (left, right), (low, high) = limits
    along = np.linspace(0, 1, STEPS)
    x, y = np.linspace(left, right, LINES), np.linspace(low, high, LINES)
    upright = [np.stack([np.full(STEPS, value), low + along * (high - low)], 1) for value in x]
    level = [np.stack([left + along * (right - left), np.full(STEPS, value)], 1) for value in y]
    return np.stack(upright + level)


def right_share(subject: Subject, states: Float[np.ndarray, "context dim"]) -> Share:
    """How often the head, put on these states, says something that is allowed."""
    count = len(subject.trials)
    if not count:
        return Share.of(0, 0)
    answers = logits_of(subject.model, states, from_mid=False).argmax(1)
    return Share.of(int(subject.trials.allowed[np.arange(count), answers].sum()), count)


def draw(data: Data, theme: Theme) -> Figure:
    text = foot(data)
    below = text_height(text, SMALL, FOOT)
    paper = sheet(theme, SIDE + below + 1.6, title(data))
    second = f"h = {'z + ' * data['residual']}ff({'normed z' if data['is_normed'] else 'z'})"
    for panel, name in enumerate(("before: z", f"after: {second}, over the head's answers")):
        axes = paper.axes(GAP + panel * (SIDE + GAP + 0.1), 0.55, SIDE, SIDE)
        show_plane(axes, data["planes"][panel], data["limits"][panel], name)
        taken: Taken = []
        if panel:
            regions(
                axes, data["winner"], data["limits"][1], data["tokens"], theme, taken, avoid=data["points"][1]
            )
        draw_grid(axes, data["grids"][panel], theme)
        axes.scatter(*data["behind"][panel].T, s=2.5, color=theme.muted, alpha=0.6, linewidths=0, zorder=2.5)
        draw_states(axes, data["points"][panel], data["answers"], data["tokens"], theme, not panel)
    paper.write(0, SIDE + 1.55, text, SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    before, after = data["right"]
    if not after.positions:
        return f"What the feed-forward layer does to the plane of z, on {data['sample']}"
    return (
        f"How the feed-forward layer folds the plane: put on z, the head is right in "
        f"{percent(before.value)} of {data['sample']}; put on h, in {percent(after.value)}"
    )


def foot(data: Data) -> str:
    notes = " ".join(dict.fromkeys(plane.note for plane in data["planes"] if plane.note))
    hits = data["on_colour"]
    sliced = (
        f" {percent(hits.value, 0)} of the dots on the right lie on their own colour of the slice."
        if notes
        else ""
    )
    return (
        "Both panels show the same grid (its two colours: lines that are upright and level on the left) "
        "and the same states: at the last place, in the colour of the model's answer, and at all places, "
        f"small and grey. {notes}{sliced}"
    )


def draw_grid(axes: Axes, lines: Float[np.ndarray, "line step 2"], theme: Theme) -> None:
    for half, colour in ((lines[:LINES], theme.accent), (lines[LINES:], theme.negative)):
        axes.add_collection(
            LineCollection(list(half), colors=colour, linewidths=0.5, alpha=0.75, zorder=2), autolim=False
        )


def draw_states(
    axes: Axes, points: Float[np.ndarray, "context 2"], answers: np.ndarray, tokens: Sequence[str],
    theme: Theme, label: bool,
) -> None:  # fmt: skip
    """The states of contexts, and one label an answer."""
    colours = [token_colour(tokens[answer]) for answer in answers]
    axes.scatter(*points.T, s=10, c=colours, linewidths=0.35, edgecolors=theme.paper, zorder=3)
    if label:
        given = np.unique(answers)
        middles = np.array([nearest_to_mean(points[answers == answer]) for answer in given])
        inks = [readable(token_colour(tokens[answer]), theme) for answer in given]
        place_labels(axes, middles, [tokens[answer] for answer in given], theme, inks, points[:200], size=8.0)


def nearest_to_mean(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "2"]:
    """The point in the middle of some."""
    found: np.ndarray = points[np.linalg.norm(points - points.mean(0), axis=1).argmin()]
    return found


def caption(data: Data) -> str:
    before, after = data["right"]
    measured = ""
    if after.positions:
        measured = (
            f" Without the layer, the head put on z itself, {percent(before.value)} of the answers are "
            f"allowed (95% interval {percent(before.low)} to {percent(before.high)}, as if trials were "
            f"independent); with it {percent(after.value)} ({percent(after.low)} to {percent(after.high)})."
        )
    return (
        f"A grid of {LINES} by {LINES} lines over the states z at the last place of {data['sample']}, and "
        f"its image under the feed-forward layer{' and the residual sum' if data['residual'] else ''}, "
        f"computed by the model's own pass; a state moves by {data['moved']:.3g} on average.{measured} "
        f"{foot(data)}"
    )
