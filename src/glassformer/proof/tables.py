"""A model as finite tables and one mix.

Up to the mix all is a function of (place, token), and so a table: the stream, queries, keys, values. For a
query at place p that holds token q the mix is

    o = sum_j w_j(t_j) v_j(t_j) / (c + sum_j w_j(t_j)),   w_j(t) = exp(score of (p, q) with (j, t))

The deployed pass adds short sums in order, so these tables are known to the last bit and count as exact;
where they are not (real numbers are asked for, sums are long, or a layer before attends) they have bounds.
A layer before the mix may attend where nothing moves but what stands there always: TinyAdder's first layer
reads marks. Its output is then a table as well, a hair wide.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool

from glassformer.errors import UserError
from glassformer.model.architecture import Architecture, Layer
from glassformer.model.attention import Attention, Site
from glassformer.model.blocks import whole
from glassformer.model.bounded import Bounded, as_bounded
from glassformer.model.forward import embed, ignore, prefix, settle, untie
from glassformer.model.model import Model
from glassformer.model.ops import Value
from glassformer.model.ops_bounded import BoundedOps
from glassformer.model.ops_numpy import FEW, NumpyOps
from glassformer.model.parameter import Parameters
from glassformer.proof.heads import Head, Scores, fixed_mix, make_head

Allowed = Bool[np.ndarray, "pos tok"]


class NotProvableError(UserError):
    """A model outside the class that this method can decide."""


@dataclass(frozen=True, eq=False)
class Tables:
    """Everything before the mix, and what is needed to go on behind it."""

    model: Model
    ops: BoundedOps  # for the readout
    params: Parameters  # with bounds
    mixing: int  # number of the layer
    places: range  # that ask
    stream: Bounded  # dim place tok, of the places that ask
    token_table: Bounded  # tok dim
    heads: tuple[Head, ...]

    @property
    def coordinates(self) -> int:
        return sum(len(head.axes) for head in self.heads)

    @cached_property
    def in_real_numbers(self) -> "Tables":
        """The same tables with a readout that does not round."""
        real = with_numbers(self.model, BoundedOps(self.model.architecture.precision, real=True))
        stream, table = (
            Bounded(real.ops.floats, part.centre, None, part.reach, None, np.zeros(part.shape))
            for part in (self.stream, self.token_table)
        )
        return replace(self, ops=real.ops, params=real.params, stream=stream, token_table=table)


class Pass(NamedTuple):
    """A backend and the numbers in its form."""

    ops: Any
    params: Parameters


def tabulate(model: Model, allowed: Allowed, asking: int, real: bool = False) -> Tables:
    """The tables of a model whose last `asking` of len(allowed) places ask for the next token."""
    architecture = model.architecture
    readout = with_numbers(model, BoundedOps(architecture.precision, real, apart=True))
    bounded = with_numbers(model, BoundedOps(architecture.precision, real))
    is_exact = not real and adds_in_order(architecture)
    here = with_numbers(model, NumpyOps(architecture.precision)) if is_exact else bounded
    tokens = np.broadcast_to(np.arange(architecture.vocab), (len(allowed), architecture.vocab))
    mixing, floats = mixing_layer(architecture.layers), bounded.ops.floats
    with np.errstate(over="ignore", invalid="ignore"), sentence_for_overflow(model):
        table, x = embed(architecture, *here, tokens)
        for index, layer in enumerate(architecture.layers[:mixing]):
            name = prefix(architecture, index)
            if layer.attention:
                moved = fixed_output(layer, here, bounded, name, x, allowed)
                x, here = as_bounded(floats, whole(x)), bounded
                x = settle(layer, *here, name, x, moved, ignore)
            else:
                x = settle(layer, *here, name, x, None, ignore)
        places = range(len(allowed) - asking, len(allowed))
        name = prefix(architecture, mixing)
        heads = tuple(make_heads(architecture.layers[mixing], here, name, x, places, allowed, bounded.ops))
        stream = spread(as_bounded(floats, whole(x[:, places.start :])), architecture.vocab)
        require_finite(stream.centre, stream.off)
    return Tables(model, *readout, mixing, places, stream, as_bounded(floats, table), heads)


def with_numbers(model: Model, ops: Any) -> Pass:
    return Pass(
        ops, untie(model.architecture, {name: ops.array(part) for name, part in model.params.items()})
    )


def adds_in_order(architecture: Architecture) -> bool:
    """Whether all sums before the first mix are short."""
    lengths = [architecture.width]
    for layer in architecture.layers:
        if layer.attention:
            return max(*lengths, layer.attention.head_size, layer.attention.values) <= FEW
        if layer.feedforward:
            lengths.append(layer.feedforward.units(architecture.width))
    return False


def mixing_layer(layers: Sequence[Layer]) -> int:
    """The last layer with attention."""
    attending = [index for index, layer in enumerate(layers) if layer.attention]
    if not attending:
        raise NotProvableError("not provable by this method, because no layer of the model has attention")
    return attending[-1]


def make_heads(
    layer: Layer, here: Pass, name: str, x: Value, places: range, allowed: Allowed, bounded: BoundedOps
) -> list[Head]:
    """Scores and values of every head of a layer, for queries at `places`."""
    attention, vocab = layer.attention, allowed.shape[1]
    assert attention
    normed = layer.attention_norm(*here, f"{name}attn_norm", x)
    site = Site(*here, f"{name}attn", normed, places)
    q, k, v = attention.project(site)
    heads: list[Head] = []
    for number in range(attention.heads):
        queries, keys = attention.meet(site, number, q, k)
        scores = all_scores(attention, site, number, whole(queries), whole(keys), vocab, bounded)
        values = spread(as_bounded(bounded.floats, whole(attention.carried(site, number, v))), vocab)
        require_finite(values.centre, scores.centre)
        heads.append(make_head(bounded.floats, attention.extra, scores, values, causal(places, allowed)))
    return heads


def spread(x: Bounded, vocab: int) -> Bounded:
    """`dim pos tok` with a column a token, also where tokens make no difference."""
    return x.per_part(lambda part: np.broadcast_to(part, (*part.shape[:2], vocab)))


def causal(places: range, allowed: Allowed) -> Bool[np.ndarray, "place 1 key tok"]:
    """Which (key, token) a query at each place can meet."""
    earlier = np.arange(len(allowed)) <= np.array(places)[:, None]  # place key
    found: np.ndarray = (earlier[:, :, None] & allowed)[:, None]
    return found


def all_scores(
    attention: Attention,
    site: Site,
    head: int,
    queries: Value,
    keys: Value,
    vocab: int,
    bounded: BoundedOps,
) -> Scores:
    """Each query token with each key token; later places are at -1e30."""
    size, asked, count = queries.shape[0], queries.shape[1:], keys.shape[1:]
    scaled = queries * attention.score_scale
    flat = site.ops.scores(scaled.reshape(size, -1, 1), keys.reshape(size, -1, 1))
    shift = site.ops.array(attention.shift(head, site.asking, keys.shape[1]))
    every = as_bounded(bounded.floats, flat.reshape(*asked, *count) + shift[:, None, :, None])
    shape = (len(site.asking), vocab, keys.shape[1], vocab)
    centre, radius, error = (np.broadcast_to(part, shape) for part in (every.centre, every.reach, every.off))
    return Scores(centre, radius, error, every.shape[3] > 1)


def fixed_output(layer: Layer, here: Pass, bounded: Pass, name: str, x: Value, allowed: Allowed) -> Value:
    """What a layer's attention adds to the stream, where it moves nothing that varies."""
    places = range(len(allowed))
    heads = make_heads(layer, here, name, x, places, allowed, bounded.ops)
    found = [fixed_mix(bounded.ops.floats, head, causal(places, allowed), allowed) for head in heads]
    varying = max(vary for _, vary in found)
    if varying > 0:
        raise NotProvableError(
            f"not provable by this method, because {name.rstrip('.')} mixes tokens as well as a later layer "
            f"(what its attention brings to one place varies by {varying:.3g})"
        )
    assert layer.attention
    site = Site(*bounded, f"{name}attn", as_bounded(bounded.ops.floats, whole(x)), places)
    return layer.attention.write(site, [mix for mix, _ in found], ignore)


@contextmanager
def sentence_for_overflow(model: Model) -> Iterator[None]:
    """Numbers so large that a table overflows can be neither proved nor run."""
    try:
        yield
    except OverflowError:
        name = max(model.params, key=lambda key: float(np.abs(model.params[key]).max(initial=0.0)))
        largest = float(np.abs(model.params[name]).max())
        raise UserError(
            f"the pass overflows {model.architecture.precision}: "
            f"the weights are too large ({name} holds {largest:.3g})"
        ) from None


def require_finite(*tables: np.ndarray) -> None:
    if not all(np.isfinite(table).all() for table in tables):
        raise OverflowError
