"""Certificates whose pairs were all run: each is run again, and every margin must come out the same.

The deployed pass gives the same bits on every machine, so a margin is not near what is claimed, it is that.
"""

from collections.abc import Iterator

import numpy as np

from glassformer.checker.bounds import ClaimError, find_query_position
from glassformer.checker.claims import Found, is_problem
from glassformer.checker.columns import PairClass
from glassformer.checker.reading import Certificate, HardestClaim, Proved, Run
from glassformer.models.model import Model
from glassformer.tasks import Addition

_BLOCK = 1 << 13  # pairs in one pass


def check_run_pairs(model: Model, certificate: Certificate, found: list[Found]) -> None:
    """The smallest margin of every class that is said to be run, and of the hardest pairs."""
    _check_run_setting(certificate, found)
    least = measure_all_classes(model, certificate.task)
    claimed = {(one, leaf.a, leaf.b): leaf.margin for one, _, leaf in found if isinstance(leaf, Run)}
    for (one, a, b), margin in claimed.items():
        if least[one] != margin:
            raise ClaimError(f"{one}: the smallest margin is {least[one]:.17g}, not {margin:.17g} as claimed")
        if _measure_pairs(model, certificate.task, np.array([[a, b]]))[one.step, 0] != margin:
            raise ClaimError(
                f"{one}: {certificate.task.does.write(a, b)} does not have the margin {margin:.17g}"
            )
    for hardest in certificate.hardest:
        _check_hardest_pair(model, certificate.task, hardest)


def _check_hardest_pair(model: Model, task: Addition, hardest: HardestClaim) -> None:
    a, b, step = hardest.a, hardest.b, hardest.step
    problem = task.does.write(a, b)
    if not is_problem(a, b, task):
        raise ClaimError(f"{problem} at step {step} is no step of the task")
    if _measure_pairs(model, task, np.array([[a, b]]))[step, 0] != hardest.margin:
        raise ClaimError(f"{problem} does not have the margin {hardest.margin:.17g} at step {step}")


def _check_run_setting(certificate: Certificate, found: list[Found]) -> None:
    """A run says what one arithmetic does, and leaves nothing to bounds."""
    if certificate.arithmetic != certificate.architecture.precision or certificate.any_backend:
        raise ClaimError("all pairs were run, which says nothing of real numbers or of other backends")
    if any(isinstance(leaf, Proved) for _, _, leaf in found):
        raise ClaimError("some classes are bounded though all pairs are said to be run")
    if certificate.rounding_bound:
        raise ClaimError("margins of pairs that are run are deployed ones: rounding moves them no further")


def measure_all_classes(model: Model, task: Addition) -> dict[PairClass, float]:
    """The smallest margin of the pairs of every class."""
    found: dict[PairClass, float] = {}
    for pairs in _list_blocks(task):
        margins = _measure_pairs(model, task, pairs)  # step pair
        for step, (names, row) in enumerate(zip(_name_classes(task, pairs), margins, strict=True)):
            kinds, number = np.unique(names, axis=0, return_inverse=True)
            least = np.full(len(kinds), np.inf)
            np.minimum.at(least, np.ravel(number), row)
            for kind, margin in zip(kinds.tolist(), least.tolist(), strict=True):
                previous, total, carry = kind
                one = PairClass(step, previous, total, carry, task.base, task.does)
                found[one] = min(margin, found.get(one, np.inf))
    return found


def _list_blocks(task: Addition) -> Iterator[np.ndarray]:
    """All pairs of numbers, `pair 2`."""
    count = task.base**task.digits
    seconds = 1 if task.does.second == 0 else count
    for begin in range(0, count * seconds, _BLOCK):
        yield np.stack(np.divmod(np.arange(begin, min(begin + _BLOCK, count * seconds)), seconds), 1)


def _spell_pairs(task: Addition, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Digits of both numbers, units first, `digit pair` each."""
    powers = task.base ** np.arange(task.digits)[:, None]
    return pairs[:, 0] // powers % task.base, pairs[:, 1] // powers % task.base


def _encode_sums(task: Addition, pairs: np.ndarray) -> np.ndarray:
    """The tokens of pairs with their true sums, `pos pair`."""
    x, y = _spell_pairs(task, pairs)
    tokens: np.ndarray = task.written().encode(x, y, task.solve_digits(x, y))
    return tokens


def _measure_pairs(model: Model, task: Addition, pairs: np.ndarray) -> np.ndarray:
    """The right logit minus the best other one, `step pair`, after the true digits before it.

    A pass for each step, as an answer is written: scores beyond that of the mask see what comes later.
    """
    tokens = _encode_sums(task, pairs)
    ends = [find_query_position(task, step) + 1 for step in range(task.digits + 1)]
    gaps = [_measure_gaps(model.logits(tokens[:end], last=1)[:, 0], tokens[end]) for end in ends]
    return np.asarray(np.nan_to_num(np.stack(gaps), nan=-np.inf, posinf=np.inf, neginf=-np.inf))


def _measure_gaps(logits: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Of each pair, given `tok pair` and the token that must come."""
    exact = logits.astype(np.float64)
    is_right = np.arange(len(exact))[:, None] == right
    with np.errstate(invalid="ignore"):
        gap = exact[right, np.arange(len(right))] - np.where(is_right, -np.inf, exact).max(0)
    return np.asarray(gap)


def _name_classes(task: Addition, pairs: np.ndarray) -> Iterator[np.ndarray]:
    """By step: the token just written, the sum of the next column (-1 above the highest), and the carry."""
    tokens, layout = _encode_sums(task, pairs), task.written()
    x, y = _spell_pairs(task, pairs)
    for step in range(task.digits + 1):
        position = find_query_position(task, step)
        column = list(layout.z_positions).index(position + 1)
        carry = _find_carries(task, x[:column], y[:column])
        total = _add_up(task, x[column], y[column]) if column < task.digits else np.full(len(pairs), -1)
        yield np.stack([tokens[position], total, carry], 1)


def _add_up(task: Addition, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What columns add up to: of a subtraction, with the complement of the second number."""
    second = y if task.does.second > 0 else task.base - 1 - y if task.does.second < 0 else 0
    return np.asarray(task.does.first * x + second)


def _find_carries(task: Addition, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The carries out of the columns below, all added up at once."""
    powers = task.base ** np.arange(len(x))[:, None]
    total = (_add_up(task, x, y) * powers).sum(0) + int(task.does.second < 0)
    return np.asarray(total // task.base ** len(x))
