"""The changes of the causal tests: tokens swapped, positions made alike, attention moved.

`4 1 + 4 6 9 5 +` asks for 6: swapping the source may give `4 1 + 4 8 9 5 +`, which asks for 8.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int

from glassformer.pictures.measure.interventions import Patch, Weights, collect_trial_weights
from glassformer.pictures.measure.subject import Subject
from glassformer.proofs.contexts import NOTHING, tabulate_demands
from glassformer.proofs.tables import NotProvableError
from glassformer.tasks.knowledge import Knowledge, tabulate_knowledge

ALIKE = "one code for all positions"  # the name of a test
_SEED = 11  # of every choice among several possible changes


def list_patches(subject: Subject) -> list[Patch]:
    return [
        change_nothing(subject),
        swap_source(subject),
        swap_bystander(subject),
        _average_positions(subject),
        focus_attention(subject),
        _hide_source(subject),
        hide_copies(subject),
        _spread_attention(subject),
        _redirect_attention(subject),
        borrow_attention(subject),
    ]


def change_nothing(subject: Subject) -> Patch:
    trials = subject.trials
    return Patch(
        "nothing changed", "The trials as they are.", "right", np.arange(len(trials)), trials.contexts,
        trials.allowed, marked=trials.source,
    )  # fmt: skip


def _mask_window_demands(
    subject: Subject, contexts: Int[np.ndarray, "trial pos"]
) -> Bool[np.ndarray, "trial tok"]:
    """What full windows allow; nothing at all where they ask for nothing or it is not known."""
    try:
        demands = tabulate_demands(subject.automaton)
    except NotProvableError:  # the rule asks for too many things to list them
        return np.zeros((len(contexts), len(subject.tokens)), bool)
    asked = demands.of(contexts, whole=True)
    return np.asarray(demands.allowed[asked] & (asked != NOTHING)[:, None])


def _replace_token(
    contexts: Int[np.ndarray, "trial pos"],
    place: Int[np.ndarray, " trial"],
    token: Int[np.ndarray, " trial"] | int,
) -> Int[np.ndarray, "trial pos"]:
    """Contexts with one token replaced in each."""
    changed = contexts.copy()
    changed[np.arange(len(contexts)), place] = token
    return changed


def swap_source(subject: Subject) -> Patch:
    """Another token at the source, such that nothing that was allowed still is."""
    trials = subject.trials
    every = [_replace_token(trials.contexts, trials.source, token) for token in range(len(subject.tokens))]
    asked = np.stack([_mask_window_demands(subject, contexts) for contexts in every])  # new trial tok
    good = asked.any(2) & ~(asked & trials.allowed).any(2)  # new trial
    good, kind = _keep_lawful_swaps(subject, every, good)
    token, which = _pick_changes(good)
    return Patch(
        "swap the source",
        f"Another token at the source, so that the rule demands something else{kind}.",
        "what is demanded now",
        which,
        _replace_token(trials.contexts, trials.source, token)[which],
        asked[token[which], which],
        marked=trials.source[which],
    )


def swap_bystander(subject: Subject) -> Patch:
    """Another token somewhere else, such that what is asked for stays the same."""
    trials = subject.trials
    random = np.random.default_rng(_SEED)
    place = random.integers(0, subject.context - 1, len(trials))
    place = place + (place >= trials.source)  # any but the source
    every = [_replace_token(trials.contexts, place, token) for token in range(len(subject.tokens))]
    old = trials.contexts[np.arange(len(trials)), place]
    same = [(_mask_window_demands(subject, contexts) == trials.allowed).all(1) for contexts in every]
    good = np.stack(same) & (np.arange(len(every))[:, None] != old)
    good, kind = _keep_lawful_swaps(subject, every, good)
    token, which = _pick_changes(good)
    return Patch(
        "swap a bystander",
        f"A control: another token at a position that the answer does not depend on{kind}.",
        "right as before",
        which,
        _replace_token(trials.contexts, place, token)[which],
        trials.allowed[which],
        marked=place[which],
    )


def _keep_lawful_swaps(
    subject: Subject, every: list[Int[np.ndarray, "trial pos"]], good: Bool[np.ndarray, "new trial"]
) -> tuple[Bool[np.ndarray, "new trial"], str]:
    """Good changes after which sequences of the rule can still hold the context; all where there is none."""
    table = tabulate_knowledge(subject.automaton)
    lawful = np.stack([_fits_rule(table, contexts) for contexts in every]) & good
    if lawful.any() or not good.any():
        return lawful, ""
    return good, "; no such context occurs in sequences of the rule"


def _fits_rule(table: Knowledge, contexts: Int[np.ndarray, "trial pos"]) -> Bool[np.ndarray, " trial"]:
    """Whether some sequence of the rule holds these tokens one after the other."""
    known = np.full(len(contexts), table.start)
    for tokens in contexts.T:
        known = table.next[known, tokens]
    return np.asarray(known != len(table.next) - 1)  # the last set of states is the empty one


def _pick_changes(
    good: Bool[np.ndarray, "choice trial"],
) -> tuple[Int[np.ndarray, " trial"], Int[np.ndarray, " some"]]:
    """One of the good choices of each trial, by chance, and the trials that have any."""
    random = np.random.default_rng(_SEED)
    chosen = (random.random(good.shape) * good).argmax(0)
    return chosen, np.flatnonzero(good.any(0))


def _average_positions(subject: Subject) -> Patch:
    """Every position's code replaced by the mean over positions."""
    alike = subject.embedded.mean(1)  # tok dim
    if not subject.position_table.any():  # positions have no code of their own
        return replace(change_nothing(subject), name=ALIKE, which=np.zeros(0, int))
    return replace(
        change_nothing(subject),
        name=ALIKE,
        done="Every position's code replaced by the mean over the positions.",
        counted="right",
        embedded=alike[subject.trials.contexts],
    )


def focus_attention(subject: Subject) -> Patch:
    return replace(
        change_nothing(subject),
        name="attend to the source alone",
        done="All weight of every head on the source.",
        weights=_focus_weights(subject, subject.trials.source),
    )


def _hide_source(subject: Subject) -> Patch:
    """No weight on the source; the other positions share it as they shared the rest."""
    hidden = np.arange(subject.context) == subject.trials.source[:, None]
    return replace(
        change_nothing(subject),
        name="hide the source",
        done="No weight on the source; the other positions keep their proportions.",
        weights=knock_out_weights(collect_trial_weights(subject), hidden),
    )


def hide_copies(subject: Subject) -> Patch:
    """No weight on any position that holds the source's token."""
    trials = subject.trials
    hidden = trials.contexts == trials.contexts[np.arange(len(trials)), trials.source][:, None]
    which = np.flatnonzero(~hidden.all(1))
    return Patch(
        "hide the source and its copies",
        "No weight on any position that holds the source's token.",
        "right",
        which,
        trials.contexts[which],
        trials.allowed[which],
        knock_out_weights(collect_trial_weights(subject)[:, which], hidden[which]),
        marked=trials.source[which],
    )


def knock_out_weights(weights: Weights, hidden: Bool[np.ndarray, "trial pos"]) -> Weights:
    """Weights with some positions at 0, of the same sum; evenly spread where all was on those."""
    total = weights.sum(2, keepdims=True)
    rest = np.where(hidden, 0, weights)
    left = rest.sum(2, keepdims=True)
    even = ~hidden / np.maximum((~hidden).sum(1, keepdims=True), 1)
    return np.asarray(np.where(left > 0, rest / np.where(left > 0, left, 1), even) * total)


def _spread_attention(subject: Subject) -> Patch:
    trials = subject.trials
    shape = (subject.heads, len(trials), subject.context)
    return replace(
        change_nothing(subject),
        name="attend to all alike",
        done="The same weight on every position.",
        weights=np.full(shape, 1 / subject.context),
    )


def _redirect_attention(subject: Subject) -> Patch:
    """All weight on another position, whose token at the source would change what is asked for."""
    trials, asked = subject.trials, _mask_demands_by_position(subject)  # place trial tok
    good = asked.any(2) & ~(asked & trials.allowed).any(2)
    good[trials.source, np.arange(len(trials))] = False
    place, which = _pick_changes(good)
    return Patch(
        "attend to another position",
        "All weight on a position with another token.",
        "what is demanded with that token at the source",
        which,
        trials.contexts[which],
        asked[place[which], which],
        _focus_weights(subject, place)[:, which],
        marked=place[which],
    )


def borrow_attention(subject: Subject) -> Patch:
    """The weights of another trial, whose source lies elsewhere."""
    trials, asked = subject.trials, _mask_demands_by_position(subject)
    count = len(trials)
    other = np.random.default_rng(_SEED).permutation(count)
    place = trials.source[other]
    target = asked[place, np.arange(count)]
    good = (place != trials.source) & target.any(1) & ~(target & trials.allowed).any(1)
    which = np.flatnonzero(good)
    return Patch(
        "attend as another trial does",
        "The weights of another trial, whose source lies elsewhere.",
        "what is demanded with that position's token at the source",
        which,
        trials.contexts[which],
        target[which],
        collect_trial_weights(subject)[:, other[which]],
        marked=place[which],
    )


def _mask_demands_by_position(subject: Subject) -> Bool[np.ndarray, "pos trial tok"]:
    """What would be asked for if the token of a position stood at the source."""
    trials = subject.trials
    moved = [_replace_token(trials.contexts, trials.source, tokens) for tokens in trials.contexts.T]
    return np.stack([_mask_window_demands(subject, contexts) for contexts in moved])


def _focus_weights(subject: Subject, place: Int[np.ndarray, " trial"]) -> Weights:
    """All weight of every head on one position per trial."""
    row = np.arange(subject.context) == place[:, None]
    return np.repeat(row[None].astype(np.float64), subject.heads, 0)
