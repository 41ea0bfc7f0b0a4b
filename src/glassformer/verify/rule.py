"""The measures of a rule model, each under its own name, on sequences that it has never seen.

A model is judged as it is used: to predict token i it sees the last tokens before i, as many as its context
holds. A constrained position is *in the window* where those tokens fix what the rule asks for, *outside*
where only a longer look back would, and *absent* where nothing in the sequence does.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.core.errors import UserError
from glassformer.core.share import MeasuredShare
from glassformer.core.words import format_percent, format_stored_share
from glassformer.models.generate import write_sampled
from glassformer.models.margins import measure_margins
from glassformer.models.model import Model
from glassformer.tasks import (
    Rule,
    Sequences,
    TokenSource,
    classify_positions,
    compute_entropy_floor,
    follow_states,
    mark_allowed,
    mark_constrained,
    tabulate_automaton,
)
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.knowledge import measure_source_distance
from glassformer.tasks.sample import SequencePool, sample_pool
from glassformer.training.streams import STREAMS, make_stream_key

LOSS_WINDOWS = 16_384  # windows, and sequences, of the fresh loss
ROUNDS = 200  # pools of fresh sequences at most; a rule that hardly ever constrains ends there
POOL = 16_384  # sequences of a pool at most, however many the data have
_BLOCK = 8192  # contexts in one pass


@dataclass(frozen=True)
class _RuleReport:
    """Every measure of a rule model; shares carry their 95% interval."""

    argmax_accuracy: MeasuredShare  # constrained positions in the window whose largest logit is right
    argmax_accuracy_all: MeasuredShare  # all constrained positions
    by_source: dict[str, MeasuredShare]  # in_window, outside, absent
    by_distance: dict[int, MeasuredShare]  # tokens that one must look back, in the window
    right_probability: float  # mean probability of the right tokens, in the window
    sampled_error: (
        MeasuredShare  # constrained positions broken by sequences that the model writes at temperature 1
    )
    loss: float  # nats per token, on fresh windows
    loss_standard_error: float  # of the measured loss
    entropy_floor: float  # the least loss that any model with this context can have; nan: not known


class _ConstrainedTrials(NamedTuple):
    """Constrained positions, one entry each."""

    right: Bool[np.ndarray, " trial"]
    probability: Float[np.ndarray, " trial"]
    source: Int[np.ndarray, " trial"]
    distance: Int[np.ndarray, " trial"]


def measure_rule(
    model: Model, rule: Rule, data: Sequences, positions: int = 100_000, generated: int = 2_000, seed: int = 0
) -> _RuleReport:
    """All measures; `positions` constrained ones in the window at least, if the rule has so many."""
    automaton = tabulate_automaton(rule)
    trials = collect_trials(model, automaton, data, positions, seed)
    inside = trials.source == TokenSource.IN_WINDOW
    distances = np.unique(trials.distance[inside]).tolist()
    loss, loss_error = measure_fresh_loss(model, automaton, data, seed)
    return _RuleReport(
        argmax_accuracy=_make_trial_share(trials.right[inside]),
        argmax_accuracy_all=_make_trial_share(trials.right),
        by_source={
            kind.name.lower(): _make_trial_share(trials.right[trials.source == kind])
            for kind in list(TokenSource)[1:]
        },
        by_distance={
            int(d): _make_trial_share(trials.right[inside & (trials.distance == d)]) for d in distances
        },
        right_probability=float(trials.probability[inside].mean()) if inside.any() else float("nan"),
        sampled_error=measure_sampled_error(model, automaton, data, generated, seed),
        loss=loss,
        loss_standard_error=loss_error,
        entropy_floor=_find_rule_floor(automaton, data, model.architecture.context),
    )


def _find_rule_floor(automaton: Automaton, data: Sequences, context: int) -> float:
    """The entropy floor; not a number where it would take too long."""
    try:
        return compute_entropy_floor(automaton, data, context)
    except UserError:
        return float("nan")


def _make_trial_share(right: Bool[np.ndarray, " trial"]) -> MeasuredShare:
    return MeasuredShare.of(int(right.sum()), len(right))


def collect_trials(
    model: Model, automaton: Automaton, data: Sequences, positions: int, seed: int
) -> _ConstrainedTrials:
    """Trials from fresh pools until enough of them are in the window."""
    found: list[_ConstrainedTrials] = []
    data = replace(data, count=min(data.count, POOL))
    draw = jax.jit(lambda key: sample_pool(automaton, key, data))
    for number in range(ROUNDS):
        drawn = draw(jax.random.fold_in(make_stream_key(seed, "fresh"), number))
        tokens, lengths = np.asarray(drawn.tokens, np.int32), np.asarray(drawn.lengths)
        found.append(try_positions(model, automaton, tokens, lengths))
        if sum((trials.source == TokenSource.IN_WINDOW).sum() for trials in found) >= positions:
            break
    return _ConstrainedTrials(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def try_positions(
    model: Model,
    automaton: Automaton,
    tokens: Int[np.ndarray, "pos batch"],
    lengths: Int[np.ndarray, " batch"],
) -> _ConstrainedTrials:
    """Every constrained position of the sequences, seen through the model's window."""
    context = model.architecture.context
    source = classify_positions(automaton, tokens, context)
    source[np.arange(len(tokens))[:, None] >= lengths] = TokenSource.FREE  # beyond the sequence's end
    distance, states = measure_source_distance(automaton, tokens, context), follow_states(automaton, tokens)
    found: list[_ConstrainedTrials] = []
    for size in range(1, context + 1):  # prefixes shorter than the context, then full windows
        position, which = np.nonzero(source[size : size + 1] if size < context else source[size:])
        position = position + size
        for begin in range(0, len(position), _BLOCK):
            at, of = position[begin : begin + _BLOCK], which[begin : begin + _BLOCK]
            window = tokens[at - size + np.arange(size)[:, None], of]  # pos trial
            allowed = automaton.allowed[states[at, of]].T  # tok trial
            is_right, mass = judge_logits(model.logits(window, last=1)[:, 0], allowed)
            found.append(_ConstrainedTrials(is_right, mass, source[at, of], distance[at, of]))
    return (
        _ConstrainedTrials(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
        if found
        else _make_empty_trials()
    )


def _make_empty_trials() -> _ConstrainedTrials:
    return _ConstrainedTrials(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.int8), np.zeros(0, np.int32))


def judge_logits(
    logits: Float[np.ndarray, "tok trial"], allowed: Bool[np.ndarray, "tok trial"]
) -> tuple[Bool[np.ndarray, " trial"], Float[np.ndarray, " trial"]]:
    """Whether the largest logit is an allowed token's (a tie with another is not), and its probability."""
    powers = np.exp(logits.astype(np.float64) - logits.max(0))
    share = np.where(allowed, powers, 0).sum(0) / powers.sum(0)
    return measure_margins(logits, allowed) > 0, share


def measure_sampled_error(
    model: Model, automaton: Automaton, data: Sequences, count: int, seed: int
) -> MeasuredShare:
    """Share of constrained positions that the model's own sequences break; the first token is the task's."""
    random = np.random.default_rng([seed, STREAMS["generate"]])
    first = random.choice(len(automaton.tokens), (1, count), p=automaton.probability[automaton.start])
    tokens = write_sampled(model, first, data.max_length, random)
    asked = mark_constrained(automaton, tokens)[1:]
    return _make_trial_share(~mark_allowed(automaton, tokens)[1:][asked])


def measure_fresh_loss(model: Model, automaton: Automaton, data: Sequences, seed: int) -> tuple[float, float]:
    """Mean cross-entropy in nats over all positions of fresh windows, as in training; its standard error.

    Each window comes from a sequence of its own, so that windows are independent.
    """
    key = jax.random.fold_in(make_stream_key(seed, "fresh"), ROUNDS)
    alone, size = replace(data, count=LOSS_WINDOWS), model.architecture.context + 1
    draw = jax.jit(lambda key: _cut_random_windows(sample_pool(automaton, key, alone), key, size))
    tokens = np.asarray(draw(key), np.int32)
    blocks = range(0, LOSS_WINDOWS, _BLOCK // 4)
    losses = np.concatenate([_compute_window_losses(model, tokens[:, i : i + _BLOCK // 4]) for i in blocks])
    return float(losses.mean()), float(losses.std() / LOSS_WINDOWS**0.5)


def _cut_random_windows(sequences: SequencePool, key: jax.Array, size: int) -> jax.Array:
    """One window from each sequence, at a random start."""
    start = jax.random.randint(key, sequences.lengths.shape, 0, sequences.lengths - size + 1)
    return jnp.take_along_axis(sequences.tokens, start + jnp.arange(size)[:, None], 0)


def _compute_window_losses(model: Model, tokens: Int[np.ndarray, "pos batch"]) -> Float[np.ndarray, " batch"]:
    logits = model.logits(tokens[:-1]).astype(np.float64)
    top = logits.max(0)
    total = np.log(np.exp(logits - top).sum(0)) + top
    right = np.take_along_axis(logits, tokens[None, 1:], 0)[0]
    losses: Float[np.ndarray, " batch"] = (total - right).mean(0)
    return losses


def measure(
    model: Model, task: Any, data: Sequences, positions: int, generated: int, seed: int = 0
) -> dict[str, Any]:
    """As plain data."""
    return asdict(measure_rule(model, task, data, positions, generated, seed))


def describe_measures(measures: dict[str, Any]) -> list[str]:
    """The measures of a rule model, one per line; shares that nothing fell into are left out."""
    shares = {
        "argmax rule accuracy, source in the window": measures["argmax_accuracy"],
        "argmax rule accuracy, source outside": measures["by_source"]["outside"],
        "argmax rule accuracy, source absent": measures["by_source"]["absent"],
        "argmax rule accuracy, all constrained positions": measures["argmax_accuracy_all"],
        "sampled rule error (the model's own sequences, temperature 1)": measures["sampled_error"],
    }
    right, loss, error, floor = (
        _format_measure(measures[name])
        for name in ("right_probability", "loss", "loss_standard_error", "entropy_floor")
    )
    distances = [f"{d}: {format_percent(found['value'])}" for d, found in measures["by_distance"].items()]
    return [
        *(
            f"{name}: {format_stored_share(share)}"
            for name, share in shares.items()
            if share["positions"] or "in the" in name
        ),
        f"mean probability of the right tokens, source in the window: {right}",
        f"loss {loss} nats (standard error {error}); entropy floor {floor}",
        "argmax rule accuracy by distance of the source in tokens: " + ", ".join(distances),
    ]


def _format_measure(value: float | None) -> str:
    """Four digits; a measure without any trial is none, in the JSON as here."""
    return "none" if value is None or math.isnan(value) else f"{value:.4f}"
