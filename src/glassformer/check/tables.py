"""Before the mix, a place depends on its own token alone: tables over (place, token) for a model that adds.

Place 3 of 57 + 68 holds a digit, so ten rows; place 2 holds the mark `+`, one row. A layer before the mix
may attend to marks as it likes; what it brings from digits must be as good as nothing, for it is enclosed by
the hull over all of them.

What NumPy adds in order is the same number wherever it is computed, so the tables of a model with one
attention layer are the deployed ones, known exactly; others are enclosed, with the error of the deployed.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from glassformer.check.balls import Balls, enclosed
from glassformer.check.mixing import Head, Mixture, lifted, mixture
from glassformer.check.ops_ball import BallOps
from glassformer.errors import UserError
from glassformer.model.architecture import Architecture, Layer
from glassformer.model.attention import Attention, Site
from glassformer.model.blocks import whole
from glassformer.model.forward import embed, ignore, prefix, settle, untie
from glassformer.model.ops import Ops, Value
from glassformer.model.ops_numpy import FEW, NumpyOps
from glassformer.model.parameter import Parameters
from glassformer.tasks import Addition, digits_of

NOTHING = np.zeros(())


@dataclass(frozen=True, eq=False)
class Tables:
    """A model up to its mix, and what is needed to go on from there."""

    architecture: Architecture
    ops: BallOps
    params: Parameters  # as balls, ties filled in
    which: int  # the layer of the mix
    token_table: Balls  # tok dim
    stream: Balls  # dim pos tok: what the mix's layer gets
    heads: tuple[Head, ...]
    allowed: np.ndarray  # pos tok: which tokens a place can hold

    @property
    def attention(self) -> Attention:
        found = self.architecture.layers[self.which].attention
        assert found is not None
        return found

    @cached_property
    def real(self) -> "Tables":
        """The same numbers, with no account of rounding."""
        ops = BallOps(self.architecture.precision, "real")
        params = {name: enclosed(ops.rules, value.over, NOTHING) for name, value in self.params.items()}
        table, stream = (enclosed(ops.rules, one.over, NOTHING) for one in (self.token_table, self.stream))
        return replace(self, ops=ops, params=params, token_table=table, stream=stream)

    def mixture(self, head: int, place: int, asking: np.ndarray) -> Mixture:
        """What a head at a place can mix, a row for each token that asks."""
        return mixture(self.attention, self.heads[head], place, asking, self.allowed)

    def last_state(self, places: np.ndarray, tokens: np.ndarray, mixes: list[Balls]) -> Balls:
        """`dim 1 batch`, normed, of queries at places, holding tokens; heads have mixed `dim 1 batch`."""
        model, kept = self.architecture, self.stream[:, places, tokens][:, None]
        here = Site(self.ops, self.params, f"{prefix(model, self.which)}attn", kept, range(1))
        x, moved = kept, self.attention.write(here, mixes, ignore)
        for index in range(self.which, len(model.layers)):
            layer, name = model.layers[index], prefix(model, index)
            x, moved = settle(layer, self.ops, self.params, name, x, moved, ignore), None
        state: Balls = whole(model.final_norm(self.ops, self.params, "final_norm", x))
        return state

    def logits(self, state: Balls) -> Balls:
        """`tok batch` for last states `dim 1 batch`."""
        logits: Balls = whole(self.architecture.head(self.ops, self.params, "head", state, self.token_table))
        return logits[:, 0]


def make_tables(model: Architecture, stored: Parameters, task: Addition, arithmetic: str) -> Tables:
    """Everything that a model computes before its mix."""
    ops, allowed = BallOps(model.precision, arithmetic), allowed_tokens(task, model.vocab)
    params = untie(model, {name: ops.array(value) for name, value in stored.items()})
    source: Ops = NumpyOps(model.precision) if is_known(model, arithmetic) else ops
    given = params if source is ops else untie(model, stored)
    tokens, which = np.tile(np.arange(model.vocab), (len(allowed), 1)), mixing_layer(model)  # pos tok
    table, x = embed(model, source, given, tokens)
    for index in range(which):
        layer, name = model.layers[index], prefix(model, index)
        moved = unmixed(layer, ops, params, name, x, allowed, source, given) if layer.attention else None
        x = settle(layer, ops, params, name, lifted(ops, by_token(x, model.vocab)), moved, ignore)
        source, given = ops, params  # what was mixed is not known exactly
    heads = heads_of(model.layers[which], source, given, prefix(model, which), x, model.vocab, ops)
    stream = lifted(ops, by_token(x, model.vocab))
    return Tables(model, ops, params, which, lifted(ops, table), stream, heads, allowed)


def is_known(model: Architecture, arithmetic: str) -> bool:
    """Whether what comes before the first attention is the same numbers in every batch."""
    attention = model.layers[0].attention
    if attention is None or arithmetic == "real":
        return False
    sums = attention.values if attention.reads_first else 0
    return max(model.width, attention.head_size, sums) <= FEW


def mixing_layer(model: Architecture) -> int:
    """The last layer with attention."""
    attending = [index for index, layer in enumerate(model.layers) if layer.attention]
    if not attending:
        raise UserError("the model of the certificate has no attention, so it cannot add")
    return attending[-1]


def allowed_tokens(task: Addition, vocab: int) -> np.ndarray:
    """Which tokens each place can hold, `pos tok`: every digit, or the one mark."""
    layout, few = task.written(), [0, 10**task.digits - 1]
    if vocab < len(layout.labels):
        raise UserError(f"the model knows {vocab} tokens, but layout {layout.name} has {len(layout.labels)}")
    digits = digits_of(few, task.digits)
    prompt = layout.prompt(digits, digits)  # pos 2: all zeros, all nines
    allowed = np.zeros((layout.length - 1, vocab), bool)
    allowed[:, :10] = True
    marks = np.flatnonzero(prompt[:, 0] == prompt[:, 1])
    allowed[marks] = np.arange(vocab) == prompt[marks, :1]
    return allowed


def heads_of(
    layer: Layer, source: Ops, params: Parameters, name: str, x: Value, vocab: int, ops: BallOps
) -> tuple[Head, ...]:
    """Queries, keys and values of every head, over (place, token), as the source computes them."""
    attention = layer.attention
    assert attention is not None
    normed = layer.attention_norm(source, params, f"{name}attn_norm", x)
    here = Site(source, params, f"{name}attn", normed, range(x.shape[1]))
    q, k, v = attention.project(here)
    found = []
    for head in range(attention.heads):
        queries, keys = (by_token(part, vocab) for part in attention.meet(here, head, q, k))
        values = lifted(ops, by_token(attention.carried(here, head, v), vocab))
        found.append(Head(ops, source, head, queries, keys, values))
    return tuple(found)


def by_token(x: Value, vocab: int) -> Value:
    """`dim pos tok`, with what all tokens share repeated."""
    plain = whole(x)
    return plain if plain.shape[2] == vocab else plain[:, :, np.zeros(vocab, int)]


def unmixed(
    layer: Layer,
    ops: BallOps,
    params: Parameters,
    name: str,
    x: Value,
    allowed: np.ndarray,
    source: Ops,
    given: Parameters,
) -> Value:
    """What the attention of a layer that does not mix moves: the hull over all tokens, `dim pos tok`."""
    attention, vocab = layer.attention, allowed.shape[1]
    assert attention is not None
    mixes = []
    for head in heads_of(layer, source, given, name, x, vocab, ops):
        rows = []
        for place in range(len(allowed)):
            asking = np.flatnonzero(allowed[place])
            mixed = mixture(attention, head, place, asking, allowed).hull()  # dim asking
            rows.append(mixed[:, spread_out(asking, vocab)])
        mixes.append(ops.stack(rows, 1))  # dim pos tok
    here = Site(ops, params, f"{name}attn", lifted(ops, by_token(x, vocab)), range(0))
    return attention.write(here, mixes, ignore)


def spread_out(asking: np.ndarray, vocab: int) -> np.ndarray:
    """For each token its index among those that can ask; 0 for those that never do."""
    index = np.zeros(vocab, int)
    index[asking] = np.arange(len(asking))
    return index
