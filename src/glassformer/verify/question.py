"""The measures of a question's model: on all prompts where they are few, else on fresh ones."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.share import MeasuredShare
from glassformer.core.words import format_percent, format_stored_share
from glassformer.models.margins import measure_token_margins
from glassformer.models.model import Model
from glassformer.tasks import Prompts, Sequences, Strings, tabulate_automaton
from glassformer.training.streams import STREAMS

_BLOCK = 8192  # prompts in one pass


@dataclass(frozen=True)
class _QuestionReport:
    """Shares carry their 95% interval, also where all prompts were tried and they are exact."""

    argmax_accuracy: MeasuredShare  # prompts whose answer has the largest logit alone
    right_probability: float  # mean probability of the answer
    loss: float  # nats, of the answer
    prompts: int  # all that there are
    tried_all: bool  # whether these are the measures of all prompts


def measure_question(
    model: Model, question: Strings, positions: int = 100_000, seed: int = 0
) -> _QuestionReport:
    """`positions` prompts, each equally likely, or all where there are no more."""
    prompts = Prompts(tabulate_automaton(question))
    tried_all = prompts.count <= positions
    random = np.random.default_rng([seed, STREAMS["fresh"]])
    tokens = prompts.between(0, prompts.count) if tried_all else prompts.drawn(random, positions)
    blocks = [tokens[:, first : first + _BLOCK] for first in range(0, tokens.shape[1], _BLOCK)]
    gaps, losses = zip(*(_judge(model, block, prompts.answers(block)) for block in blocks), strict=True)
    gap, loss = np.concatenate(gaps), np.concatenate(losses)
    share = MeasuredShare.of(int((gap > 0).sum()), len(gap))
    return _QuestionReport(share, float(np.exp(-loss).mean()), float(loss.mean()), prompts.count, tried_all)


def _judge(
    model: Model, tokens: Int[np.ndarray, "pos prompt"], answers: Int[np.ndarray, " prompt"]
) -> tuple[Float[np.ndarray, " prompt"], Float[np.ndarray, " prompt"]]:
    """The margin of each answer, and its loss in nats."""
    logits = model.logits(tokens, last=1)[:, 0].astype(np.float64)  # tok prompt
    top, every = logits.max(0), np.arange(len(answers))
    loss = np.log(np.exp(logits - top).sum(0)) + top - logits[answers, every]
    return measure_token_margins(logits, answers), loss


def measure(
    model: Model, task: Any, data: Sequences, positions: int, generated: int, seed: int = 0
) -> dict[str, Any]:
    """As plain data."""
    return asdict(measure_question(model, task, positions, seed))


def describe_measures(measures: dict[str, Any]) -> list[str]:
    """The measures, one per line."""
    share = measures["argmax_accuracy"]
    which = f"all {measures['prompts']:,} prompts" if measures["tried_all"] else "fresh prompts"
    exact = f"{format_percent(share['value'], 3)} (exact)"
    return [
        f"argmax accuracy on {which}: {exact if measures['tried_all'] else format_stored_share(share)}",
        f"mean probability of the answer: {measures['right_probability']:.4f}",
        f"loss {measures['loss']:.4f} nats",
    ]
