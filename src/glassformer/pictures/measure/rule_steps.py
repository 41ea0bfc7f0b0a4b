"""The rule as five steps, each with a measured share: encode, detect, retrieve, carry, decide.

A share of 1 says that the step can be read off the model without a mistake; nothing is assumed of how.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from glassformer.core.share import MeasuredShare
from glassformer.pictures.measure.hidden_units import collect_last_states, name_mid_stream
from glassformer.pictures.measure.interventions import collect_trial_answers, collect_trial_weights
from glassformer.pictures.measure.landscape import softmax
from glassformer.pictures.measure.subject import TRIALS, Subject
from glassformer.tasks import mark_constrained
from glassformer.tasks.draws import draw_sequences

_POOL, _ROUNDS, _AHEAD = 400, 10, 24  # sequences at a time, times, and tokens beyond a window


@dataclass(frozen=True, eq=False)
class _Encoding:
    token: MeasuredShare  # of all pairs whose nearest mean of a token is their own token's
    place: MeasuredShare  # the same for positions
    apart: Float[np.ndarray, "tok pos dim"]


@dataclass(frozen=True, eq=False)
class _Detection:
    share: MeasuredShare  # of unseen contexts on the right side of the threshold
    threshold: float  # nats
    asked: Float[np.ndarray, " context"]  # entropy of the answer where the rule asks for something
    free: Float[np.ndarray, " context"]  # and where it does not


@dataclass(frozen=True, eq=False)
class _Retrieval:
    share: MeasuredShare  # of trials in which the source has the best head's largest weight
    head: int
    weight: float  # the mean of the source's
    holds: float  # share in which the position with the largest weight holds an allowed token
    profile: Float[np.ndarray, " offset"]  # mean weight by distance from the source, -(pos - 1) to pos - 1


@dataclass(frozen=True, eq=False)
class _Carrying:
    share: MeasuredShare  # of unseen contexts whose nearest mean of z is that of their own demand
    classes: Bool[np.ndarray, "demand tok"]  # what each demand allows
    states: Float[np.ndarray, "context dim"]
    demand: Int[np.ndarray, " context"]  # row of `classes`
    most_common: float  # what always naming the commonest demand would reach
    has_free: bool  # contexts that ask for nothing stand in as the last class


@dataclass(frozen=True, eq=False)
class _Decision:
    share: MeasuredShare  # of trials whose answer is allowed
    table: Float[np.ndarray, "demand tok"]  # how often each token is the answer to each demand
    probability: float  # mean probability on what is allowed


def measure_encoding(subject: Subject) -> _Encoding:
    """How well e alone tells its token, whatever the position, and its position, whatever the token."""
    pairs = np.asarray(subject.embedded, np.float64)  # tok pos dim
    token, place = np.indices(pairs.shape[:2])
    hits = (
        (_find_nearest_mean(pairs, pairs.mean(1)) == token).sum(),
        (_find_nearest_mean(pairs, pairs.mean(0)) == place).sum(),
    )
    by_token, by_place = (MeasuredShare.of(int(hit), token.size) for hit in hits)
    return _Encoding(by_token, by_place, pairs)


def _find_nearest_mean(
    states: Float[np.ndarray, "*point dim"], means: Float[np.ndarray, "mean dim"]
) -> Int[np.ndarray, "*point"]:
    """The number of the nearest mean."""
    distance = (means**2).sum(1) - 2 * states @ means.T  # but for what all means share
    return np.asarray(distance.argmin(-1))


def measure_detection(subject: Subject) -> _Detection:
    """Whether the entropy of the model's answer tells contexts that ask from those that do not."""
    asked = (
        _compute_answer_entropies(collect_last_states(subject, "logits"))
        if len(subject.trials)
        else np.zeros(0)
    )
    contexts = draw_free_contexts(subject)
    free = (
        _compute_answer_entropies(subject.model.forward(contexts, last=1)[:, 0])
        if len(contexts)
        else np.zeros(0)
    )
    count = min(len(asked), len(free)) // 2 * 2
    if not count:
        return _Detection(MeasuredShare.of(0, 0), float("nan"), asked, free)
    asked, free = asked[:count], free[:count]
    threshold = find_best_threshold(asked[::2], free[::2])
    hits = int((asked[1::2] < threshold).sum() + (free[1::2] >= threshold).sum())
    return _Detection(MeasuredShare.of(hits, count), threshold, asked, free)


def draw_free_contexts(subject: Subject) -> Integer[np.ndarray, "context pos"]:
    """Full windows of sequences of the rule after which every token is allowed."""
    random, size = np.random.default_rng(1), subject.context
    found: list[np.ndarray] = []
    for _ in range(_ROUNDS):
        tokens = draw_sequences(subject.automaton, random, _POOL, size + _AHEAD)
        at, which = np.nonzero(~mark_constrained(subject.automaton, tokens)[size:])
        found.append(tokens[at[:, None] + np.arange(size), which[:, None]])
        if sum(map(len, found)) >= TRIALS or not len(at):
            break
    return np.concatenate(found)[:TRIALS]


def _compute_answer_entropies(logits: Float[np.ndarray, "context tok"]) -> Float[np.ndarray, " context"]:
    """In nats."""
    shifted = logits.astype(np.float64) - logits.max(1, keepdims=True)
    total = np.exp(shifted).sum(1)
    return np.asarray(np.log(total) - (np.exp(shifted) * shifted).sum(1) / total)


def find_best_threshold(low: Float[np.ndarray, " low"], high: Float[np.ndarray, " high"]) -> float:
    """The number that parts two samples with the fewest mistakes; in the middle of the gap around it."""
    values = np.concatenate([low, high])
    order = np.argsort(values, kind="stable")
    is_low = (np.arange(len(values)) < len(low))[order]
    right = np.r_[0, is_low.cumsum()] + np.r_[(~is_low).sum(), (~is_low)[::-1].cumsum()[::-1][1:], 0]
    cut, ends = int(right.argmax()), values[order]
    return float((ends[max(cut - 1, 0)] + ends[min(cut, len(ends) - 1)]) / 2)


def measure_retrieval(subject: Subject) -> _Retrieval:
    """Whether attention at the last position is largest on the source, in the head that does it best."""
    trials, weights = subject.trials, collect_trial_weights(subject)  # head trial pos
    hits = (weights.argmax(2) == trials.source).sum(1)
    on_source = weights[:, np.arange(len(trials)), trials.source].mean(1)
    head = int(np.lexsort((on_source, hits))[-1])
    looked_at = trials.contexts[np.arange(len(trials)), weights[head].argmax(1)]
    holds = trials.allowed[np.arange(len(trials)), looked_at].mean()
    return _Retrieval(
        MeasuredShare.of(int(hits[head]), len(trials)),
        head,
        float(on_source[head]),
        float(holds),
        average_by_offset(weights[head], trials.source),
    )


def average_by_offset(
    weights: Float[np.ndarray, "trial pos"], source: Int[np.ndarray, " trial"]
) -> Float[np.ndarray, " offset"]:
    """Mean weight at each distance from the source, over the trials that have a position there."""
    places = weights.shape[1]
    offset = np.arange(places) - source[:, None] + places - 1  # trial pos
    total = np.bincount(offset.ravel(), weights.ravel().astype(np.float64), 2 * places - 1)
    count = np.bincount(offset.ravel(), minlength=2 * places - 1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def measure_carrying(subject: Subject) -> _Carrying:
    """Whether z is nearest to the mean of its own demand: means of one half, share of the other."""
    classes, demand = np.unique(subject.trials.allowed, axis=0, return_inverse=True)
    demand, states = np.ravel(demand), collect_last_states(subject, name_mid_stream(subject))
    contexts = draw_free_contexts(subject)[: len(states) if len(classes) == 1 else 0]
    has_free = len(contexts) > 0
    if has_free:
        free = subject.model.trace(contexts)[name_mid_stream(subject)][:, -1]
        states, demand = np.concatenate([states, free]), np.r_[demand, np.ones(len(free), int)]
        classes = np.concatenate([classes, np.ones_like(classes)])
    fit, test = demand[::2], demand[1::2]
    means = _compute_class_means(states[::2], fit, len(classes))
    hits = int((_find_nearest_mean(states[1::2], means) == test).sum())
    share = MeasuredShare.of(hits, len(test)) if len(np.unique(demand)) > 1 else MeasuredShare.of(0, 0)
    return _Carrying(share, classes, states, demand, float(np.bincount(demand).max() / len(demand)), has_free)


def _compute_class_means(
    states: Float[np.ndarray, "context dim"], kind: Int[np.ndarray, " context"], kinds: int
) -> Float[np.ndarray, "kind dim"]:
    """The mean state of each kind; infinitely far for a kind that never occurs."""
    return np.stack(
        [
            states[kind == one].mean(0) if (kind == one).any() else np.full(states.shape[1], 1e15)
            for one in range(kinds)
        ]
    )


def measure_decision(subject: Subject) -> _Decision:
    """Whether the answer is allowed, and which answers each demand gets."""
    trials, answers = subject.trials, collect_trial_answers(subject)
    rows = np.arange(len(trials))
    classes, demand = np.unique(trials.allowed, axis=0, return_inverse=True)
    table = np.zeros(classes.shape)
    np.add.at(table, (np.ravel(demand), answers), 1)
    logits = collect_last_states(subject, "logits")
    probability = (softmax(logits) * trials.allowed).sum(1)
    share = MeasuredShare.of(int(trials.allowed[rows, answers].sum()), len(rows))
    return _Decision(share, table / table.sum(1, keepdims=True), float(probability.mean()))
