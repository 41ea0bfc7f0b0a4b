"""Prompts run through the model itself, as it is deployed: the plainest proof there is, where they are few.

tally = run_prompts(model, prompts, classes, guards, 0.0, until=perf_counter() + 60)
tally.wrong, tally.left         how many are answered wrongly, and how many the time did not reach
tally.close                     how many are right by so little that another order of summation may undo it
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.core.spread import map_threads
from glassformer.core.waiting import TellShare
from glassformer.models.margins import measure_token_margins
from glassformer.models.model import Model
from glassformer.proofs.question_rounding import Guards, enclose_margins
from glassformer.tasks import Prompts

BLOCK = 1 << 13  # prompts in one pass, for the cache
_KEPT = 10  # prompts with the smallest margins that are kept
PromptClasses = Bool[np.ndarray, "last answer"]  # by the prompt's last token and its answer


@dataclass
class PromptTally:
    """What came out so far."""

    tried: int = 0
    wrong: int = 0  # prompts whose answer does not have the largest logit alone
    left: int = 0  # prompts that were not reached in time
    close: int = 0  # right ones that rounding in another order may make wrong
    floor: float = np.inf  # no margin of a prompt that was run is below, in any order
    broken: set[tuple[int, int]] = field(default_factory=set)  # classes with a wrong prompt
    unsure: set[tuple[int, int]] = field(default_factory=set)  # classes with a close one
    hardest: dict[tuple[int, ...], float] = field(default_factory=dict)  # prompt -> margin, smallest first

    def see(
        self,
        tokens: Int[np.ndarray, "pos prompt"],
        answers: Int[np.ndarray, " prompt"],
        margin: Float[np.ndarray, " prompt"],
    ) -> None:
        """Count a block, and keep its smallest margins."""
        wrong = np.flatnonzero(~(margin > 0))
        self.tried, self.wrong = self.tried + len(margin), self.wrong + len(wrong)
        self.broken.update(_classes(tokens, answers, wrong))
        for which in np.argsort(margin, kind="stable")[:_KEPT]:
            self.hardest[tuple(tokens[:, which].tolist())] = float(margin[which])
        self.hardest = dict(sorted(self.hardest.items(), key=lambda item: item[1])[:_KEPT])

    def bound(self, block: "_PromptBlock") -> None:
        """Count the right prompts of it that rounding may make wrong."""
        close = np.flatnonzero((block.margin > 0) & ~(block.least > 0))
        self.close += len(close)
        self.unsure.update(_classes(block.tokens, block.answers, close))
        self.floor = min(self.floor, float(block.least.min(initial=np.inf)))


class _PromptBlock(NamedTuple):
    """Prompts that were run."""

    tokens: Int[np.ndarray, "pos prompt"]
    answers: Int[np.ndarray, " prompt"]
    margin: Float[np.ndarray, " prompt"]
    least: Float[np.ndarray, " prompt"]  # that a right one's margin is in any order of summation


def run_prompts(
    model: Model,
    prompts: Prompts,
    asked: PromptClasses,
    guards: Guards | None,
    aim: float,
    until: float,
    tell: TellShare | None = None,
) -> PromptTally:
    """The prompts of the classes asked for, by their deployed margins; with guards in any order of adding."""
    tally, sizes = PromptTally(), iter(_stretches(prompts.count, until))

    def judge(stretch: tuple[int, int]) -> _PromptBlock:
        tokens = prompts.between(*stretch)
        answers = prompts.answers(tokens)
        chosen = np.flatnonzero(asked[tokens[-1], answers])
        return _run_block(model, tokens[:, chosen], answers[chosen], guards, aim)

    seen = 0
    for block in map_threads(judge, sizes):
        tally.see(*block[:3])
        tally.bound(block)
        seen += 1
        if tell:
            tell(min(seen * BLOCK / prompts.count, 1.0))
    reached = min(seen * BLOCK, prompts.count)
    tally.left = prompts.count - reached  # an upper bound, where only some classes are asked for
    return tally


def _run_block(
    model: Model,
    tokens: Int[np.ndarray, "pos prompt"],
    answers: Int[np.ndarray, " prompt"],
    guards: Guards | None,
    aim: float,
) -> _PromptBlock:
    """Margins as they come out, with bounds where the guard of their class does not lift them to the aim."""
    margin = measure_answer_margins(model, tokens, answers)
    if guards is None:
        return _PromptBlock(tokens, answers, margin, margin)
    least = np.where(margin > 0, margin - guards[tokens[-1], answers], margin)
    near = np.flatnonzero((margin > 0) & ~(least > aim))
    if len(near):
        found = enclose_margins(model, tokens[:, near], answers[near])
        least[near] = np.fmax(least[near], found)
    return _PromptBlock(tokens, answers, margin, least)


def _classes(
    tokens: Int[np.ndarray, "pos prompt"],
    answers: Int[np.ndarray, " prompt"],
    which: Int[np.ndarray, " some"],
) -> Iterator[tuple[int, int]]:
    """The last token and the answer of these prompts."""
    return zip(tokens[-1, which].tolist(), answers[which].tolist(), strict=True)


def measure_answer_margins(
    model: Model, tokens: Int[np.ndarray, "pos prompt"], answers: Int[np.ndarray, " prompt"]
) -> Float[np.ndarray, " prompt"]:
    """The answer's logit minus the best other one; values that overflow are as bad as can be."""
    if not len(answers):
        return np.zeros(0)
    with np.errstate(all="ignore"):
        logits = model.logits(tokens, last=1)[:, 0]  # tok prompt
    return np.asarray(np.nan_to_num(measure_token_margins(logits, answers), nan=-np.inf))


def _stretches(count: int, until: float) -> Iterator[tuple[int, int]]:
    """Numbers of prompts, block by block, until the clock says so."""
    for first in range(0, count, BLOCK):
        if perf_counter() >= until:
            return
        yield first, min(first + BLOCK, count)
