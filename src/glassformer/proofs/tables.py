"""A model as finite tables and one mix.

Up to the mix all is a function of (position, token), and so a table: the stream, queries, keys, values. For a
query at position p that holds token q the mix is

    o = sum_j w_j(t_j) v_j(t_j) / (c + sum_j w_j(t_j)),   w_j(t) = exp(score of (p, q) with (j, t))

Our own pass adds in order, so these tables are known to the last bit and count as exact; where they are not
(real numbers or any backend are asked for, or a layer before attends) they have bounds.
A layer before the mix may attend where nothing moves but what stands there always: TinyAdder's first layer
reads marks. Its output is then a table as well, a hair wide.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from glassformer.core.errors import UserError
from glassformer.models.architecture import Layer
from glassformer.models.attention import MASKED, Attention, AttentionSite
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
from glassformer.proofs.heads import (
    LEAST_FACTOR,
    MOST_KEYS,
    HeadTable,
    ScoreTable,
    compute_fixed_mix,
    make_head_table,
)

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

    @property
    def coordinates(self) -> int:
        return sum(len(head.axes) for head in self.heads)

    @cached_property
    def in_real_numbers(self) -> "ModelTables":
        """The same tables with a readout that does not round."""
        real = make_table_pass(self.model, BoundedOps(self.model.architecture.precision, real=True))
        stream, table = (
            BoundedArray(real.ops.floats, part.centre, None, part.reach, None, np.zeros(part.shape))
            for part in (self.stream, self.token_table)
        )
        return replace(self, ops=real.ops, params=real.params, stream=stream, token_table=table)


class _TablePass(NamedTuple):
    """A backend and the parameters in its form."""

    ops: Any
    params: Parameters


def tabulate_model(
    model: Model, allowed: _Allowed, asking: int, real: bool = False, any_backend: bool = False
) -> ModelTables:
    """The tables of a model whose last `asking` of len(allowed) positions ask for the next token."""
    architecture = model.architecture
    if len(allowed) > MOST_KEYS:
        raise NotProvableError(f"not provable by this method, which reads at most {MOST_KEYS:,} positions")
    readout = make_table_pass(model, BoundedOps(architecture.precision, real, True, any_backend))
    bounded = make_table_pass(model, BoundedOps(architecture.precision, real, False, any_backend))
    is_exact = not real and not any_backend
    here = make_table_pass(model, NumpyOps(architecture.precision)) if is_exact else bounded
    tokens = np.broadcast_to(np.arange(architecture.vocab), (len(allowed), architecture.vocab))
    mixing, floats = _find_mixing_layer(architecture.layers), bounded.ops.floats
    with np.errstate(over="ignore", invalid="ignore"), _refuse_overflow(model):
        table, x = embed_tokens(architecture, *here, tokens)
        for index, layer in enumerate(architecture.layers[:mixing]):
            name = format_layer_prefix(architecture, index)
            if layer.attention:
                moved = _compute_fixed_output(layer, here, bounded, name, x, allowed)
                x, here = to_bounded(floats, to_dense(x)), bounded
                x = finish_layer(layer, *here, name, x, moved, ignore_record)
            else:
                x = finish_layer(layer, *here, name, x, None, ignore_record)
        positions = range(len(allowed) - asking, len(allowed))
        name = format_layer_prefix(architecture, mixing)
        heads = tuple(
            _tabulate_heads(architecture.layers[mixing], here, name, x, positions, allowed, bounded.ops)
        )
        stream = _spread_tokens(to_bounded(floats, to_dense(x[:, positions.start :])), architecture.vocab)
        _require_finite_tables(stream.centre, stream.off)
    return ModelTables(model, *readout, mixing, positions, stream, to_bounded(floats, table), heads)


def make_table_pass(model: Model, ops: Any) -> _TablePass:
    return _TablePass(
        ops,
        untie_parameters(model.architecture, {name: ops.array(part) for name, part in model.params.items()}),
    )


def _find_mixing_layer(layers: Sequence[Layer]) -> int:
    """The last layer with attention."""
    attending = [index for index, layer in enumerate(layers) if layer.attention]
    if not attending:
        raise NotProvableError("not provable by this method, because no layer of the model has attention")
    return attending[-1]


def _tabulate_heads(
    layer: Layer,
    here: _TablePass,
    name: str,
    x: Value,
    positions: range,
    allowed: _Allowed,
    bounded: BoundedOps,
) -> list[HeadTable]:
    """Scores and values of every head of a layer, for queries at `positions`."""
    attention, vocab = layer.attention, allowed.shape[1]
    assert attention
    normed = layer.attention_norm(*here, f"{name}attn_norm", x)
    site = AttentionSite(*here, f"{name}attn", normed, positions)
    q, k, v = attention.project(site)
    heads: list[HeadTable] = []
    for number in range(attention.heads):
        queries, keys = attention.meet(site, number, q, k)
        scores = _tabulate_scores(attention, site, number, to_dense(queries), to_dense(keys), vocab, bounded)
        carried = attention.carried(site, number, v)
        _require_plain_factor(split_position_factor(carried)[1])
        values = _spread_tokens(to_bounded(bounded.floats, to_dense(carried)), vocab)
        _require_finite_tables(values.centre, scores.centre)
        there = _mask_causal_keys(positions, allowed)
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
    top = np.where(there, scores.centre, -np.inf).max()
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


def _compute_fixed_output(
    layer: Layer, here: _TablePass, bounded: _TablePass, name: str, x: Value, allowed: _Allowed
) -> Value:
    """What a layer's attention adds to the stream, where it moves nothing that varies."""
    positions = range(len(allowed))
    heads = _tabulate_heads(layer, here, name, x, positions, allowed, bounded.ops)
    for head in heads:
        _require_masked_keys(head.scores)
    found = [
        compute_fixed_mix(bounded.ops.floats, head, _mask_causal_keys(positions, allowed), allowed)
        for head in heads
    ]
    varying = max(vary for _, vary in found)
    if varying > 0:
        raise NotProvableError(
            f"not provable by this method, because {name.rstrip('.')} mixes tokens, as a later layer does "
            f"(what its attention brings to one position varies by {varying:.3g})"
        )
    assert layer.attention
    site = AttentionSite(*bounded, f"{name}attn", to_bounded(bounded.ops.floats, to_dense(x)), positions)
    return layer.attention.write(site, [mix for mix, _ in found], ignore_record)


def _require_masked_keys(scores: Float[np.ndarray, "query asked key tok"]) -> None:
    """Later positions have no weight only while no score is as large as what masks them."""
    later = np.arange(scores.shape[2]) > np.arange(len(scores))[:, None]  # query key
    plain = np.where(later[:, None, :, None], scores - MASKED, scores)
    if not np.abs(plain).max() < _MOST_MASKED:
        raise NotProvableError(
            f"not provable by this method, because scores as large as {np.abs(plain).max():.3g} "
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
