"""Before the mix a position depends only on its own token: tables over (position, token).

Position 3 of 57 + 68 holds a digit, so it has a row for each; position 2 holds the mark `+`, one row. One
attention layer is the mix. What any other brings is enclosed by the hull over all tokens: exactly where it
reads marks alone, and widely where it mixes digits; a layer behind the mix gets its part at the readout.

Our own pass adds in order, so it gives the same number wherever it is computed: the tables of a model with
one attention layer are the deployed ones, known exactly. Others, and those of any backend, are enclosed, with
the error of the deployed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from glassformer.checker.balls import Balls, bound_below, make_fixed_balls
from glassformer.checker.chain import vary_dimensions
from glassformer.checker.mixing import LEAST_FACTOR, BallHead, Mixture, make_mixture, to_balls
from glassformer.checker.ops_ball import BallOps
from glassformer.checker.spans import from_balls
from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention, AttentionSite
from glassformer.models.blocks import split_position_factor, to_dense
from glassformer.models.forward import (
    embed_tokens,
    finish_layer,
    format_layer_prefix,
    ignore_record,
    untie_parameters,
)
from glassformer.models.ops import Ops, Value
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.parameter import Parameters
from glassformer.models.relation import MASKED
from glassformer.tasks import Addition, to_digits

_NOTHING = np.zeros(())
_MOST_MASKED = 0.1 * abs(MASKED)  # below it no score makes up for the mask of later positions


@dataclass(frozen=True, eq=False)
class PremixTables:
    """A model up to its mix, and what is needed to continue from there."""

    architecture: Architecture
    ops: BallOps
    params: Parameters  # as balls, ties filled in
    which: int  # the layer of the mix
    token_table: Balls  # tok dim
    stream: Balls  # dim pos tok: what the mix's layer gets
    heads: tuple[BallHead, ...]
    allowed: np.ndarray  # pos tok: which tokens a position can hold
    later: Mapping[int, list[Balls]] = field(
        default_factory=dict
    )  # by layer behind the mix: heads, dim pos tok

    @property
    def attention(self) -> Attention:
        found = self.architecture.layers[self.which].attention
        assert found is not None
        return found

    @property
    def has_other_attention(self) -> bool:
        """Whether a layer besides that of the mix attends."""
        return len(_list_attention_layers(self.architecture)) > 1

    @cached_property
    def real(self) -> "PremixTables":
        """The same numbers, with no account of rounding."""
        rules = self.ops.rules
        return self._over(BallOps(self.architecture.precision, "real", is_quick=rules.is_quick))

    @cached_property
    def quick(self) -> "PremixTables":
        """The same numbers in spans of float64, for a readout that takes a hundredth of the time."""
        rules = self.ops.rules
        return self._over(BallOps(self.architecture.precision, rules.arithmetic, rules.any_backend, True))

    def _over(self, ops: BallOps) -> "PremixTables":
        """The numbers of the readout for other operations: spans of the balls, or without their errors."""

        def change(balls: Balls) -> Balls:
            over = (
                from_balls(balls.over) if ops.rules.is_quick and not self.ops.rules.is_quick else balls.over
            )
            return make_fixed_balls(ops.rules, over, _NOTHING if ops.rules.is_real else balls.error)

        params = {name: change(value) for name, value in self.params.items()}
        later = {index: [change(mix) for mix in mixes] for index, mixes in self.later.items()}
        table, stream = change(self.token_table), change(self.stream)
        return replace(self, ops=ops, params=params, token_table=table, stream=stream, later=later)

    def mixture(self, head: int, position: int, asking: np.ndarray) -> Mixture:
        """What a head at a position can mix, a row for each token that asks."""
        return make_mixture(self.attention, self.heads[head], position, asking, self.allowed)

    def last_state(self, positions: np.ndarray, tokens: np.ndarray, mixes: list[Balls]) -> Balls:
        """`dim 1 batch`, normed, of queries at positions, holding tokens; heads have mixed `dim 1 batch`."""
        model, kept = self.architecture, vary_dimensions(self.stream[:, positions, tokens][:, None], 0)
        here = AttentionSite(
            self.ops, self.params, f"{format_layer_prefix(model, self.which)}attn", kept, range(1)
        )
        x, moved = kept, self.attention.write(here, mixes, ignore_record)
        for index in range(self.which, len(model.layers)):
            layer, name = model.layers[index], format_layer_prefix(model, index)
            if index in self.later and layer.attention:
                brought = [mix[:, positions, tokens][:, None] for mix in self.later[index]]  # dim 1 batch
                there = AttentionSite(self.ops, self.params, f"{name}attn", to_dense(x), range(1))
                written = to_dense(layer.attention.write(there, brought, ignore_record))
                moved = vary_dimensions(written, index)
            x, moved = finish_layer(layer, self.ops, self.params, name, x, moved, ignore_record), None
        state: Balls = to_dense(model.final_norm(self.ops, self.params, "final_norm", x))
        return state

    def logits(self, state: Balls) -> Balls:
        """`tok batch` for last states `dim 1 batch`."""
        logits: Balls = to_dense(
            self.architecture.head(self.ops, self.params, "head", state, self.token_table)
        )
        return logits[:, 0]


def make_premix_tables(
    model: Architecture,
    stored: Parameters,
    task: Addition,
    arithmetic: str,
    any_backend: bool = False,
    which: int | None = None,
) -> PremixTables:
    """Everything that an adder computes before its mix."""
    allowed = _mark_allowed_tokens(task, model.vocab)
    return make_token_tables(model, stored, allowed, arithmetic, any_backend, which)


def make_token_tables(
    model: Architecture,
    stored: Parameters,
    allowed: np.ndarray,
    arithmetic: str,
    any_backend: bool = False,
    which: int | None = None,
) -> PremixTables:
    """Everything that a model computes before its mix, for the tokens that positions can hold, `pos tok`.

    `which` is the layer of the mix; none: the last with attention.
    """
    ops, mixing = BallOps(model.precision, arithmetic, any_backend), _choose_mixing_layer(model, which)
    bounded = _Pass(ops, untie_parameters(model, {name: ops.array(value) for name, value in stored.items()}))
    is_exact = arithmetic != "real" and not any_backend and model.layers[0].attention is not None
    here = _Pass(NumpyOps(model.precision), untie_parameters(model, stored)) if is_exact else bounded
    tokens = np.tile(np.arange(model.vocab), (len(allowed), 1))  # pos tok
    table, x = embed_tokens(model, *here, tokens)
    for index in range(mixing):
        x, here, _ = _pass_layer(model, index, x, here, bounded, allowed)
    name = format_layer_prefix(model, mixing)
    heads = _make_ball_heads(model.layers[mixing], *here, name, x, model.vocab, ops)
    stream = to_balls(ops, _repeat_by_token(x, model.vocab))
    later = _enclose_later_layers(model, mixing, x, here, bounded, allowed)
    return PremixTables(model, *bounded, mixing, to_balls(ops, table), stream, heads, allowed, later)


class _Pass(NamedTuple):
    """Operations, and the parameters in their form."""

    ops: Any
    params: Parameters


def _enclose_later_layers(
    model: Architecture, mixing: int, x: Value, here: _Pass, bounded: _Pass, allowed: np.ndarray
) -> dict[int, list[Balls]]:
    """What the heads of layers behind the mix bring, whatever the tokens are."""
    last, found = _list_attention_layers(model)[-1], dict[int, list[Balls]]()
    for index in range(mixing, last + 1 if last > mixing else mixing):
        x, here, mixes = _pass_layer(model, index, x, here, bounded, allowed)
        if mixes and index > mixing:
            found[index] = mixes
    return found


def _pass_layer(
    model: Architecture, index: int, x: Value, here: _Pass, bounded: _Pass, allowed: np.ndarray
) -> tuple[Value, _Pass, list[Balls]]:
    """The stream behind a layer, which is not known exactly from there on, and its heads' mixes."""
    layer, name = model.layers[index], format_layer_prefix(model, index)
    kept, moved, mixes = to_balls(bounded.ops, _repeat_by_token(x, model.vocab)), None, list[Balls]()
    if layer.attention:
        mixes = _enclose_attention(layer, here, name, x, allowed, bounded.ops)
        site = AttentionSite(*bounded, f"{name}attn", kept, range(0))
        moved = layer.attention.write(site, mixes, ignore_record)
    return finish_layer(layer, *bounded, name, kept, moved, ignore_record), bounded, mixes


def _choose_mixing_layer(model: Architecture, which: int | None) -> int:
    attending = _list_attention_layers(model)
    if which is not None and which not in attending:
        raise UserError(f"layer {which} of the model in the certificate does not attend, so it mixes nothing")
    return attending[-1] if which is None else which


def _list_attention_layers(model: Architecture) -> list[int]:
    """The layers with attention; there must be one."""
    attending = [index for index, layer in enumerate(model.layers) if layer.attention]
    if not attending:
        raise UserError("the model of the certificate has no attention, so there is nothing to bound")
    return attending


def _mark_allowed_tokens(task: Addition, vocab: int) -> np.ndarray:
    """Which tokens each position can hold, `pos tok`: every digit, or the one mark."""
    layout, few = task.written(), [0, task.base**task.digits - 1]
    if vocab < len(layout.labels):
        raise UserError(f"the model knows {vocab} tokens, but layout {layout.name} has {len(layout.labels)}")
    digits = to_digits(few, task.digits, task.base)
    prompt = layout.prompt(digits, digits)  # pos 2: all zeros, all of the highest digit
    allowed = np.zeros((layout.length - 1, vocab), bool)
    allowed[:, : task.base] = True
    marks = np.flatnonzero(prompt[:, 0] == prompt[:, 1])
    allowed[marks] = np.arange(vocab) == prompt[marks, :1]
    return allowed


def _make_ball_heads(
    layer: Layer, source: Ops, params: Parameters, name: str, x: Value, vocab: int, ops: BallOps
) -> tuple[BallHead, ...]:
    """Queries, keys and values of every head, over (position, token), as the source computes them."""
    attention = layer.attention
    assert attention is not None
    normed = layer.attention_norm(source, params, f"{name}attn_norm", x)
    here = AttentionSite(source, params, f"{name}attn", normed, range(x.shape[1]))
    q, k, v = attention.project(here)
    found = []
    for head in range(attention.heads):
        queries, keys = (_repeat_by_token(part, vocab) for part in attention.meet(here, head, q, k))
        carried = attention.carried(here, head, v)
        _require_plain_factor(split_position_factor(carried)[1])
        values = to_balls(ops, _repeat_by_token(carried, vocab))
        found.append(BallHead(ops, source, params, f"{name}attn", head, queries, keys, values))
    return tuple(found)


def _require_plain_factor(factor: Value | None) -> None:
    """Weights are multiplied by what a norm divides values by, and must not underflow by that."""
    if factor is None:
        return
    least = bound_below(abs(factor.over)) if isinstance(factor, Balls) else np.abs(factor)
    if not least.min() > LEAST_FACTOR:
        raise UserError("a norm of the model in the certificate divides by more than 5e11")


def _repeat_by_token(x: Value, vocab: int) -> Value:
    """`dim pos tok`, with what all tokens share repeated."""
    plain = to_dense(x)
    return plain if plain.shape[2] == vocab else plain[:, :, np.zeros(vocab, int)]


def _enclose_attention(
    layer: Layer, here: _Pass, name: str, x: Value, allowed: np.ndarray, ops: BallOps
) -> list[Balls]:
    """What every head of a layer brings to each position: the hull over all tokens, `dim pos tok`."""
    attention, vocab = layer.attention, allowed.shape[1]
    assert attention is not None
    mixes = []
    for head in _make_ball_heads(layer, *here, name, x, vocab, ops):
        rows = []
        _require_masked_keys(attention, head)
        for position in range(len(allowed)):
            asking = np.flatnonzero(allowed[position])
            mixture = make_mixture(attention, head, position, asking, allowed)
            if not np.where(mixture.allowed, mixture.lowest, 0.0).min() > -_MOST_MASKED:
                raise _make_mask_error(f"{name}attn")
            rows.append(mixture.hull()[:, _index_asking_tokens(asking, vocab)])  # dim asking
        mixes.append(ops.stack(rows, 1))  # dim pos tok
    return mixes


def _require_masked_keys(attention: Attention, head: BallHead) -> None:
    """Later positions have no weight only while no product is as large as what masks them."""

    def size(x: Value) -> np.ndarray:
        found = x.size + x.error if isinstance(x, Balls) else np.abs(x).astype(np.float64)
        return np.asarray(found.max((1, 2)))

    most = float((size(head.queries) * size(head.keys)).sum()) * abs(attention.score_scale)
    if not most < _MOST_MASKED:
        raise _make_mask_error(head.name)


def _make_mask_error(name: str) -> UserError:
    return UserError(
        f"scores of {name} in the certificate are so large that they undo the mask of later positions"
    )


def _index_asking_tokens(asking: np.ndarray, vocab: int) -> np.ndarray:
    """For each token its index among those that can ask; 0 for those that never do."""
    index = np.zeros(vocab, int)
    index[asking] = np.arange(len(asking))
    return index
