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

from glassformer.errors import UserError
from glassformer.model.generate import write_sampled
from glassformer.model.model import Model
from glassformer.tasks import (
    Rule,
    Sequences,
    Source,
    classify,
    constrained,
    entropy_floor,
    follow,
    right,
    tabulate,
)
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.knowledge import source_distance
from glassformer.tasks.sample import Pool, pool
from glassformer.train.streams import STREAMS, stream
from glassformer.verify.share import Share, share_text

LOSS_WINDOWS = 16_384  # windows, and sequences, of the fresh loss
ROUNDS = 200  # pools of fresh sequences at most; a rule that hardly ever constrains ends there
POOL = 16_384  # sequences of a pool at most, however many the data have
BLOCK = 8192  # contexts in one pass


@dataclass(frozen=True)
class RuleReport:
    """Every measure of a rule model; shares carry their 95% interval."""

    argmax_accuracy: Share  # constrained positions in the window whose largest logit is right
    argmax_accuracy_all: Share  # all constrained positions
    by_source: dict[str, Share]  # in_window, outside, absent
    by_distance: dict[int, Share]  # tokens that one must look back, in the window
    right_probability: float  # mean probability of the right tokens, in the window
    sampled_error: Share  # constrained positions broken by sequences that the model writes at temperature 1
    loss: float  # nats a token, on fresh windows
    loss_standard_error: float  # of the measured loss
    entropy_floor: float  # the least loss that any model with this context can have; nan: not known


class Trials(NamedTuple):
    """Constrained positions, one entry each."""

    right: Bool[np.ndarray, " trial"]
    probability: Float[np.ndarray, " trial"]
    source: Int[np.ndarray, " trial"]
    distance: Int[np.ndarray, " trial"]


def measure_rule(
    model: Model, rule: Rule, data: Sequences, positions: int = 100_000, generated: int = 2_000, seed: int = 0
) -> RuleReport:
    """All measures; `positions` constrained ones in the window at least, if the rule has so many."""
    automaton = tabulate(rule)
    trials = collect(model, automaton, data, positions, seed)
    inside = trials.source == Source.IN_WINDOW
    distances = np.unique(trials.distance[inside]).tolist()
    loss, loss_error = fresh_loss(model, automaton, data, seed)
    return RuleReport(
        argmax_accuracy=share(trials.right[inside]),
        argmax_accuracy_all=share(trials.right),
        by_source={
            kind.name.lower(): share(trials.right[trials.source == kind]) for kind in list(Source)[1:]
        },
        by_distance={int(d): share(trials.right[inside & (trials.distance == d)]) for d in distances},
        right_probability=float(trials.probability[inside].mean()) if inside.any() else float("nan"),
        sampled_error=sampled_error(model, automaton, data, generated, seed),
        loss=loss,
        loss_standard_error=loss_error,
        entropy_floor=find_floor(automaton, data, model.architecture.context),
    )


def find_floor(automaton: Automaton, data: Sequences, context: int) -> float:
    """The entropy floor; not a number where it would take too long."""
    try:
        return entropy_floor(automaton, data, context)
    except UserError:
        return float("nan")


def share(right: Bool[np.ndarray, " trial"]) -> Share:
    return Share.of(int(right.sum()), len(right))


def collect(model: Model, automaton: Automaton, data: Sequences, positions: int, seed: int) -> Trials:
    """Trials from fresh pools until enough of them are in the window."""
    found: list[Trials] = []
    data = replace(data, count=min(data.count, POOL))
    draw = jax.jit(lambda key: pool(automaton, key, data))
    for number in range(ROUNDS):
        drawn = draw(jax.random.fold_in(stream(seed, "fresh"), number))
        tokens, lengths = np.asarray(drawn.tokens, np.int32), np.asarray(drawn.lengths)
        found.append(try_all(model, automaton, tokens, lengths))
        if sum((trials.source == Source.IN_WINDOW).sum() for trials in found) >= positions:
            break
    return Trials(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def try_all(
    model: Model,
    automaton: Automaton,
    tokens: Int[np.ndarray, "pos batch"],
    lengths: Int[np.ndarray, " batch"],
) -> Trials:
    """Every constrained position of the sequences, seen through the model's window."""
    context = model.architecture.context
    source = classify(automaton, tokens, context)
    source[np.arange(len(tokens))[:, None] >= lengths] = Source.FREE  # beyond the sequence's end
    distance, states = source_distance(automaton, tokens, context), follow(automaton, tokens)
    found: list[Trials] = []
    for size in range(1, context + 1):  # prefixes shorter than the context, then full windows
        place, which = np.nonzero(source[size : size + 1] if size < context else source[size:])
        place = place + size
        for begin in range(0, len(place), BLOCK):
            at, of = place[begin : begin + BLOCK], which[begin : begin + BLOCK]
            window = tokens[at - size + np.arange(size)[:, None], of]  # pos trial
            allowed = automaton.allowed[states[at, of]].T  # tok trial
            is_right, mass = judge(model.logits(window, last=1)[:, 0], allowed)
            found.append(Trials(is_right, mass, source[at, of], distance[at, of]))
    return Trials(*(np.concatenate(parts) for parts in zip(*found, strict=True))) if found else no_trials()


def no_trials() -> Trials:
    return Trials(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.int8), np.zeros(0, np.int32))


def judge(
    logits: Float[np.ndarray, "tok trial"], allowed: Bool[np.ndarray, "tok trial"]
) -> tuple[Bool[np.ndarray, " trial"], Float[np.ndarray, " trial"]]:
    """Whether the largest logit is an allowed token's (a tie with another is not), and its probability."""
    best = np.where(allowed, logits, -np.inf).max(0)
    powers = np.exp(logits.astype(np.float64) - logits.max(0))
    return best > np.where(allowed, -np.inf, logits).max(0), np.where(allowed, powers, 0).sum(0) / powers.sum(
        0
    )


def sampled_error(model: Model, automaton: Automaton, data: Sequences, count: int, seed: int) -> Share:
    """Share of constrained positions that the model's own sequences break; the first token is the task's."""
    random = np.random.default_rng([seed, STREAMS["generate"]])
    first = random.choice(len(automaton.tokens), (1, count), p=automaton.probability[automaton.start])
    tokens = write_sampled(model, first, data.max_length, random)
    asked = constrained(automaton, tokens)[1:]
    return share(~right(automaton, tokens)[1:][asked])


def fresh_loss(model: Model, automaton: Automaton, data: Sequences, seed: int) -> tuple[float, float]:
    """Mean cross-entropy, in nats, over all places of fresh windows, as in training; and its standard error.

    Each window comes from a sequence of its own, so that windows are independent.
    """
    key = jax.random.fold_in(stream(seed, "fresh"), ROUNDS)
    alone, size = replace(data, count=LOSS_WINDOWS), model.architecture.context + 1
    draw = jax.jit(lambda key: each_once(pool(automaton, key, alone), key, size))
    tokens = np.asarray(draw(key), np.int32)
    blocks = range(0, LOSS_WINDOWS, BLOCK // 4)
    losses = np.concatenate([window_losses(model, tokens[:, i : i + BLOCK // 4]) for i in blocks])
    return float(losses.mean()), float(losses.std() / LOSS_WINDOWS**0.5)


def each_once(sequences: Pool, key: jax.Array, size: int) -> jax.Array:
    """One window from each sequence, at a random start."""
    start = jax.random.randint(key, sequences.lengths.shape, 0, sequences.lengths - size + 1)
    return jnp.take_along_axis(sequences.tokens, start + jnp.arange(size)[:, None], 0)


def window_losses(model: Model, tokens: Int[np.ndarray, "pos batch"]) -> Float[np.ndarray, " batch"]:
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


def say_measures(measures: dict[str, Any]) -> list[str]:
    """The measures of a rule model, one a line; shares that nothing fell into are left out."""
    shares = {
        "argmax rule accuracy, source in the window": measures["argmax_accuracy"],
        "argmax rule accuracy, source outside": measures["by_source"]["outside"],
        "argmax rule accuracy, source absent": measures["by_source"]["absent"],
        "argmax rule accuracy, all constrained positions": measures["argmax_accuracy_all"],
        "sampled rule error (the model's own sequences, temperature 1)": measures["sampled_error"],
    }
    right, loss, error, floor = (
        number_text(measures[name])
        for name in ("right_probability", "loss", "loss_standard_error", "entropy_floor")
    )
    distances = [f"{d}: {found['value']:.2%}" for d, found in measures["by_distance"].items()]
    return [
        *(
            f"{name}: {share_text(share)}"
            for name, share in shares.items()
            if share["positions"] or "in the" in name
        ),
        f"mean probability of the right tokens, source in the window: {right}",
        f"loss {loss} nats (standard error {error}); entropy floor {floor}",
        "accuracy by tokens that one must look back: " + ", ".join(distances),
    ]


def number_text(value: float | None) -> str:
    """Four digits; a measure without any trial is none, in the JSON as here."""
    return "none" if value is None or math.isnan(value) else f"{value:.4f}"
