"""What rounding can change of prompts that are run: BLAS adds in another order for every size of a batch.

A prompt counts as right where its margin is above 0 in whatever order the deployed sums are added: the
model's own pass over numbers with bounds says so, coarse for all prompts and finer for what that leaves.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.models.bounded import sum_magnitudes
from glassformer.models.float_format import OWN
from glassformer.models.forward import forward
from glassformer.models.model import Model
from glassformer.models.ops_bounded import BoundedOps
from glassformer.proofs.question_bound import make_query_gaps
from glassformer.proofs.tables import ModelTables, list_attention_layers, make_table_pass

_FINE = 32  # prompts in one finer pass, which takes a thousand times as long and as much memory
_MOST_FINE = 512  # prompts of one block that get it

_Tokens = Int[np.ndarray, "pos prompt"]
_Margins = Float[np.ndarray, " prompt"]
Guards = Float[np.ndarray, "last answer"]  # a larger margin is above 0 in any order of summation


def enclose_margins(model: Model, tokens: _Tokens, answers: Int[np.ndarray, " prompt"]) -> _Margins:
    """The least that each margin is; for all prompts at once, and finer for those that this leaves open."""
    least = bound_margins(model, tokens, answers)
    left = np.flatnonzero(~(least > 0))[:_MOST_FINE]
    for first in range(0, len(left), _FINE):
        some = left[first : first + _FINE]
        least[some] = bound_margins(model, tokens[:, some], answers[some], apart=True)
    return least


def bound_margins(
    model: Model, tokens: _Tokens, answers: Int[np.ndarray, " prompt"], apart: bool = False
) -> _Margins:
    """By the model's pass over numbers with bounds; `apart`: what rounds alike in two logits cancels."""
    with np.errstate(all="ignore"):
        passing = make_table_pass(model, BoundedOps(model.architecture.precision, apart=apart))
        logits = forward(model.architecture, *passing, tokens, last=1)[:, 0]  # tok prompt
        every = np.arange(len(answers))
        right = logits[answers, every]
        noise = 0.0 if logits.noise is None else sum_magnitudes(right.noise[:, None] - logits.noise)
        off = noise + right.error + logits.error + right.reach + logits.reach
        off = (off + OWN * (np.abs(right.centre) + np.abs(logits.centre))) * (1 + 4 * OWN)
        gap = right.centre - logits.centre - off
    gap[answers, every] = np.inf
    found: np.ndarray = np.nan_to_num(gap.min(0), nan=-np.inf)
    return found


def tells_rounding(tables: ModelTables) -> bool:
    """Whether errors of the tables are all that rounding does.

    Of layers beside the mix ranges are known that hold real and deployed values, not how far these are apart.
    """
    return len(list_attention_layers(tables.model.architecture)) == 1


def bound_class_rounding(
    tables: ModelTables | None, vocab: int, asked: Bool[np.ndarray, "last answer"]
) -> Guards:
    """Twice what rounding may move a gap by: once in the run that was seen, once in another."""
    found = np.full((vocab, vocab), np.inf)
    if tables is None or len(tables.heads) != 1 or not tells_rounding(tables):
        return found
    rivals = np.arange(vocab)
    for token in np.flatnonzero(asked.any(1)).tolist():
        gaps = make_query_gaps(tables, token)
        for answer in np.flatnonzero(asked[token]).tolist():
            others = rivals[rivals != answer]
            most = gaps.rounding(np.full(len(others), answer), others).max()
            found[token, answer] = np.nan_to_num(2 * most * (1 + 4 * OWN), nan=np.inf)
    return found
