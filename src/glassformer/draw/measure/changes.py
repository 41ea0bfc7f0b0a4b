"""The changes of the causal tests: tokens swapped, places made alike, attention moved.

`4 1 + 4 6 9 5 +` asks for 6: swapping the source may give `4 1 + 4 8 9 5 +`, which asks for 8.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int

from glassformer.draw.measure.interventions import Patch, Weights, own_weights
from glassformer.draw.measure.subject import Subject
from glassformer.proof.contexts import NOTHING, tabulate_demands
from glassformer.proof.tables import NotProvableError
from glassformer.tasks.knowledge import Knowledge, tabulate_knowledge

ALIKE = "one code for all places"  # the name of a test
SEED = 11  # of every choice among several possible changes


def all_patches(subject: Subject) -> list[Patch]:
    return [
        unchanged(subject),
        swapped_source(subject),
        swapped_bystander(subject),
        without_positions(subject),
        attention_on_source(subject),
        without_source(subject),
        without_copies(subject),
        even_attention(subject),
        attention_elsewhere(subject),
        attention_of_another(subject),
    ]


def unchanged(subject: Subject) -> Patch:
    trials = subject.trials
    return Patch(
        "nothing changed", "The trials as they are.", "right", np.arange(len(trials)), trials.contexts,
        trials.allowed, marked=trials.source,
    )  # fmt: skip


def demanded(subject: Subject, contexts: Int[np.ndarray, "trial pos"]) -> Bool[np.ndarray, "trial tok"]:
    """What full windows allow; nothing at all where they ask for nothing or it is not known."""
    try:
        demands = tabulate_demands(subject.automaton)
    except NotProvableError:  # the rule asks for too many things to list them
        return np.zeros((len(contexts), len(subject.tokens)), bool)
    asked = demands.of(contexts, whole=True)
    return np.asarray(demands.allowed[asked] & (asked != NOTHING)[:, None])


def with_token(
    contexts: Int[np.ndarray, "trial pos"],
    place: Int[np.ndarray, " trial"],
    token: Int[np.ndarray, " trial"] | int,
) -> Int[np.ndarray, "trial pos"]:
    """Contexts with one token replaced in each."""
    changed = contexts.copy()
    changed[np.arange(len(contexts)), place] = token
    return changed


def swapped_source(subject: Subject) -> Patch:
    """Another token at the source, such that nothing that was allowed still is."""
    trials = subject.trials
    every = [with_token(trials.contexts, trials.source, token) for token in range(len(subject.tokens))]
    asked = np.stack([demanded(subject, contexts) for contexts in every])  # new trial tok
    good = asked.any(2) & ~(asked & trials.allowed).any(2)  # new trial
    good, kind = lawful_ones(subject, every, good)
    token, which = pick(good)
    return Patch(
        "swap the source",
        f"Another token at the source, so that the rule asks for something else{kind}.",
        "what is asked for now",
        which,
        with_token(trials.contexts, trials.source, token)[which],
        asked[token[which], which],
        marked=trials.source[which],
    )


def swapped_bystander(subject: Subject) -> Patch:
    """Another token somewhere else, such that what is asked for stays the same."""
    trials = subject.trials
    random = np.random.default_rng(SEED)
    place = random.integers(0, subject.context - 1, len(trials))
    place = place + (place >= trials.source)  # any but the source
    every = [with_token(trials.contexts, place, token) for token in range(len(subject.tokens))]
    old = trials.contexts[np.arange(len(trials)), place]
    same = [(demanded(subject, contexts) == trials.allowed).all(1) for contexts in every]
    good = np.stack(same) & (np.arange(len(every))[:, None] != old)
    good, kind = lawful_ones(subject, every, good)
    token, which = pick(good)
    return Patch(
        "swap a bystander",
        f"A control: another token where the answer does not hang on it{kind}.",
        "right as before",
        which,
        with_token(trials.contexts, place, token)[which],
        trials.allowed[which],
        marked=place[which],
    )


def lawful_ones(
    subject: Subject, every: list[Int[np.ndarray, "trial pos"]], good: Bool[np.ndarray, "new trial"]
) -> tuple[Bool[np.ndarray, "new trial"], str]:
    """Good changes after which sequences of the rule can still hold the context; all where there is none."""
    table = tabulate_knowledge(subject.automaton)
    lawful = np.stack([fits_rule(table, contexts) for contexts in every]) & good
    if lawful.any() or not good.any():
        return lawful, ""
    return good, "; no such context occurs in sequences of the rule"


def fits_rule(table: Knowledge, contexts: Int[np.ndarray, "trial pos"]) -> Bool[np.ndarray, " trial"]:
    """Whether some sequence of the rule holds these tokens one after the other."""
    known = np.full(len(contexts), table.start)
    for tokens in contexts.T:
        known = table.next[known, tokens]
    return np.asarray(known != len(table.next) - 1)  # the last set of states is the empty one


def pick(
    good: Bool[np.ndarray, "choice trial"],
) -> tuple[Int[np.ndarray, " trial"], Int[np.ndarray, " some"]]:
    """One of the good choices of each trial, by chance, and the trials that have any."""
    random = np.random.default_rng(SEED)
    chosen = (random.random(good.shape) * good).argmax(0)
    return chosen, np.flatnonzero(good.any(0))


def without_positions(subject: Subject) -> Patch:
    """Every place's code replaced by the mean over places."""
    alike = subject.embedded.mean(1)  # tok dim
    if not subject.position_table.any():  # places have no code of their own
        return replace(unchanged(subject), name=ALIKE, which=np.zeros(0, int))
    return replace(
        unchanged(subject),
        name=ALIKE,
        done="Every place's code replaced by the mean over the places.",
        counted="right",
        embedded=alike[subject.trials.contexts],
    )


def attention_on_source(subject: Subject) -> Patch:
    return replace(
        unchanged(subject),
        name="attend to the source alone",
        done="All weight of every head on the source.",
        weights=one_hot(subject, subject.trials.source),
    )


def without_source(subject: Subject) -> Patch:
    """No weight on the source; the other places share it as they shared the rest."""
    hidden = np.arange(subject.context) == subject.trials.source[:, None]
    return replace(
        unchanged(subject),
        name="hide the source",
        done="No weight on the source; the other places keep their proportions.",
        weights=knocked_out(own_weights(subject), hidden),
    )


def without_copies(subject: Subject) -> Patch:
    """No weight on any place that holds the source's token."""
    trials = subject.trials
    hidden = trials.contexts == trials.contexts[np.arange(len(trials)), trials.source][:, None]
    which = np.flatnonzero(~hidden.all(1))
    return Patch(
        "hide the source and its copies",
        "No weight on any place that holds the source's token.",
        "right",
        which,
        trials.contexts[which],
        trials.allowed[which],
        knocked_out(own_weights(subject)[:, which], hidden[which]),
        marked=trials.source[which],
    )


def knocked_out(weights: Weights, hidden: Bool[np.ndarray, "trial pos"]) -> Weights:
    """Weights with some places at 0, of the same sum; evenly spread where all was on those."""
    total = weights.sum(2, keepdims=True)
    rest = np.where(hidden, 0, weights)
    left = rest.sum(2, keepdims=True)
    even = ~hidden / np.maximum((~hidden).sum(1, keepdims=True), 1)
    return np.asarray(np.where(left > 0, rest / np.where(left > 0, left, 1), even) * total)


def even_attention(subject: Subject) -> Patch:
    trials = subject.trials
    shape = (subject.heads, len(trials), subject.context)
    return replace(
        unchanged(subject),
        name="attend to all alike",
        done="The same weight on every place.",
        weights=np.full(shape, 1 / subject.context),
    )


def attention_elsewhere(subject: Subject) -> Patch:
    """All weight on another place, whose token would change what is asked for if it stood at the source."""
    trials, asked = subject.trials, asked_by_place(subject)  # place trial tok
    good = asked.any(2) & ~(asked & trials.allowed).any(2)
    good[trials.source, np.arange(len(trials))] = False
    place, which = pick(good)
    return Patch(
        "attend to another place",
        "All weight on a place with another token.",
        "what is asked for with that token at the source",
        which,
        trials.contexts[which],
        asked[place[which], which],
        one_hot(subject, place)[:, which],
        marked=place[which],
    )


def attention_of_another(subject: Subject) -> Patch:
    """The weights of another trial, whose source lies elsewhere."""
    trials, asked = subject.trials, asked_by_place(subject)
    count = len(trials)
    other = np.random.default_rng(SEED).permutation(count)
    place = trials.source[other]
    target = asked[place, np.arange(count)]
    good = (place != trials.source) & target.any(1) & ~(target & trials.allowed).any(1)
    which = np.flatnonzero(good)
    return Patch(
        "attend as another trial does",
        "The weights of another trial, whose source lies elsewhere.",
        "what is asked for with that place's token at the source",
        which,
        trials.contexts[which],
        target[which],
        own_weights(subject)[:, other[which]],
        marked=place[which],
    )


def asked_by_place(subject: Subject) -> Bool[np.ndarray, "pos trial tok"]:
    """What would be asked for if the token of a place stood at the source."""
    trials = subject.trials
    moved = [with_token(trials.contexts, trials.source, tokens) for tokens in trials.contexts.T]
    return np.stack([demanded(subject, contexts) for contexts in moved])


def one_hot(subject: Subject, place: Int[np.ndarray, " trial"]) -> Weights:
    """All weight of every head on one place a trial."""
    row = np.arange(subject.context) == place[:, None]
    return np.repeat(row[None].astype(np.float64), subject.heads, 0)
