"""What a head can mix: the weight of every (position, token) for each asking token, and the deployed error.

Weights are exponentials of scores, divided by the largest of the query; a mix is a mean of values by them.
With softmax1 the zero vector has a weight too. Where scores are known exactly and do not depend on what the
keys hold, neither do the weights: they are then the deployed exponentials themselves.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from glassformer.checker.balls import (
    Arbs,
    Balls,
    bound_above,
    bound_below,
    choose_narrower,
    enclose_range,
    hull,
    make_fixed_balls,
    to_exact_balls,
)
from glassformer.checker.means import WeightRanges
from glassformer.checker.ops_ball import BallOps
from glassformer.checker.rounding import UP, Bound, RoundingRules, bound_growth
from glassformer.models.attention import Attention
from glassformer.models.ops import Ops, Value
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.parameter import Parameters

LEAST_FACTOR = 2.0**-39  # of a norm, which the pass may give to weights and not to values
_exp = np.frompyfunc(lambda x: x.exp(), 1, 1)


@dataclass(frozen=True, eq=False)
class BallHead:
    """One head's tables."""

    ops: BallOps
    source: Ops  # what queries and keys were computed by
    params: Parameters  # of the source
    name: str  # of the attention, under which its parameters are
    number: int
    queries: Value  # dim pos tok
    keys: Value  # dim pos tok
    values: Balls  # dim pos tok: what the head carries


@dataclass(frozen=True, eq=False)
class Mixture:
    """A head at one position; keys are the positions up to it, the last of which holds the asking token."""

    rules: RoundingRules
    weights: Arbs  # query key tok
    extra: Arbs  # query: weight of the zero vector; 0 for softmax
    values: Balls  # dim key tok
    allowed: np.ndarray  # query key tok
    lowest: Bound  # query key tok: of the scores
    highest: Bound  # query key tok
    score_error: Bound  # query key tok
    is_known: np.ndarray  # query: whether the weights are the deployed ones
    has_extra: bool

    @cached_property
    def least_weight(self) -> Bound:
        """The smallest weight a key can have, `query key`."""
        least: Bound = np.where(self.allowed, bound_below(self.weights), np.inf).min(2)
        return np.maximum(least, 0.0)

    @cached_property
    def least_total(self) -> Bound:
        """A lower bound of the softmax's denominator, `query`."""
        total: Bound = self.least_weight.sum(1) + np.maximum(bound_below(self.extra), 0.0)
        return total * (2 - UP)

    @cached_property
    def error(self) -> Bound:
        """How far the deployed mix can be from the real one, `dim query`."""
        if self.rules.is_real:
            return np.zeros((len(self.values.over), len(self.weights)))
        drift = self.drift()  # query
        left = np.where(drift < 0.5, 1 - drift, 0.0)
        moved = np.minimum(drift * self.span()[:, None], self.moved())  # dim query
        stretched = np.divide(moved, left, out=np.full_like(moved, np.inf), where=left > 0)
        found = self.rules.up(stretched + self.most_mixed(self.values.error) + self.rounded() + self.lost())
        return np.fmin(found, self.rules.up(self.span()[:, None] + self.outside()))

    def lost(self) -> Bound:
        """What weights that underflow cost, also times the factor of a norm, `dim 1`."""
        size: Bound = self.largest(self.values.size)
        return self.keys * self.rules.eta * (1 + 2 * size) * (2 / LEAST_FACTOR)

    def outside(self) -> Bound:
        """How far the deployed mix can be from all real ones, `dim query`.

        Whatever its weights come out as, it is a mean of deployed values, but for rounding: unless a score
        overflows, the largest weight is 1.
        """
        if self.rules.is_real:
            return np.zeros((len(self.values.over), len(self.weights)))
        rounded = self.rules.gathered(2 * self.keys + 6) * self.largest(self.values.size)
        found = self.rules.up(rounded + self.largest(self.values.error) + self.lost())  # dim 1
        is_finite = np.where(self.allowed, np.isfinite(self.score_error), True).all((1, 2))
        return np.where(is_finite, found, np.inf)

    @property
    def keys(self) -> int:
        return int(self.weights.shape[1])

    def rounded(self) -> Bound:
        """What the sums cost, `dim query`: a rounding per term, but a tiny term costs no more than itself."""
        share, mixed = self.share.max(2), self.most_mixed(self.values.size)  # query key, dim query
        tiny = np.where(share > self.rules.unit, 0.0, share)
        few = (2 * (share > self.rules.unit).sum(1) + 6) * self.rules.unit
        sizes = np.where(self.allowed.any(0), self.values.size, 0.0).max(2)  # dim key
        apart = (few / (1 - few) + tiny.sum(1)) * mixed + sizes @ tiny.T
        rounded: Bound = np.minimum(apart, self.rules.gathered(2 * self.keys + 6) * mixed)
        return rounded

    def moved(self) -> Bound:
        """Sum over keys of share x relative error x |value - mix|, `dim query`."""
        own = np.stack([(self.share * self.off * size).max(2).sum(1) for size in self.values.size])
        return (own + self.all_off * self.most_mixed(self.values.size)) * UP

    def most_mixed(self, size: Bound) -> Bound:
        """The most that a mean of such sizes, `dim key tok`, can be, `dim query`."""
        shared = np.stack([(self.share * one).max(2).sum(1) for one in size])
        return np.minimum(self.largest(size), shared * UP)

    def largest(self, size: Bound) -> Bound:
        """Over all keys and their tokens, `dim 1`."""
        largest: Bound = np.where(self.allowed.any(0), size, 0.0).max((1, 2))[:, None]
        return largest

    def drift(self) -> Bound:
        """R: how far all weights together can be off, as a share of their sum, `query`."""
        most: Bound = self.off.max((1, 2))
        return np.minimum(most, self.all_off)

    @cached_property
    def all_off(self) -> Bound:
        """Sum over keys, and the zero vector, of share x relative error, `query`."""
        total: Bound = (self.share * self.off).max(2).sum(1) + self.extra_share() * self.off.max((1, 2))
        return total * UP

    @cached_property
    def off(self) -> Bound:
        """How far each weight can be off, relative to itself, `query key tok`.

        The score, the exponential, and the difference to the largest score, which cannot be further away than
        the largest that any key can have.
        """
        unit, top = self.rules.unit, np.where(self.allowed, self.highest, -np.inf).max((1, 2), keepdims=True)
        unsure = np.where(self.allowed, self.score_error, 0.0)
        apart = top - self.lowest + unsure + unsure.max((1, 2), keepdims=True)
        exists = self.allowed & ~self.is_known[:, None, None]
        return np.where(exists, bound_growth((unsure + self.rules.function + unit * apart) * UP) * UP, 0.0)

    @cached_property
    def share(self) -> Bound:
        """The largest share of attention that a key with a token can have, `query key tok`."""
        heavy = np.where(self.allowed, bound_above(self.weights), 0.0)
        others = np.maximum(self.least_total[:, None] - self.least_weight * UP, 0.0)[:, :, None] * (2 - UP)
        total = heavy + others
        return np.minimum(np.divide(heavy, total, out=np.zeros_like(heavy), where=total > 0) * UP, 1.0)

    def extra_share(self) -> Bound:
        if not self.has_extra:
            return np.zeros(len(self.weights))
        return np.minimum(bound_above(self.extra) / self.least_total * UP, 1.0)

    def span(self) -> Bound:
        """From the smallest to the largest value of each dimension."""
        anywhere = self.allowed.any(0)
        high = np.where(anywhere, bound_above(self.values.over), -np.inf).max((1, 2))
        low = np.where(anywhere, bound_below(self.values.over), np.inf).min((1, 2))
        if self.has_extra:
            high, low = np.maximum(high, 0.0), np.minimum(low, 0.0)
        span: Bound = (high - low) * UP
        return span

    def hull(self) -> Balls:
        """Every mix, whatever the tokens are, each key on its own: `dim query`.

        By the sums of weights and products, each with its own tokens, or by the largest and smallest mean
        where that says more. Where the error is larger than that leaves room for, the deployed mix itself is
        enclosed, and stands for the real one: both are within these bounds.
        """
        over = self.hull_of_sums()
        values = self.values.over
        low, high = -self.means_above(-bound_below(values)), self.means_above(bound_above(values))
        over = choose_narrower(over, low, high)
        low, high, outside = bound_below(over), bound_above(over), self.outside()
        is_deployed = (outside < self.error) & ~(self.error <= (high - low) / 2)
        wide = np.where(is_deployed, low - outside, low), np.where(is_deployed, high + outside, high)
        over[is_deployed] = enclose_range(self.rules, *(end[is_deployed] for end in wide))
        return make_fixed_balls(self.rules, over, np.where(is_deployed, 0.0, self.error))

    def means_above(self, value: Bound) -> Bound:
        """Upper bounds of the means of values, `dim key tok`, as `dim query`."""
        lightest, heaviest = np.maximum(bound_below(self.weights), 0.0), bound_above(self.weights)
        zero = np.maximum(bound_below(self.extra), 0.0), bound_above(self.extra)
        if not self.has_extra:
            zero = np.zeros_like(zero[0]), np.zeros_like(zero[1])
        ranges = WeightRanges(lightest, heaviest, zero, self.least_total, self.allowed)
        return np.stack([ranges.bound_mean(row) for row in value])

    def hull_of_sums(self) -> Arbs:
        """The hull of the sums of products over that of the sums of weights, `dim query`."""
        first = self.allowed.argmax(2)[:, :, None]  # query key 1: a token that the key can hold
        stand_in = np.where(self.allowed, np.arange(self.allowed.shape[2]), first)
        query, key = np.ogrid[: stand_in.shape[0], : stand_in.shape[1]]
        weights = self.weights[query[:, :, None], key[:, :, None], stand_in]
        values = self.values.over[:, key[:, :, None], stand_in]  # dim query key tok
        above = np.asarray(hull.reduce(weights * values, axis=3), object).sum(2)  # dim query
        below = np.asarray(hull.reduce(weights, axis=2), object).sum(1) + self.extra  # query
        return np.asarray(above / below, object)

    def chosen(self, tokens: np.ndarray) -> Balls:
        """The mixes of queries whose keys hold these tokens, `key query`, as `dim query`."""
        query, key = np.ogrid[: tokens.shape[1], : tokens.shape[0]]
        weights = self.weights[query, key, tokens.T]
        values = self.values.over[:, key, tokens.T]  # dim query key
        total = weights.sum(1) + self.extra
        return make_fixed_balls(self.rules, (weights * values).sum(2) / total, self.error)


def make_mixture(
    attention: Attention, head: BallHead, position: int, asking: np.ndarray, allowed: np.ndarray
) -> Mixture:
    """The head at a position, for each of the tokens that can ask there; `allowed` is `pos tok`."""
    ops, keys, vocab = head.ops, position + 1, allowed.shape[1]
    found = _compute_key_scores(attention, head, position, asking)
    here = np.broadcast_to(allowed[:keys], (len(asking), keys, vocab)).copy()
    here[:, position] = np.arange(vocab) == asking[:, None]
    has_extra, scores = attention.extra > 0, to_balls(ops, found)
    highest = np.maximum(bound_above(scores.over), 0.0 if has_extra else -np.inf)  # the zero vector scores 0
    top = to_exact_balls(np.where(here, highest, -np.inf).max((1, 2)))  # query
    weights, extra = _exp(scores.over - top[:, None, None]), _exp(-top) * arb(attention.extra)
    is_known = np.zeros(len(asking), bool)
    if isinstance(found, np.ndarray):
        is_known = _find_uniform_queries(found, here)
        weights[is_known], extra[is_known] = _compute_deployed_weights(
            found[is_known], here[is_known], attention.extra
        )
    bounds = (bound_below(scores.over), highest, scores.error)
    return Mixture(ops.rules, weights, extra, head.values[:, :keys], here, *bounds, is_known, has_extra)


def _find_uniform_queries(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The queries whose scores are the same for all tokens that a key can hold."""
    highest, lowest = (np.where(allowed, scores, end) for end in (-np.inf, np.inf))
    same: np.ndarray = (highest.max(2) == lowest.min(2)).all(1)
    return same


def _compute_deployed_weights(scores: np.ndarray, allowed: np.ndarray, extra: float) -> tuple[Arbs, Arbs]:
    """The exponentials that the deployed pass computes from such scores, and that of the zero vector."""
    top = np.where(allowed, scores, -np.inf).max((1, 2)).astype(scores.dtype)
    if extra:
        top = np.maximum(top, scores.dtype.type(0))
    power = NumpyOps(scores.dtype.name).exp
    powers = power(scores - top[:, None, None])
    zero = scores.dtype.type(extra) * power(-top) if extra else np.zeros_like(top)  # the power may overflow
    return to_exact_balls(powers.astype(np.float64)), to_exact_balls(zero.astype(np.float64))


def _compute_key_scores(attention: Attention, head: BallHead, position: int, asking: np.ndarray) -> Value:
    """`query key tok`: the scores of every key with every token, the bias of the relation included."""
    keys, vocab = position + 1, head.keys.shape[2]
    queries = head.queries[:, position, asking][:, :, None] * attention.score_scale
    flat = head.keys[:, :keys].reshape(head.keys.shape[0], keys * vocab, 1)
    products = head.source.scores(queries, flat).reshape(len(asking), keys, vocab)
    return products + _compute_key_biases(attention, head, position)[:, None]


def _compute_key_biases(attention: Attention, head: BallHead, position: int) -> Value:
    """`key`: what the relation adds to the scores, in the arithmetic of the source."""
    relation, heads, keys = attention.relation, attention.heads, range(position + 1)
    distances = [relation.distance(position, key) for key in keys]
    fixed = head.source.array([relation.bias(head.number, heads, distance) for distance in distances])
    learned = relation.learned_bias(
        head.source, head.params, f"{head.name}.relation", head.number, heads, distances
    )
    return fixed if learned is None else learned + fixed


def to_balls(ops: BallOps, value: Value) -> Balls:
    """Numbers as balls: those of NumPy are exact."""
    return value if isinstance(value, Balls) else ops.array(value)
