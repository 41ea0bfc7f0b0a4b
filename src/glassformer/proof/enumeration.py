"""Prompts run through the model itself, as it is deployed: the plainest proof there is, where they are few.

tally = run_prompts(model, prompts, None, until=perf_counter() + 60)
tally.wrong, tally.left         how many are answered wrongly, and how many the time did not reach
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.model.model import Model
from glassformer.spread import spread
from glassformer.tasks import Prompts

BLOCK = 1 << 13  # prompts in one pass, for the cache
KEPT = 10  # prompts with the smallest margins that are kept
Classes = Bool[np.ndarray, "last answer"]  # by the prompt's last token and its answer


@dataclass
class Tally:
    """What came out so far."""

    tried: int = 0
    wrong: int = 0  # prompts whose answer does not have the largest logit alone
    left: int = 0  # prompts that were not reached in time
    broken: set[tuple[int, int]] = field(default_factory=set)  # classes with a wrong prompt
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
        self.broken.update(zip(tokens[-1, wrong].tolist(), answers[wrong].tolist(), strict=True))
        for which in np.argsort(margin, kind="stable")[:KEPT]:
            self.hardest[tuple(tokens[:, which].tolist())] = float(margin[which])
        self.hardest = dict(sorted(self.hardest.items(), key=lambda item: item[1])[:KEPT])


def run_prompts(
    model: Model,
    prompts: Prompts,
    asked: Classes | None,
    until: float,
    tell: Callable[[float], object] | None = None,
) -> Tally:
    """All prompts, or those of the classes asked for, by their deployed margins."""
    tally, sizes = Tally(), iter(_stretches(prompts.count, until))

    def judge(stretch: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tokens = prompts.between(*stretch)
        answers = prompts.answers(tokens)
        if asked is not None:
            chosen = np.flatnonzero(asked[tokens[-1], answers])
            tokens, answers = tokens[:, chosen], answers[chosen]
        return tokens, answers, margins_of_answers(model, tokens, answers)

    seen = 0
    for block in spread(judge, sizes):
        tally.see(*block)
        seen += 1
        if tell:
            tell(min(seen * BLOCK / prompts.count, 1.0))
    reached = min(seen * BLOCK, prompts.count)
    tally.left = prompts.count - reached  # an upper bound, where only some classes are asked for
    return tally


def margins_of_answers(
    model: Model, tokens: Int[np.ndarray, "pos prompt"], answers: Int[np.ndarray, " prompt"]
) -> Float[np.ndarray, " prompt"]:
    """The answer's logit minus the best other one; numbers that overflow are as bad as can be."""
    if not len(answers):
        return np.zeros(0)
    with np.errstate(all="ignore"):
        logits = model.logits(tokens, last=1)[:, 0].astype(np.float64)  # tok prompt
    every = np.arange(len(answers))
    right = logits[answers, every]
    logits[answers, every] = -np.inf
    found: np.ndarray = np.nan_to_num(right - logits.max(0), nan=-np.inf)
    return found


def _stretches(count: int, until: float) -> Iterator[tuple[int, int]]:
    """Numbers of prompts, block by block, until the clock says so."""
    for first in range(0, count, BLOCK):
        if perf_counter() >= until:
            return
        yield first, min(first + BLOCK, count)
