"""Causal attention: a query of each position meets the keys of earlier ones, and mixes their values.

Scores (0, 0) mix two values half and half. With softmax1 the denominator has one more 1, so that a head can
attend to nothing: the same two values then get a third each.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from glassformer.core.errors import require_bounds, require_value
from glassformer.models.blocks import Blocks, to_dense
from glassformer.models.norm import NoNorm, Norm
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import Parameter, Parameters
from glassformer.models.projection import (
    AnyProjection,
    FullProjection,
    RankOneProjection,
    choose_dimension_range,
)
from glassformer.models.relation import MASKED
from glassformer.models.relations import NoRelation, Relation

_FEW_PAIRS = 4096  # of query and key, whose biases are worth keeping
Record = Callable[[str, Value], None]


@dataclass(frozen=True)
class Attention:
    """One attention layer: heads, their sizes, and how the four projections are made."""

    heads: int = 1
    kv_heads: int | None = None  # groups of heads that share keys and values; none: one per head
    head_size: int = 2  # of queries and keys
    value_size: int | None = None  # of values; none: as the head size
    q: AnyProjection = field(default_factory=FullProjection)
    k: AnyProjection = field(default_factory=FullProjection)
    v: AnyProjection = field(default_factory=FullProjection)
    out: AnyProjection | None = None  # none: the heads' outputs, concatenated, are the result
    relation: Relation = field(default_factory=NoRelation)  # positions inside the scores
    qk_norm: Norm = field(default_factory=NoNorm)
    k_norm: Norm | None = None  # none: as the queries'
    softmax: Literal["softmax", "softmax1"] = "softmax"
    scale: float | None = None  # of the scores; none: 1 / sqrt(head size)

    def __post_init__(self) -> None:
        require_bounds(
            self, heads=(1, 256), head_size=(1, 4_096), value_size=(1, 4_096), kv_heads=(-256, 256)
        )
        self.relation.require_fit(self.heads, self.head_size)
        divides = self.heads % self.groups == 0
        require_value(divides, "kv_heads", f"a divisor of the {self.heads} heads", self.kv_heads)

    @property
    def groups(self) -> int:
        return self.heads if self.kv_heads is None else max(self.kv_heads, 0) or self.heads + 1

    @property
    def values(self) -> int:
        return self.head_size if self.value_size is None else self.value_size

    @property
    def score_scale(self) -> float:
        return 1 / math.sqrt(self.head_size) if self.scale is None else self.scale

    @property
    def reads_content(self) -> bool:
        """Whether queries meet keys; otherwise scores are the relation's alone, and nothing is scaled."""
        return "zero" not in (self.q.kind, self.k.kind)

    def parameters(self, name: str, width: int) -> dict[str, Parameter]:
        mixed = self.heads * self.values
        if self.out is None:
            fits = f"the width {width}, or an output projection (model.layers.0.attention.out.kind full)"
            require_value(mixed == width, "heads x head size", fits, mixed)
        return (
            self.q.parameters(f"{name}.q", self.heads * self.head_size, width)
            | self.k.parameters(f"{name}.k", self.groups * self.head_size, width)
            | self.v.parameters(f"{name}.v", self.groups * self.values, width)
            | self.qk_norm.parameters(f"{name}.qk_norm", self.head_size)
            | (self.k_norm.parameters(f"{name}.k_norm", self.head_size) if self.k_norm else {})
            | self.relation.parameters(f"{name}.relation", self.heads)
            | (self.out.parameters(f"{name}.out", width, mixed) if self.out else {})
        )

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, last: int, record: Record) -> Value:
        """Mix `dim pos batch`; the result is for the `last` positions only."""
        here = AttentionSite(ops, params, name, x, range(x.shape[1] - last, x.shape[1]))
        return self.write(here, self.mixes(here, record), record)

    def mixes(self, here: "AttentionSite", record: Record) -> list[Value]:
        """What each head brings to the positions that ask, before anything is written."""
        q, k, v = self.project(here)
        for key, value in {"q": q, "k": k, "v": v}.items():
            record(key, value)
        mixes: list[Value] = []
        for head in range(self.heads):
            queries, keys = self.meet(here, head, q, k)
            record(f"query.{head}", queries)
            record(f"key.{head}", keys)
            scores = self.scores(here, head, queries, keys)
            record(f"scores.{head}", scores)
            weights = here.ops.softmax(scores, extra=self.extra)
            record(f"weights.{head}", weights)
            mixes.append(here.ops.mix(weights, self.carried(here, head, v)))
        return mixes

    @property
    def extra(self) -> float:
        """What the softmax's denominator has more than the sum."""
        return float(self.softmax == "softmax1")

    def project(self, here: "AttentionSite") -> tuple[Value, Value, Value]:
        """Queries of the positions that ask, keys and values of all, every head's one after the other."""
        ops, params, name = here.ops, here.params, here.name
        return (
            self.q(ops, params, f"{name}.q", here.asking_x, self.heads * self.head_size),
            self.k(ops, params, f"{name}.k", here.x, self.groups * self.head_size),
            self.v(ops, params, f"{name}.v", here.x, self.groups * self.values),
        )

    def write(self, here: "AttentionSite", mixes: list[Value], record: Record) -> Value:
        """What attention adds to the stream, given every head's mix of `carried`."""
        ops, dims = here.ops, here.x.shape[0]
        if self.carries_stream(dims):
            mixes = [ops.linear(self.rows(here, "v", self.group(h)), mix) for h, mix in enumerate(mixes)]
        mixed = sum(mixes[1:], mixes[0]) if self.reads_first else to_dense(Blocks(ops, mixes))
        record("mixed", mixed)
        if isinstance(self.out, RankOneProjection) and self.reads_first:
            return self.out.write(ops, here.params, f"{here.name}.out", mixed, dims)
        return mixed if self.out is None else self.out(ops, here.params, f"{here.name}.out", mixed, dims)

    @property
    def reads_first(self) -> bool:
        """An output of rank one reads a single number off the mix: the values are read, then mixed."""
        return isinstance(self.out, RankOneProjection) and not self.out.bias and self.out.reads is None

    def meet(self, here: "AttentionSite", head: int, q: Value, k: Value) -> tuple[Value, Value]:
        """The two sides of a head's scores, `dim pos batch` each: its queries and keys, normed and turned.

        A head that is wider than the stream is folded: q . k = x' (Wq' Wk) x, so that the product of the two
        weights meets the stream itself, in as many dimensions as that has (2, say, and not 128).
        """
        group = self.group(head)
        if self.folds_scores(here.x.shape[0]):
            ask, answer = self.rows(here, "q", head), self.rows(here, "k", group)  # size dim
            folded = here.ops.linear(answer.T, ask)
            return here.ops.linear(folded, _read_dimensions(self.q, here.asking_x)), _read_dimensions(
                self.k, here.x
            )
        size = self.head_size
        queries, keys = q[head * size : (head + 1) * size], k[group * size : (group + 1) * size]
        queries = self.qk_norm(here.ops, here.params, f"{here.name}.qk_norm", queries)
        norm, norm_name = (self.k_norm, "k_norm") if self.k_norm else (self.qk_norm, "qk_norm")
        keys = norm(here.ops, here.params, f"{here.name}.{norm_name}", keys)
        return self.turned(here, queries, here.asking), self.turned(here, keys, range(k.shape[1]))

    def carried(self, here: "AttentionSite", head: int, v: Value) -> Value:
        """What a head mixes: its values, or the stream itself where values are wider than that."""
        if self.carries_stream(here.x.shape[0]):
            return _read_dimensions(self.v, here.x)
        group = self.group(head)
        values = v[group * self.values : (group + 1) * self.values]
        if isinstance(self.out, RankOneProjection) and self.reads_first:
            row = here.params[f"{here.name}.out.read"][head * self.values : (head + 1) * self.values]
            values = here.ops.linear(row[None], values)
        signs = self.relation.value_signs(v.shape[1])
        return values if signs is None else to_dense(values) * here.ops.array(signs)[None, :, None]

    def carries_stream(self, width: int) -> bool:
        has_signs = self.relation.value_signs(1) is not None
        return self.values > width and _is_plain_weight(self.v) and not self.reads_first and not has_signs

    def group(self, head: int) -> int:
        """Which keys and values a head uses."""
        return head // (self.heads // self.groups)

    def folds_scores(self, width: int) -> bool:
        normed = not isinstance(self.qk_norm, NoNorm) or self.k_norm is not None
        untouched = not normed and not self.relation.is_rotation
        return self.head_size > width and untouched and _is_plain_weight(self.q) and _is_plain_weight(self.k)

    def rows(self, here: "AttentionSite", key: Literal["q", "k", "v"], index: int) -> Value:
        """One head's rows of a weight, `size dim`."""
        size = self.values if key == "v" else self.head_size
        count = self.heads if key == "q" else self.groups
        projection: AnyProjection = getattr(self, key)
        first, stop = choose_dimension_range(key, projection.reads, here.x.shape[0])
        weight = projection.weight(here.ops, here.params, f"{here.name}.{key}", count * size, stop - first)
        return weight[index * size : (index + 1) * size]

    def turned(self, here: "AttentionSite", x: Value, positions: range) -> Value:
        """Queries or keys, turned by position where the relation does so."""
        return self.relation.turn(here.ops, x, positions)

    def scores(self, here: "AttentionSite", head: int, queries: Value, keys: Value) -> Value:
        """`query key batch`, later positions at -1e30."""
        products = here.ops.scores(queries * self.score_scale, keys)
        return products + self.shift(here, head, keys.shape[1])[:, :, None]

    def shift(self, here: "AttentionSite", head: int, keys: int) -> Value:
        """What is added to `query key` scores whatever the tokens: the bias, -1e30 for later positions."""
        relation, heads, asking = self.relation, self.heads, here.asking
        is_small = len(asking) * keys <= _FEW_PAIRS
        tabulate = _tabulate_biases if is_small else _tabulate_biases.__wrapped__
        biases, seen = tabulate(relation, head, heads, asking, keys)
        fixed = here.ops.array(biases)
        learned = relation.learned_bias(here.ops, here.params, f"{here.name}.relation", head, heads, seen)
        return fixed if learned is None else learned + fixed


class AttentionSite(NamedTuple):
    """Where a pass stands: backend, parameters, the layer's name, the stream, and the positions that ask."""

    ops: Ops
    params: Parameters
    name: str
    x: Value  # dim pos batch
    asking: range

    @property
    def asking_x(self) -> Value:
        return self.x[:, self.asking.start :]


@lru_cache(maxsize=256)
def _tabulate_biases(
    relation: Relation, head: int, heads: int, asking: range, keys: int
) -> tuple[Float[np.ndarray, "query key"], Float[np.ndarray, "query key"]]:
    """Fixed biases, and distances, of every query and key; the same for all passes over so many positions."""
    query, key = np.array(asking)[:, None], np.arange(keys)
    distances = np.asarray(relation.distance(query, np.minimum(query, key)), np.float64)
    if not relation.has_fixed_bias:
        return np.where(key <= query, -0.0, MASKED), distances
    unique, which = np.unique(distances, return_inverse=True)
    fixed = np.array([relation.bias(head, heads, distance) for distance in unique.tolist()])
    return np.where(key <= query, fixed[which].reshape(distances.shape), MASKED), distances


def _read_dimensions(projection: AnyProjection, x: Value) -> Value:
    first, stop = choose_dimension_range("reads", projection.reads, x.shape[0])
    return x[first:stop]


def _is_plain_weight(projection: AnyProjection) -> bool:
    """A weight and nothing else."""
    return not projection.bias and projection.writes is None
