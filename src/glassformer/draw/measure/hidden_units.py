"""The units of the feed-forward layer: what each reads, when it is on, and what it writes.

A ReLU unit that reads w and adds b is off on one side of the line w . z + b = 0, its hinge, and on on the
other; units of other bends and gated ones have their hinge where what is bent is 0.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from glassformer.draw.measure.plane import Plane
from glassformer.draw.measure.subject import Subject
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.model.blocks import whole
from glassformer.model.feedforward import FeedForward
from glassformer.model.forward import ignore, settle, untie
from glassformer.model.ops_numpy import NumpyOps
from glassformer.model.projection import AnyProjection

KINDS = ("switches", "always on", "never on")  # over the contexts that are measured
Segment = Float[np.ndarray, "end 2"]  # from, to


@dataclass(frozen=True, eq=False)
class Units:
    """One row a unit; what is measured is measured at the last place of the contexts."""

    reads: Float[np.ndarray, "ff dim"]
    bias: Float[np.ndarray, " ff"]
    writes: Float[np.ndarray, "ff dim"]
    active: Float[np.ndarray, " ff"]  # share of contexts in which it is on
    activation: Float[np.ndarray, " ff"]  # its mean

    def __len__(self) -> int:
        return len(self.bias)

    @property
    def contribution(self) -> Float[np.ndarray, " ff"]:
        """The length of what a unit writes on average."""
        return np.asarray(np.abs(self.activation) * np.linalg.norm(self.writes, axis=1))

    @property
    def kinds(self) -> Int[np.ndarray, " ff"]:
        """The number in KINDS of each unit."""
        return np.where(self.active == 0, 2, np.where(self.active == 1, 1, 0))

    @property
    def order(self) -> Int[np.ndarray, " ff"]:
        """The largest contribution first."""
        return np.argsort(-self.contribution, kind="stable")

    @property
    def strength(self) -> Float[np.ndarray, " ff"]:
        """Contributions as shares of the largest."""
        return self.contribution / max(float(self.contribution.max()), 1e-30)

    def on_plane(self, plane: Plane) -> tuple[Float[np.ndarray, "ff 2"], Float[np.ndarray, " ff"]]:
        """Slopes and shifts of the hinges in a plane: slope . point + shift = 0."""
        slopes = self.reads @ plane.directions.T
        return slopes, self.bias + self.reads @ plane.through - slopes @ (plane.directions @ plane.through)


def units_of(subject: Subject) -> Units:
    """The units of the last layer."""
    layer, name = feedforward_of(subject), f"{subject.layer}ff"
    width = subject.model.architecture.width
    kind = "gate" if layer.gate else "up"
    reads, bias = as_matrix(subject, layer.gate or layer.up, f"{name}.{kind}", width, layer.units(width))
    writes, _ = as_matrix(subject, layer.down, f"{name}.down", layer.units(width), width)
    bent, hidden = last_state(subject, f"{name}.{kind}"), last_state(subject, f"{name}.hidden")
    return Units(reads, bias, writes.T, (bent > 0).mean(0), hidden.mean(0))


def kind_colours(theme: Theme) -> tuple[str, str, str]:
    """The colours of the three kinds of unit."""
    return theme.positive, theme.negative, theme.muted


def feedforward_of(subject: Subject) -> FeedForward:
    found = subject.model.architecture.layers[-1].feedforward
    if found is None:
        raise UserError(f"{subject.name} has no feed-forward layer, so there is nothing to draw")
    return found


def as_matrix(
    subject: Subject, projection: AnyProjection, name: str, inputs: int, outputs: int
) -> tuple[Float[np.ndarray, "out dim"], Float[np.ndarray, " out"]]:
    """Weight and bias of a projection of any kind: what it makes of 0 and of each unit vector."""
    shape = subject.model.architecture
    ops, params = NumpyOps(shape.precision), untie(shape, subject.model.params)
    probes = np.concatenate([np.zeros((inputs, 1)), np.eye(inputs)], 1)[:, None]  # dim 1 batch
    answers = projection(ops, params, name, ops.array(probes), outputs)
    every = np.broadcast_to(whole(answers)[:, 0], (outputs, inputs + 1))  # a constant has a batch of 1
    values = np.asarray(every, np.float64)  # out batch
    return values[:, 1:] - values[:, :1], values[:, 0]


def last_state(subject: Subject, name: str) -> Float[np.ndarray, "context dim"]:
    """An intermediate at the last place of the trials (of contexts of one token where a rule has none)."""
    return np.asarray(sampled(subject)[name][:, -1], np.float64)


def all_places(subject: Subject, name: str, contexts: int) -> Float[np.ndarray, "point dim"]:
    """The same at every place of the first contexts: free ones too, and beginnings."""
    states = sampled(subject)[name][:contexts]
    return np.asarray(states.reshape(-1, states.shape[-1]), np.float64)


def sampled(subject: Subject) -> dict[str, np.ndarray]:
    return subject.trial_traces or subject.pairs


def sample_text(subject: Subject) -> str:
    """What `last_state` is about, in words."""
    if len(subject.trials):
        return f"{len(subject.trials):,} trials"
    return f"{len(subject.tokens)} contexts that repeat one token, for the {subject.law} has no trials"


def clipped(slope: Float[np.ndarray, "2"], shift: float, limits: Float[np.ndarray, "2 2"]) -> Segment | None:
    """The part of the line slope . point + shift = 0 that lies inside a rectangle; none where it misses it.

    >>> clipped(np.array([1.0, 0.0]), -0.5, np.array([[0.0, 1.0], [0.0, 2.0]])).tolist()
    [[0.5, 0.0], [0.5, 2.0]]
    """
    size = float(slope @ slope)
    if size == 0:
        return None
    foot, along = -shift * slope / size, np.array([-slope[1], slope[0]]) / np.sqrt(size)
    start, end = -np.inf, np.inf
    for place, step, (low, high) in zip(foot, along, limits, strict=True):
        if step == 0:
            if not low <= place <= high:
                return None
            continue
        first, second = sorted(((low - place) / step, (high - place) / step))
        start, end = max(start, first), min(end, second)
    if start >= end:
        return None
    inside = foot + np.outer([start, end], along)
    return np.clip(inside, limits[:, 0], limits[:, 1])


def folded(subject: Subject, states: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
    """What the layer's own second half makes of states of our choice: h from z."""
    shape = subject.model.architecture
    ops, params = NumpyOps(shape.precision), untie(shape, subject.model.params)
    stream = np.ascontiguousarray(ops.array(states).T[:, None])  # dim 1 point
    image = settle(shape.layers[-1], ops, params, subject.layer, stream, None, ignore)
    return np.asarray(whole(image)[:, 0].T, np.float64)


def before_feedforward(subject: Subject) -> str:
    """The name of z: the stream between attention and the feed-forward layer."""
    has_attention = subject.model.architecture.layers[-1].attention is not None
    return f"{subject.layer}mid" if has_attention else subject.entering
