"""How one position's attention adds up: every position's message times its weight, put tip to tail.

A head that gives 0.9 to a message (2, 0) and 0.1 to (0, 1) moves the stream by (1.8, 0.1): the chain goes
from the start over (1.8, 0) to (1.8, 0.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.core.words import format_percent
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.labels import place_labels, to_points
from glassformer.pictures.parts.marks import draw_data_arrow, make_readable_colour

_NAMED, _MOST_NAMED = 0.05, 5  # weight from which an arrow is named, and how many are
_HEAD, _SHORTEST_NAMED = 7.0, 9.0  # points: from which an arrow has a head, and room for a name


@dataclass(frozen=True, eq=False)
class Carry:
    """What the last position of a sequence takes from every position, one head after the other."""

    labels: tuple[str, ...]  # tokens of the sequence
    weights: Float[np.ndarray, "head pos"]
    messages: Float[np.ndarray, "head pos dim"]
    bias: Float[np.ndarray, " dim"]  # what attention writes whatever it looks at
    embedded: Float[np.ndarray, " dim"]
    is_residual: bool
    output: Float[np.ndarray, " dim"]  # of attention, by the model's own pass
    mid: Float[np.ndarray, " dim"]  # the stream after attention, by the same pass

    @property
    def parts(self) -> Float[np.ndarray, "head pos dim"]:
        return np.asarray(self.weights[..., None] * self.messages)

    @property
    def kept(self) -> Float[np.ndarray, " dim"]:
        """What of the embedding stays in the stream: all of it, or nothing without a residual connection."""
        return self.embedded if self.is_residual else np.zeros_like(self.embedded)

    @property
    def kept_name(self) -> str:
        return "e" if self.is_residual else "0"

    @property
    def bias_words(self) -> str:
        """How a sum of weighted messages goes on where attention has an output bias."""
        return " and the output bias" if self.bias.any() else ""

    def start_name(self, name: str) -> str:
        """What stands at the start of a chain from `name`: the output bias is added before all messages."""
        return name if not self.bias.any() else "bias" if name == "0" else f"{name} + bias"

    def chain(self, start: Float[np.ndarray, " dim"]) -> Float[np.ndarray, "vertex dim"]:
        """From a start, part by part; the last vertex is the start plus all of attention's output."""
        steps = self.parts.reshape(-1, len(self.bias))
        return np.asarray(start + self.bias + np.cumsum(np.vstack([0 * start, steps]), 0))

    def points(self, plane: Plane, start: Float[np.ndarray, " dim"]) -> Float[np.ndarray, "vertex 2"]:
        """The chain in a plane; in one dimension it climbs from below position 0 to the last position."""
        return plane(self.chain(start), self.spread)

    @property
    def spread(self) -> Float[np.ndarray, " vertex"]:
        """Positions along the chain, for planes of one dimension."""
        heads = len(self.weights)
        return np.asarray((np.arange(self.weights.size + 1) - heads) / heads)


def compute_carry(subject: Subject, index: int) -> Carry:
    """The last position of one of the subject's sequences."""
    heads, trace, name = range(subject.heads), subject.trace(index), f"{subject.layer}attn"
    inputs = trace[f"{name}.input"][None]  # 1 pos dim
    messages = np.concatenate([subject.written(head, inputs) for head in heads])
    weights = np.stack([trace[f"{name}.weights.{head}"][-1] for head in heads])
    embedded = trace[subject.entering][-1]
    return Carry(
        subject.labels(index),
        weights.astype(np.float64),
        messages.astype(np.float64),
        subject.attention_bias,
        embedded.astype(np.float64),
        subject.model.architecture.layers[-1].residual,
        trace[f"{name}.output"][-1].astype(np.float64),
        trace[f"{subject.layer}mid"][-1].astype(np.float64),
    )


def draw_message_chain(
    axes: Axes,
    points: Float[np.ndarray, "vertex 2"],
    end: Float[np.ndarray, "2"],
    carry: Carry,
    ends: tuple[str, str],
    theme: Theme,
) -> None:
    """The arrows in their tokens' colours, the strongest named; a star where the model's own pass ends."""
    labels = list(carry.labels) * len(carry.weights)
    seen = np.linalg.norm(np.diff(to_points(axes, points), axis=0), axis=1)
    for start, tip, label, length in zip(points[:-1], points[1:], labels, seen, strict=True):
        draw_step_arrow(axes, start, tip, pick_token_colour(label), length, 1.6)
    axes.scatter(*points[0], s=22, color=theme.paper, edgecolors=theme.ink, linewidths=0.9, zorder=5)
    axes.scatter(*end, s=60, marker="*", color=theme.ink, linewidths=0, zorder=5)
    which = _pick_strongest_arrows(carry.weights.ravel(), seen)
    middles = (points[which] + points[which + 1]) / 2
    spots = np.concatenate([[points[0], end], middles])
    texts = [*ends, *(_format_message_name(carry, int(part)) for part in which)]
    colours = [
        theme.ink,
        theme.ink,
        *(make_readable_colour(pick_token_colour(labels[part]), theme) for part in which),
    ]
    steps = np.diff(points, axis=0)[:, None] * np.linspace(0, 1, 9)[:, None]  # part sample 2
    along = (points[:-1, None] + steps).reshape(-1, 2)
    place_labels(axes, spots, texts, theme, colours, along)


def draw_step_arrow(
    axes: Axes,
    start: Float[np.ndarray, "2"],
    tip: Float[np.ndarray, "2"],
    colour: str,
    length: float,
    width: float,
) -> None:
    """An arrow; one that is shorter (in points) than its head would be is a line, and ends in place."""
    if length > _HEAD:
        draw_data_arrow(axes, start, tip, colour, width)
    else:
        axes.plot(*np.stack([start, tip]).T, color=colour, linewidth=width, zorder=4)


def compute_chain_limits(
    plane: Plane, points: Float[np.ndarray, "vertex 2"], end: Float[np.ndarray, "2"]
) -> Float[np.ndarray, "2 2"]:
    """Close around a chain, with room for the names at its ends."""
    return plane.limits(points, end[None], room=0.3)


def select_inside_points(
    points: Float[np.ndarray, "*point 2"], limits: Float[np.ndarray, "2 2"]
) -> np.ndarray:
    """Those of the points that lie within limits."""
    flat = np.asarray(points).reshape(-1, 2)
    return np.asarray(flat[((flat >= limits[:, 0]) & (flat <= limits[:, 1])).all(1)])


def _pick_strongest_arrows(
    weights: Float[np.ndarray, " part"], lengths: Float[np.ndarray, " part"]
) -> np.ndarray:
    """Which arrows get a name: the heaviest of those that are long enough."""
    order = np.argsort(-weights, kind="stable")
    good = (weights >= _NAMED) & (lengths >= _SHORTEST_NAMED)
    return np.asarray(order[good[order]][:_MOST_NAMED])


def _format_message_name(carry: Carry, part: int) -> str:
    """`98% of 6 (p4)`, with its head where there are several."""
    head, place = divmod(part, len(carry.labels))
    which = f"head {head}: " if len(carry.weights) > 1 else ""
    return f"{which}{format_percent(carry.weights[head, place], 0)} of {carry.labels[place]} (p{place})"


def list_head_names(heads: int) -> Sequence[str]:
    """What titles call each head; nothing where there is but one."""
    return [""] if heads == 1 else [f"head {head}" for head in range(heads)]
