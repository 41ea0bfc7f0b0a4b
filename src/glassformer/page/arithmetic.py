"""The page computes in float64: how far that is from the model's own arithmetic, measured."""

import numpy as np
from jaxtyping import Float, Int

from glassformer.model.model import Model, in_float64
from glassformer.page.examples import Example
from glassformer.page.trials_part import PairSet, RuleSet
from glassformer.page.words import grouped, short
from glassformer.page.worst import last_logits
from glassformer.proof.response import read_pair
from glassformer.runs.load import Loaded
from glassformer.tasks import Rule, add, digits_of, tabulate

CLOSED = -1e29  # logits below are of tokens that a head never writes


def arithmetic_words(loaded: Loaded, test: RuleSet | PairSet, examples: list[Example]) -> str:
    """One sentence, with what was measured."""
    precision = loaded.architecture.precision
    if precision == "float64":
        return "The page computes in float64, which is the model's own arithmetic."
    own, double = (all_logits(model, loaded, test, examples) for model in (loaded, in_float64(loaded)))
    inputs = double.shape[-1]
    if not inputs:
        return f"The page computes in float64; the model's own arithmetic is {precision}."
    other = (own.argmax(0) != double.argmax(0)).any(0).sum()
    return (
        f"The page computes in float64; the model's own arithmetic is {precision}. Over the test set and "
        f"the examples the largest difference of a logit is {short(difference(own, double))} of the largest "
        f"logit of its input, and the answers differ on {grouped(int(other))} of {grouped(inputs)} inputs."
    )


def difference(
    own: Float[np.ndarray, "tok step batch"], double: Float[np.ndarray, "tok step batch"]
) -> float:
    """The largest over all inputs, each relative to its own largest logit."""
    counted = double > CLOSED
    apart = np.where(counted, np.abs(own - double), 0.0).max((0, 1))
    size = np.where(counted, np.abs(double), 0.0).max((0, 1))
    return float((apart / np.where(size > 0, size, 1.0)).max())


def all_logits(
    model: Model, loaded: Loaded, test: RuleSet | PairSet, examples: list[Example]
) -> Float[np.ndarray, "tok step batch"]:
    """Of the tokens that are judged: the next one of a context, or every digit after the right ones."""
    if isinstance(loaded.task, Rule):
        assert isinstance(test, RuleSet)
        ids = [tabulate(loaded.task).ids(one["input"]) for one in examples]
        more = [np.pad(one, (0, len(test.tokens) - len(one))) for one in ids]
        tokens = np.column_stack([test.tokens, *more]).astype(np.int64)
        lengths = np.concatenate([test.lengths, [len(one) for one in ids]]).astype(np.int64)
        return np.asarray(last_logits(model, tokens, lengths)[:, None])
    pairs = [read_pair(one["input"]) for one in examples]
    tokens = np.concatenate([test.tokens, written_out(loaded, pairs)], axis=1)
    return np.asarray(model.logits(tokens, last=loaded.addition.digits + 1), np.float64)


def written_out(loaded: Loaded, pairs: list[tuple[int, int]]) -> Int[np.ndarray, "pos batch"]:
    """Problems with their right answers."""
    task = loaded.addition
    x, y = (digits_of([pair[i] for pair in pairs], task.digits) for i in (0, 1))
    return np.asarray(task.written().encode(x, y, add(x, y))[:-1])
