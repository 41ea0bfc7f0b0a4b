"""The units of the feed-forward layer: what each reads, when it is on, and what it writes.

A ReLU unit that reads w and adds b is off on one side of the line w . z + b = 0, its hinge, and on on the
other; units of other bends and gated ones have their hinge where what is bent is 0.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.models.blocks import to_dense
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import finish_layer, ignore_record, untie_parameters
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.projection import AnyProjection
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject

KINDS = ("switches", "always on", "never on")  # over the contexts that are measured
_Segment = Float[np.ndarray, "end 2"]  # from, to


@dataclass(frozen=True, eq=False)
class HiddenUnits:
    """One row per unit; what is measured is measured at the last position of the contexts."""

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


def measure_hidden_units(subject: Subject) -> HiddenUnits:
    """The units of the last layer."""
    layer, name = require_feedforward(subject), f"{subject.layer}ff"
    width = subject.model.architecture.width
    kind = "gate" if layer.gate else "up"
    reads, bias = expand_projection(
        subject, layer.gate or layer.up, f"{name}.{kind}", width, layer.units(width)
    )
    writes, _ = expand_projection(subject, layer.down, f"{name}.down", layer.units(width), width)
    bent, hidden = (
        collect_last_states(subject, f"{name}.{kind}"),
        collect_last_states(subject, f"{name}.hidden"),
    )
    return HiddenUnits(reads, bias, writes.T, (bent > 0).mean(0), hidden.mean(0))


def choose_unit_colours(theme: Theme) -> tuple[str, str, str]:
    """The colours of the three kinds of unit."""
    return theme.positive, theme.negative, theme.muted


def list_kind_entries(units: HiddenUnits, theme: Theme) -> list[tuple[str, str]]:
    """What a legend says of each kind, with how many units are of it, and its colour."""
    counts = np.bincount(units.kinds, minlength=len(KINDS))
    names = [f"{name}: {count}" for name, count in zip(KINDS, counts, strict=True)]
    return list(zip(names, choose_unit_colours(theme), strict=True))


def require_feedforward(subject: Subject) -> FeedForward:
    found = subject.model.architecture.layers[-1].feedforward
    if found is None:
        raise UserError(f"{subject.name} has no feed-forward layer, so there is nothing to draw")
    return found


def expand_projection(
    subject: Subject, projection: AnyProjection, name: str, inputs: int, outputs: int
) -> tuple[Float[np.ndarray, "out dim"], Float[np.ndarray, " out"]]:
    """Weight and bias of a projection of any kind: what it makes of 0 and of each unit vector."""
    shape = subject.model.architecture
    ops, params = NumpyOps(shape.precision), untie_parameters(shape, subject.model.params)
    probes = np.concatenate([np.zeros((inputs, 1)), np.eye(inputs)], 1)[:, None]  # dim 1 batch
    answers = projection(ops, params, name, ops.array(probes), outputs)
    answered = np.broadcast_to(to_dense(answers)[:, 0], (outputs, inputs + 1))  # a padded one is in blocks
    values = np.asarray(answered, np.float64)  # out batch
    return values[:, 1:] - values[:, :1], values[:, 0]


def collect_last_states(subject: Subject, name: str) -> Float[np.ndarray, "context dim"]:
    """An intermediate at the last position of the trials (of contexts of one token where a rule has none)."""
    return np.asarray(_choose_traces(subject)[name][:, -1], np.float64)


def collect_all_states(subject: Subject, name: str, contexts: int) -> Float[np.ndarray, "point dim"]:
    """The same at every position of the first contexts: free ones too, and beginnings."""
    states = _choose_traces(subject)[name][:contexts]
    return np.asarray(states.reshape(-1, states.shape[-1]), np.float64)


def _choose_traces(subject: Subject) -> dict[str, np.ndarray]:
    return subject.trial_traces or subject.pairs


def describe_contexts(subject: Subject) -> str:
    """What `collect_last_states` is about, in words."""
    if len(subject.trials):
        return f"{len(subject.trials):,} trials"
    return f"{len(subject.tokens)} contexts that repeat one token, since the {subject.law} has no trials"


def clip_line(
    slope: Float[np.ndarray, "2"], shift: float, limits: Float[np.ndarray, "2 2"]
) -> _Segment | None:
    """The part of the line slope . point + shift = 0 that lies inside a rectangle; none where it misses it.

    >>> clip_line(np.array([1.0, 0.0]), -0.5, np.array([[0.0, 1.0], [0.0, 2.0]])).tolist()
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


def fold_states(subject: Subject, states: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
    """What the layer's own second half makes of states of our choice: h from z."""
    shape = subject.model.architecture
    ops, params = NumpyOps(shape.precision), untie_parameters(shape, subject.model.params)
    stream = np.ascontiguousarray(ops.array(states).T[:, None])  # dim 1 point
    image = finish_layer(shape.layers[-1], ops, params, subject.layer, stream, None, ignore_record)
    return np.asarray(to_dense(image)[:, 0].T, np.float64)


def name_mid_stream(subject: Subject) -> str:
    """The name of z: the stream between attention and the feed-forward layer."""
    has_attention = subject.model.architecture.layers[-1].attention is not None
    return f"{subject.layer}mid" if has_attention else subject.entering
