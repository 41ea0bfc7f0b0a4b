"""Whole classes of prompts decided at once: the smallest gap between two logits over all prompts of a class.

For a last token q the mix is a mean of values with weights w, so a logit gap that is linear in the mix is the
same mean of its values at single tokens: sum w g / sum w. Its sign is that of sum w (g - U), where U covers
rounding and whatever is not linear, and that sum is smallest where each position does its worst. The
automaton says which tokens may stand together for an answer, so a walk over its states, position by position,
finds the smallest sum over all prompts with last token q and answer m, against every rival c: for 64 numbers
and k = 4 that is 2,080 classes instead of 16,777,216 prompts.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.core.spread import map_threads
from glassformer.core.waiting import TellShare
from glassformer.models.bounded import bound_range, sum_magnitudes
from glassformer.models.float_format import LEAST, FloatFormat
from glassformer.models.margins import measure_token_margins
from glassformer.models.model import Model
from glassformer.proofs.extremes import SUMS
from glassformer.proofs.mixing import tabulate_best_mix
from glassformer.proofs.readout import MixBoxes, bound_box_logits
from glassformer.proofs.tables import ModelTables
from glassformer.tasks import Prompts

_MOST_STEPS = 3e10  # sums of all walks; beyond it they take longer than they save
_REAL = FloatFormat("float64", real=True)


@dataclass(frozen=True, eq=False)
class _PromptWalk:
    """The states that prompts pass through, level by level, numbered within their level."""

    moves: tuple[
        Int[np.ndarray, "_state _choice"], ...
    ]  # by level, but for the last: the state after a token
    last: dict[int, Int[np.ndarray, " _state"]]  # by the last token: the answer that each state leads to

    @property
    def steps(self) -> int:
        """Sums for one pair of tokens and one last token, at most."""
        return sum(move.size for move in self.moves)


class _WalkEdges(NamedTuple):
    """The moves of a level that can still lead to an answer, sorted by the state that they lead to."""

    source: Int[np.ndarray, " edge"]
    choice: Int[np.ndarray, " edge"]
    begins: Int[np.ndarray, " state"]  # the first edge into each state


def make_walk(prompts: Prompts) -> _PromptWalk:
    """From the question's automaton."""
    automaton, states, moves = prompts.automaton, np.array([prompts.automaton.start]), []
    for slot in prompts.slots[:-1]:
        reached = automaton.next[states][:, slot]  # state choice
        states, flat = np.unique(reached, return_inverse=True)
        moves.append(flat.reshape(reached.shape))
    answer = automaton.allowed.argmax(1)
    last = {int(token): answer[automaton.next[states, token]] for token in prompts.slots[-1]}
    return _PromptWalk(tuple(moves), last)


def list_walk_edges(walk: _PromptWalk, token: int, answer: int) -> list[_WalkEdges]:
    """The part of the walk whose prompts have this last token and this answer, first level first."""
    wanted, found = np.flatnonzero(walk.last[token] == answer), list[_WalkEdges]()
    for move in reversed(walk.moves):
        number = np.full(int(move.max()) + 1, -1)
        number[wanted] = np.arange(len(wanted))
        source, choice = np.nonzero(number[move] >= 0)
        target = number[move[source, choice]]
        order = np.argsort(target, kind="stable")
        wanted, source = np.unique(source[order], return_inverse=True)
        begins = np.searchsorted(target[order], np.arange(target.max() + 1))
        found.append(_WalkEdges(source, choice[order], begins))
    return found[::-1]


def tabulate_prompts(model: Model, prompts: Prompts) -> ModelTables:
    """The model's tables over the tokens that prompts have; the last position alone asks."""
    allowed = np.zeros((model.architecture.context, model.architecture.vocab), bool)
    for position, slot in enumerate(prompts.slots):
        allowed[position, slot] = True
    return tabulate_best_mix(model, allowed, asking=1)


def prove_classes(
    tables: ModelTables, prompts: Prompts, margin: float = 0.0, tell: TellShare | None = None
) -> Bool[np.ndarray, "last answer"]:
    """True for classes, by last token and answer, that are surely all right, with this real margin."""
    vocab, walk = tables.model.architecture.vocab, make_walk(prompts)
    proved = np.zeros((vocab, vocab), bool)
    if len(tables.heads) != 1 or walk.steps * vocab**2 * len(walk.last) > _MOST_STEPS:
        return proved

    def judge(token: int) -> tuple[int, Bool[np.ndarray, " answer"]]:
        return token, _prove_token(tables, prompts, walk, token, margin)

    for number, (token, found) in enumerate(map_threads(judge, iter(walk.last)), 1):
        proved[token] = found
        if tell:
            tell(number / len(walk.last))
    return proved


def prove_classes_alike(
    model: Model, prompts: Prompts, margin: float = 0.0
) -> Bool[np.ndarray, "last answer"]:
    """The same for a model without attention: prompts with one last token all get the same logits."""
    last, vocab = prompts.slots[-1], model.architecture.vocab
    tokens = np.stack([np.full(len(last), slot[0]) for slot in prompts.slots[:-1]] + [last])
    logits = model.logits(tokens.astype(np.int32), last=1)[:, 0]  # tok last
    proved = np.zeros((vocab, vocab), bool)
    for answer in range(vocab):
        proved[last, answer] = measure_token_margins(logits, np.full(len(last), answer)) > margin
    return proved


def _prove_token(
    tables: ModelTables, prompts: Prompts, walk: _PromptWalk, token: int, margin: float
) -> Bool[np.ndarray, " answer"]:
    """The answers that are right after all prompts with this last token."""
    gaps, rivals = make_query_gaps(tables, token, margin), np.arange(tables.model.architecture.vocab)
    proved = np.zeros(len(rivals), bool)
    for answer in np.unique(walk.last[token]).tolist():
        others = rivals[rivals != answer]
        with np.errstate(invalid="ignore", over="ignore"):  # no bound is infinite, and proves nothing
            terms = gaps.terms(np.full(len(others), answer), others)  # rival pos tok
            least = _walk_least(terms, prompts, list_walk_edges(walk, token, answer)) + terms[:, -1, token]
            proved[answer] = bool((least + gaps.constant(answer, others) > 0).all())
    return proved


def _walk_least(
    terms: Float[np.ndarray, "rival pos tok"], prompts: Prompts, edges: list[_WalkEdges]
) -> Float[np.ndarray, " rival"]:
    """The smallest sum of terms, but for the last token's, over all prompts that the edges allow."""
    least = np.zeros((len(terms), 1))
    for position, (level, slot) in enumerate(zip(edges, prompts.slots[:-1], strict=True)):
        sums = least[:, level.source] + terms[:, position, slot[level.choice]]  # rival edge
        least = np.minimum.reduceat(sums, level.begins, axis=1)  # rival state
    found: np.ndarray = least.min(1)
    return found


@dataclass(frozen=True, eq=False)
class _QueryGaps:
    """Logits at every single value, for one query, and what they may be off."""

    logits: Float[np.ndarray, "tok pos value"]
    nothing: Float[np.ndarray, " tok"]  # the same where the softmax attends to nothing
    loose: Float[np.ndarray, " tok"]  # by which a real logit may be off
    noise: Float[np.ndarray, "noise tok"]
    error: Float[np.ndarray, " tok"]  # with the noise: by which rounding may move the deployed logit
    low: Float[np.ndarray, "pos value"]  # weights
    high: Float[np.ndarray, "pos value"]
    rest: float  # weight on nothing
    margin: float  # that real gaps must have

    def rounding(self, answer: Int[np.ndarray, " pair"], rival: Int[np.ndarray, " pair"]) -> np.ndarray:
        """By how much the deployed gap may be off the real one."""
        with np.errstate(invalid="ignore"):
            noise = sum_magnitudes(self.noise[:, answer] - self.noise[:, rival])
        found: np.ndarray = (noise + self.error[answer] + self.error[rival]) * (1 + SUMS)
        return found

    def aside(self, answer: Int[np.ndarray, " pair"], rival: Int[np.ndarray, " pair"]) -> np.ndarray:
        """What a gap must be above: whatever is not linear, and rounding or the margin asked for."""
        loose = (self.loose[answer] + self.loose[rival]) * (1 + SUMS)
        found: np.ndarray = loose + np.maximum(self.rounding(answer, rival), self.margin)
        return found

    def terms(
        self, answer: Int[np.ndarray, " pair"], rival: Int[np.ndarray, " pair"]
    ) -> Float[np.ndarray, "pair pos value"]:
        """Lower bounds of w (g - U), rounded so that sums of them stay lower bounds."""
        own, other = self.logits[answer], self.logits[rival]
        gap = own - other - self.aside(answer, rival)[:, None, None]
        gap = gap - SUMS * (np.abs(own) + np.abs(other))
        found: np.ndarray = np.where(gap > 0, self.low * (1 - SUMS), self.high * (1 + SUMS)) * gap
        return found

    def constant(self, answer: int, rival: Int[np.ndarray, " pair"]) -> Float[np.ndarray, " pair"]:
        """The same for the weight on nothing."""
        own, other = self.nothing[answer], self.nothing[rival]
        gap = own - other - self.aside(np.full(len(rival), answer), rival)
        gap = gap - SUMS * (np.abs(own) + np.abs(other))
        found: np.ndarray = self.rest * np.where(gap > 0, 1 - SUMS, 1 + SUMS) * gap
        return found


def make_query_gaps(tables: ModelTables, token: int, margin: float = 0.0) -> _QueryGaps:
    """From the readout over a box that holds all mixes of the query."""
    head, there = tables.heads[0], tables.heads[0].weights.high[0, token] > 0  # pos value
    low = np.where(there, head.along.centre - head.along.reach, np.inf).min((1, 2))
    high = np.where(there, head.along.centre + head.along.reach, -np.inf).max((1, 2))
    if head.weights.rest[0, token] > 0:
        low, high = np.minimum(low, head.nothing), np.maximum(high, head.nothing)
    asked = np.array([token])
    right = np.zeros((1, tables.model.architecture.vocab), bool)
    logits = bound_box_logits(tables, MixBoxes(np.zeros(1, int), asked, right, low[None], high[None]))
    box = bound_range(_REAL, low, high)
    middle, radius = box.centre, box.radius
    centre, moved, rest = (
        logits.centre[:, 0],
        head.along.centre - middle[:, None, None],
        head.nothing - middle,
    )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = np.zeros((len(low), len(right[0]))) if logits.slope is None else logits.slope[:, :, 0]
        pull = np.where(radius[:, None] > LEAST, slope / radius[:, None], 0.0)  # axis tok
        found = centre[:, None, None] + np.tensordot(pull.T, moved, 1)  # tok pos value
        size = np.abs(centre) + np.tensordot(np.abs(pull.T), np.abs(moved) + head.along.reach, 1).max((1, 2))
        size = size + np.abs(pull.T) @ np.abs(rest)
        reach = np.tensordot(np.abs(pull.T), head.along.reach, 1).max((1, 2))
        loose = logits.radius[:, 0] + reach + SUMS * size
        nothing = centre + pull.T @ rest
    noise = np.zeros((1, len(centre))) if logits.noise is None else logits.noise[:, :, 0]
    return _QueryGaps(
        np.where(there, found, 0.0),
        nothing,
        loose,
        noise,
        logits.error[:, 0],
        head.weights.low[0, token],
        head.weights.high[0, token],
        float(head.weights.rest[0, token]),
        margin,
    )
