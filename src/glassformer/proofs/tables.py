"""A model as finite tables and one mix.

Up to the mix all is a function of (position, token), and so a table: the stream, queries, keys, values. For a
query at position p that holds token q the mix is

    o = sum_j w_j(t_j) v_j(t_j) / (c + sum_j w_j(t_j)),   w_j(t) = exp(score of (p, q) with (j, t))

Our own pass adds in order, so these tables are known to the last bit and count as exact; where they are not
(real numbers or any backend are asked for, or a layer before attends) they have bounds.
One attention layer is the mix. What any other attends to is enclosed, over all contexts at once
(`enclosure.py`): before the mix it makes the tables wide, by a hair where it reads marks alone as TinyAdder's
first layer does; behind the mix it is added to the readout. The mix is the layer that leaves the logits best
known.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool

from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture
from glassformer.models.attention import Attention, AttentionSite
from glassformer.models.blocks import split_position_factor, to_dense
from glassformer.models.bounded import BoundedArray, to_bounded
from glassformer.models.forward import (
    embed_tokens,
    finish_layer,
    format_layer_prefix,
    ignore_record,
    untie_parameters,
)
from glassformer.models.model import Model
from glassformer.models.ops import Value
from glassformer.models.ops_bounded import BoundedOps
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.parameter import Parameters
from glassformer.models.relation import MASKED
from glassformer.proofs.enclosure import enclose_mix, is_varying
from glassformer.proofs.heads import LEAST_FACTOR, MOST_KEYS, HeadTable, ScoreTable, make_head_table

_Allowed = Bool[np.ndarray, "pos tok"]
_MOST_SCORE = 600.0  # of softmax1: the exponential of minus it, its weight on nothing, is far from underflow
_MOST_MASKED = 0.1 * abs(MASKED)  # below it no score makes up for the mask of later positions


class NotProvableError(UserError):
    """A model outside the class that this method can decide."""


@dataclass(frozen=True, eq=False)
class ModelTables:
    """Everything before the mix, and what is needed to continue after it."""

    model: Model
    ops: BoundedOps  # for the readout
    params: Parameters  # with bounds
    mixing: int  # index of the layer
    positions: range  # that ask
    stream: BoundedArray  # dim query tok, of the positions that ask
    token_table: BoundedArray  # tok dim
    heads: tuple[HeadTable, ...]
    later: Mapping[int, list[BoundedArray]] = field(default_factory=dict)  # by layer: mixes, dim query tok
    is_enclosed: bool = False  # another layer mixes tokens too: tables are not all that there is
    slack: float = 0.0  # share of the values by which a mix may be off, and must be right all the same

    @property
    def coordinates(self) -> int:
        return sum(len(head.axes) for head in self.heads)

    @cached_property
    def mix_slack(self) -> float:
        """The same as a distance: no two values of a head are further apart than twice the longest."""
        if not self.slack:
            return 0.0
        longest = max(
            float(np.sqrt(((np.abs(head.values.centre) + head.values.reach) ** 2).sum(0).max()))
            for head in self.heads
        )
        return 2.0 * (1 + 1e-9) * self.slack * longest

    @cached_property
    def in_real_numbers(self) -> "ModelTables":
        """The same tables with a readout that does not round."""
        real = make_table_pass(self.model, BoundedOps(self.model.architecture.precision, real=True))

        def drop_error(part: BoundedArray) -> BoundedArray:
            return BoundedArray(real.ops.floats, part.centre, None, part.reach, None, np.zeros(part.shape))

        return replace(
            self,
            ops=real.ops,
            params=real.params,
            stream=drop_error(self.stream),
            token_table=drop_error(self.token_table),
            later={index: [drop_error(mix) for mix in mixes] for index, mixes in self.later.items()},
        )


class _TablePass(NamedTuple):
    """A backend and the parameters in its form."""

    ops: Any
    params: Parameters


class _Stream(NamedTuple):
    """How far a pass over all (position, token) has come, in which arithmetic."""

    x: Value  # dim pos tok
    here: _TablePass
    is_enclosed: bool  # a layer before has mixed tokens


def tabulate_model(
    model: Model,
    allowed: _Allowed,
    asking: int,
    real: bool = False,
    any_backend: bool = False,
    mixing: int | None = None,
) -> ModelTables:
    """The tables of a model whose last `asking` of len(allowed) positions ask for the next token.

    `mixing` is the layer of the mix; none: the last with attention.
    """
    architecture = model.architecture
    if len(allowed) > MOST_KEYS:
        raise NotProvableError(f"not provable by this method, which reads at most {MOST_KEYS:,} positions")
    readout = make_table_pass(model, BoundedOps(architecture.precision, real, True, any_backend))
    bounded = make_table_pass(model, BoundedOps(architecture.precision, real, False, any_backend))
    is_exact = not real and not any_backend
    here = make_table_pass(model, NumpyOps(architecture.precision)) if is_exact else bounded
    mixing = list_attention_layers(architecture)[-1] if mixing is None else mixing
    positions = range(len(allowed) - asking, len(allowed))
    with np.errstate(all="ignore"), _refuse_overflow(model):
        tokens = np.broadcast_to(np.arange(architecture.vocab), (len(allowed), architecture.vocab))
        table, x = embed_tokens(architecture, *here, tokens)
        before = _Stream(x, here, is_enclosed=False)
        for index in range(mixing):
            before, _ = _pass_layer(architecture, index, before, bounded, allowed)
        heads = _tabulate_heads(architecture, mixing, before, positions, allowed, bounded.ops)
        stream = _spread_tokens(_to_bounded_stream(before, bounded)[:, positions.start :], architecture.vocab)
        _require_finite_tables(stream.centre, stream.off)
        later, varies = _enclose_later_layers(architecture, mixing, before, bounded, allowed)
    later = {index: [mix[:, positions.start :] for mix in mixes] for index, mixes in later.items()}
    return ModelTables(
        model,
        *readout,
        mixing,
        positions,
        stream,
        to_bounded(bounded.ops.floats, table),
        tuple(heads),
        later,
        before.is_enclosed or varies,
    )


def make_table_pass(model: Model, ops: Any) -> _TablePass:
    return _TablePass(
        ops,
        untie_parameters(model.architecture, {name: ops.array(part) for name, part in model.params.items()}),
    )


def list_attention_layers(architecture: Architecture) -> list[int]:
    """The layers that attend, first to last; there is one at least."""
    attending = [index for index, layer in enumerate(architecture.layers) if layer.attention]
    if not attending:
        raise NotProvableError("not provable by this method, because no layer of the model has attention")
    return attending


def _enclose_later_layers(
    architecture: Architecture, mixing: int, stream: _Stream, bounded: _TablePass, allowed: _Allowed
) -> tuple[dict[int, list[BoundedArray]], bool]:
    """Every head's mixes in the layers behind the mix, and whether what they write varies."""
    last = list_attention_layers(architecture)[-1]
    if mixing == last:
        return {}, False
    stream, _ = _pass_layer(architecture, mixing, stream, bounded, allowed)
    stream, found = stream._replace(is_enclosed=False), dict[int, list[BoundedArray]]()
    for index in range(mixing + 1, last + 1):
        stream, mixes = _pass_layer(architecture, index, stream, bounded, allowed)
        if mixes:
            found[index] = mixes
    return found, stream.is_enclosed


def _pass_layer(
    architecture: Architecture, index: int, stream: _Stream, bounded: _TablePass, allowed: _Allowed
) -> tuple[_Stream, list[BoundedArray]]:
    """The stream behind a layer, and its heads' mixes, enclosed over all contexts."""
    layer, name = architecture.layers[index], format_layer_prefix(architecture, index)
    if not layer.attention:
        x = finish_layer(layer, *stream.here, name, stream.x, None, ignore_record)
        return stream._replace(x=x), []
    heads = _tabulate_heads(architecture, index, stream, range(len(allowed)), allowed, bounded.ops)
    mixes = [enclose_mix(bounded.ops.floats, head, allowed) for head in heads]
    kept = _to_bounded_stream(stream, bounded)
    site = AttentionSite(*bounded, f"{name}attn", kept, range(len(allowed)))
    moved = to_dense(layer.attention.write(site, mixes, ignore_record))
    x = finish_layer(layer, *bounded, name, kept, moved, ignore_record)
    return _Stream(x, bounded, stream.is_enclosed or is_varying(moved, allowed)), mixes


def _to_bounded_stream(stream: _Stream, bounded: _TablePass) -> BoundedArray:
    return to_bounded(bounded.ops.floats, to_dense(stream.x))


def _tabulate_heads(
    architecture: Architecture,
    index: int,
    stream: _Stream,
    positions: range,
    allowed: _Allowed,
    bounded: BoundedOps,
) -> list[HeadTable]:
    """Scores and values of every head of a layer, for queries at `positions`."""
    layer, name, vocab = (
        architecture.layers[index],
        format_layer_prefix(architecture, index),
        allowed.shape[1],
    )
    attention, here = layer.attention, stream.here
    assert attention
    normed = layer.attention_norm(*here, f"{name}attn_norm", stream.x)
    site = AttentionSite(*here, f"{name}attn", normed, positions)
    q, k, v = attention.project(site)
    heads: list[HeadTable] = []
    for number in range(attention.heads):
        queries, keys = attention.meet(site, number, q, k)
        scores = _tabulate_scores(attention, site, number, to_dense(queries), to_dense(keys), vocab, bounded)
        carried = attention.carried(site, number, v)
        _require_plain_factor(split_position_factor(carried)[1])
        values = _spread_tokens(to_bounded(bounded.floats, to_dense(carried)), vocab)
        _require_finite_tables(values.centre, values.reach, scores.centre)
        there = _mask_causal_keys(positions, allowed)
        if len(positions) == len(allowed):
            _require_masked_keys(scores)
        if attention.extra and scores.depends:
            _require_weight_on_nothing(scores, there & allowed[positions.start :, :, None, None])
        heads.append(make_head_table(bounded.floats, attention.extra, scores, values, there))
    return heads


def _require_plain_factor(factor: Value | None) -> None:
    """The pass multiplies weights by what a norm divides values by: that must not make them underflow."""
    if factor is None:
        return
    least = np.abs(factor.centre if isinstance(factor, BoundedArray) else factor).min()
    if not least > LEAST_FACTOR:
        raise NotProvableError(f"not provable by this method, because a norm divides by {1 / least:.3g}")


def _require_weight_on_nothing(scores: ScoreTable, there: Bool[np.ndarray, "query asked key tok"]) -> None:
    """Weights are exponentials of scores less the largest, and softmax1's own must not underflow there."""
    top = np.where(there, scores.centre + scores.radius, -np.inf).max()
    if not top < _MOST_SCORE:
        raise NotProvableError(
            f"not provable by this method, because a score of softmax1 is as large as {top:.3g} "
            f"(at most {_MOST_SCORE:g})"
        )


def _spread_tokens(x: BoundedArray, vocab: int) -> BoundedArray:
    """`dim pos tok` with a column a token, also where tokens make no difference."""
    return x.per_part(lambda part: np.broadcast_to(part, (*part.shape[:2], vocab)))


def _mask_causal_keys(positions: range, allowed: _Allowed) -> Bool[np.ndarray, "query 1 key tok"]:
    """Which (key, token) a query at each position can meet."""
    earlier = np.arange(len(allowed)) <= np.array(positions)[:, None]  # query key
    found: np.ndarray = (earlier[:, :, None] & allowed)[:, None]
    return found


def _tabulate_scores(
    attention: Attention,
    site: AttentionSite,
    head: int,
    queries: Value,
    keys: Value,
    vocab: int,
    bounded: BoundedOps,
) -> ScoreTable:
    """Each query token with each key token; later positions are at -1e30."""
    size, asked, count = queries.shape[0], queries.shape[1:], keys.shape[1:]
    scaled = queries * attention.score_scale
    flat = site.ops.scores(scaled.reshape(size, -1, 1), keys.reshape(size, -1, 1))
    shift = attention.shift(site, head, keys.shape[1])
    every = to_bounded(bounded.floats, flat.reshape(*asked, *count) + shift[:, None, :, None])
    shape = (len(site.asking), vocab, keys.shape[1], vocab)
    centre, radius, error = (np.broadcast_to(part, shape) for part in (every.centre, every.reach, every.off))
    return ScoreTable(centre, radius, error, every.shape[3] > 1)


def _require_masked_keys(scores: ScoreTable) -> None:
    """Later positions have no weight only while no score is as large as what masks them."""
    queries, _, keys, _ = scores.centre.shape
    later = np.arange(keys) > np.arange(queries)[:, None]  # query key
    plain = np.where(later[:, None, :, None], scores.centre - MASKED, scores.centre)
    largest = (np.abs(plain) + scores.radius + np.where(np.isfinite(scores.error), scores.error, 0.0)).max()
    if not largest < _MOST_MASKED:
        raise NotProvableError(
            f"not provable by this method, because scores as large as {largest:.3g} "
            "undo the mask of later positions"
        )


@contextmanager
def _refuse_overflow(model: Model) -> Iterator[None]:
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


def _require_finite_tables(*tables: np.ndarray) -> None:
    if not all(np.isfinite(table).all() for table in tables):
        raise OverflowError
