"""Claims about single pairs: the margins of the hardest, and the pairs that a model gets wrong."""

import numpy as np

from glassformer.checker.balls import Balls, bound_above, bound_below
from glassformer.checker.bounds import ClaimError, find_query_position
from glassformer.checker.claims import Found, is_problem
from glassformer.checker.columns import PairClass
from glassformer.checker.ops_ball import BallOps
from glassformer.checker.reading import Certificate, HardestClaim, Refuted
from glassformer.checker.tables import PremixTables
from glassformer.models.adding import write_sum
from glassformer.models.forward import forward, untie_parameters
from glassformer.models.model import Model
from glassformer.tasks import Addition, to_digits

_CHUNK = 1024  # pairs that are run at a time
_AGREEMENT = 1e-4  # of the true margin: how closely a claimed one must meet it


def check_hardest(tables: PremixTables, certificate: Certificate) -> None:
    """The margin of each hardest pair, in real numbers, is what is claimed."""
    for one in certificate.hardest:
        task = certificate.task
        problem = task.does.write(one.a, one.b)
        fits = is_problem(one.a, one.b, task) and 0 <= one.step <= task.digits
        if not fits:
            raise ClaimError(f"{problem} at step {one.step} is no step of the task")
        low, high = _bound_pair_margin(tables, task, one)
        if not _is_near(one.margin, low, high) and tables.has_other_attention:
            low, high = _bound_run_margin(tables, task, one)
        if not _is_near(one.margin, low, high):
            found = f"{problem} has the margin {low:.9g} at step {one.step}"
            raise ClaimError(f"{found}, not {one.margin:.9g} as claimed")


def _is_near(margin: float, low: float, high: float) -> bool:
    return high - _AGREEMENT * abs(high) <= margin <= low + _AGREEMENT * abs(low)


def _bound_pair_margin(tables: PremixTables, task: Addition, one: HardestClaim) -> tuple[float, float]:
    """Between which numbers the right logit minus the best other one lies."""
    tokens, position = _encode_true_sums(task, [one.a], [one.b]), find_query_position(task, one.step)
    right, seen = int(tokens[position + 1, 0]), tokens[: position + 1]
    mixes = [
        tables.mixture(head, position, seen[position]).chosen(seen)[:, None]
        for head in range(len(tables.heads))
    ]
    logits = tables.logits(tables.last_state(np.array([position]), seen[position], mixes))
    return _bound_gaps(logits, right)


def _bound_run_margin(tables: PremixTables, task: Addition, one: HardestClaim) -> tuple[float, float]:
    """The same by the whole pass over the pair, in real numbers: tables only enclose a second layer."""
    tokens, position = _encode_true_sums(task, [one.a], [one.b]), find_query_position(task, one.step)
    real = tables.real
    logits = forward(real.architecture, real.ops, real.params, tokens[: position + 1], last=1)[:, 0]
    return _bound_gaps(logits, int(tokens[position + 1, 0]))


def _bound_gaps(logits: Balls, right: int) -> tuple[float, float]:
    """Between which numbers the right logit minus the best other one lies, given `tok 1`."""
    gap = (logits[right][None] - logits).over[:, 0]
    others = np.arange(len(gap)) != right
    return float(bound_below(gap)[others].min()), float(bound_above(gap)[others].min())


def _encode_true_sums(task: Addition, a: list[int], b: list[int]) -> np.ndarray:
    """The tokens of sums with their true answers, `pos pair`."""
    x, y = (to_digits(numbers, task.digits, task.base) for numbers in (a, b))
    tokens: np.ndarray = task.written().encode(x, y, task.solve_digits(x, y))
    return tokens


def check_refuted(model: Model, certificate: Certificate, found: list[Found]) -> None:
    """Every refuted leaf names a pair that the model does get wrong, in the way it says; also in real
    numbers, where these are claimed."""
    task, refuted = certificate.task, [(one, leaf) for one, _, leaf in found if isinstance(leaf, Refuted)]
    for begin in range(0, len(refuted), _CHUNK):
        some = refuted[begin : begin + _CHUNK]
        for (one, leaf), got in zip(some, _compute_answers(model, task, some), strict=True):
            if got != leaf.got or got == one.right:
                says = f"the model says {got} for {task.does.write(leaf.a, leaf.b)}"
                raise ClaimError(f"{one}: {says}, where {one.right} is right and {leaf.got} is claimed")
        if certificate.arithmetic == "real":
            _check_refuted_in_real(model, task, some)


def _check_refuted_in_real(model: Model, task: Addition, some: list[tuple[PairClass, Refuted]]) -> None:
    """At the step of its class some wrong digit leads without any rounding."""
    tokens = _encode_true_sums(task, [leaf.a for _, leaf in some], [leaf.b for _, leaf in some])
    step = np.array([one.step for one, _ in some])
    for number in np.unique(step):
        rows = np.flatnonzero(step == number)
        is_wrong = _is_wrong_in_real(model, task, int(number), tokens[:, rows])
        if not is_wrong.all():
            one, leaf = some[int(rows[is_wrong.argmin()])]
            problem = task.does.write(leaf.a, leaf.b)
            raise ClaimError(f"{one}: no wrong digit is certain to lead at {problem} in real numbers")


def _is_wrong_in_real(model: Model, task: Addition, step: int, tokens: np.ndarray) -> np.ndarray:
    """Of each row whether another token than the right one is certain to lead, in balls."""
    architecture, position = model.architecture, find_query_position(task, step)
    ops = BallOps(architecture.precision, "real")
    params = untie_parameters(architecture, {name: ops.array(part) for name, part in model.params.items()})
    logits = forward(architecture, ops, params, tokens[: position + 1], last=1)[:, 0]  # tok row
    right = tokens[position + 1]
    lead = (logits - logits[right, np.arange(len(right))]).over
    return np.asarray((bound_below(lead) > 0).any(0))


def _compute_answers(model: Model, task: Addition, refuted: list[tuple[PairClass, Refuted]]) -> list[int]:
    """What the model writes at the step of each class, after the right digits of its pair's sum."""
    tokens = _encode_true_sums(task, [leaf.a for _, leaf in refuted], [leaf.b for _, leaf in refuted])
    step, got = np.array([one.step for one, _ in refuted]), np.empty(len(refuted), np.int64)
    for number in np.unique(step):
        rows = np.flatnonzero(step == number)
        seen = tokens[: find_query_position(task, int(number)) + 1, rows]
        got[rows] = model.logits(seen, last=1)[:, 0].argmax(0)
    return [int(token) for token in got]


def check_counterexample(model: Model, certificate: Certificate) -> None:
    """The counterexample, run as it is deployed, is wrong as claimed."""
    claim, task = certificate.counterexample, certificate.task
    if claim is None:
        return
    problem = task.does.write(claim.a, claim.b)
    if not is_problem(claim.a, claim.b, task):
        raise ClaimError(f"{problem} is no pair of {task.digits}-digit numbers{task.name_base()}")
    result = write_sum(model, task, claim.a, claim.b)
    sentence = f"the model says {problem} = {result.got}"
    if result.right:
        raise ClaimError(f"{sentence}, which is right: it is no counterexample")
    if (result.expected, result.got) != (claim.expected, claim.got):
        raise ClaimError(f"{sentence}, and {result.expected} is right, not {claim.got} and {claim.expected}")
    if certificate.arithmetic == "real":
        tokens = _encode_true_sums(task, [claim.a], [claim.b])
        if not any(_is_wrong_in_real(model, task, step, tokens).all() for step in range(task.digits + 1)):
            raise ClaimError(f"no wrong digit of {problem} is certain to lead in real numbers")
