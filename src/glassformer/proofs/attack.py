"""A search for a pair that a model gets wrong, by running it: for what no bound decides.

Pairs are drawn, uniform and hard ones; those with the smallest margins are changed a column at a time, and
what is harder is kept. The margins of all digits are measured, each after the true ones before it. A model
of any architecture can be refuted so; that nothing is found says nothing.
"""

import time

import numpy as np
from jaxtyping import Float, Int

from glassformer.models.adding import write_sum
from glassformer.models.margins import measure_token_margins
from glassformer.models.model import Model
from glassformer.proofs.paths import Digits
from glassformer.proofs.real_lead import is_wrong_in_real
from glassformer.tasks.addition import Addition, to_numbers
from glassformer.tasks.hard import draw_hard_pairs

_DRAWN = 2048  # pairs at first, half of them hard ones
_KEPT, _CHILDREN = 64, 16  # pairs that are changed, and how often each in a round
_TRIED = 4  # of those with negative margins that are looked at more closely, per round
_ROUNDS = 60


def find_wrong_pair(model: Model, task: Addition, deadline: float, real: bool = False) -> Digits | None:
    """`1 column number`: a pair whose sum comes out wrong; `real`: also if nothing were rounded."""
    random = np.random.default_rng(0)
    drawn = _draw_pairs(task, random)
    pairs = drawn[:: len(drawn) // _KEPT]  # a few of each kind first: most wrong models fail on them
    margins = measure_pair_margins(model, task, pairs).min(0)
    for number in range(_ROUNDS):
        order = np.argsort(margins, kind="stable")[:_KEPT]
        pairs, margins = pairs[order], margins[order]
        for pair in pairs[margins < 0][:_TRIED]:
            if _is_wrong(model, task, pair) and (not real or _is_wrong_in_real(model, task, pair)):
                return np.asarray(pair[None])
        if time.perf_counter() > deadline:
            return None
        changed = _keep_numbers(task, _change_columns(pairs, task.base, random)) if number else drawn
        pairs = np.concatenate([pairs, changed])
        margins = np.concatenate([margins, measure_pair_margins(model, task, changed).min(0)])
    return None


def measure_pair_margins(model: Model, task: Addition, pairs: Digits) -> Float[np.ndarray, "step pair"]:
    """The margin of every digit, after the true ones before it; overflow is as bad as can be.

    A pass for each digit, as an answer is written: scores beyond that of the mask see what comes later.
    """
    tokens, steps = encode_pairs(task, pairs), range(-task.digits - 1, 0)
    with np.errstate(all="ignore"):
        logits = np.concatenate([model.logits(tokens[:step], last=1) for step in steps], 1)  # tok step pair
        margins = measure_token_margins(logits, tokens[steps.start :])
    return np.asarray(np.nan_to_num(margins, nan=-np.inf, posinf=np.inf, neginf=-np.inf))


def encode_pairs(task: Addition, pairs: Digits) -> np.ndarray:
    """The tokens of problems with their true answers, `pos pair`."""
    x, y = (np.asarray(pairs[:, :, side].T, np.int64) for side in range(2))
    return np.asarray(task.written().encode(x, y, task.solve_digits(x, y)))


def _draw_pairs(task: Addition, random: np.random.Generator) -> Digits:
    drawn = task.match_pair(*draw_hard_pairs(random, _DRAWN // 2, task.digits, task.base))
    hard = np.stack(drawn, 2).transpose(1, 0, 2)
    uniform = random.integers(0, task.base, (_DRAWN // 2, task.digits, 2))
    return _keep_numbers(task, np.concatenate([hard, uniform])).astype(np.int8)


def _keep_numbers(task: Addition, pairs: Digits) -> Digits:
    """The pairs, with 0 for a second number that is not there."""
    return pairs if task.does.has_second else pairs * np.array([1, 0], pairs.dtype)


def _change_columns(
    pairs: Digits, base: int, random: np.random.Generator
) -> Int[np.ndarray, "child column number"]:
    """Each pair several times, with the digits of one column drawn anew."""
    changed = np.repeat(pairs, _CHILDREN, 0)
    rows = np.arange(len(changed))
    column = random.integers(0, pairs.shape[1], len(changed))
    changed[rows, column] = random.integers(0, base, (len(changed), 2))
    return changed


def _is_wrong(model: Model, task: Addition, pair: np.ndarray) -> bool:
    """Whether the sum is wrong as the model writes it; of logits that overflow the margin says little."""
    a, b = to_numbers(pair, task.base)
    with np.errstate(all="ignore"):
        return not write_sum(model, task, a, b).right


def _is_wrong_in_real(model: Model, task: Addition, pair: np.ndarray) -> bool:
    """Whether a wrong digit is certain to lead in real numbers, after the true ones before it."""
    tokens = encode_pairs(task, pair[None])
    return any(
        is_wrong_in_real(model, tokens[:step], tokens[step]).all() for step in range(-task.digits - 1, 0)
    )
