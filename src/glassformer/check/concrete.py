"""Claims about single pairs: the margins of the hardest, and the pairs that a model gets wrong."""

import numpy as np

from glassformer.check.balls import lower, upper
from glassformer.check.bounds import ClaimError, place_of
from glassformer.check.claims import Found, is_number
from glassformer.check.reading import Certificate, Hardest, Refuted
from glassformer.check.rounding import UNITS
from glassformer.check.tables import Tables
from glassformer.model.adding import write_sum
from glassformer.model.model import Model
from glassformer.tasks import Addition, add, digits_of

AGREEMENT = 1e-6  # of a margin: how closely it must be found again
REAL_AGREEMENT = 1e-4  # the same where no rounding is bounded, though the claim was computed in float64


def check_hardest(tables: Tables, certificate: Certificate) -> None:
    """The margin of each hardest pair, in real numbers, is what is claimed."""
    for one in certificate.hardest:
        task = certificate.task
        fits = is_number(one.a, task) and is_number(one.b, task) and 0 <= one.step <= task.digits
        if not fits:
            raise ClaimError(f"{one.a} + {one.b} at step {one.step} is no step of the task")
        low, high = margin_of(tables, task, one)
        slack = slack_of(certificate, max(abs(one.margin), abs(low)))
        if not low - slack <= one.margin <= high + slack:
            found = f"{one.a} + {one.b} has the margin {low:.9g} at step {one.step}"
            raise ClaimError(f"{found}, not {one.margin:.9g} as claimed")


def slack_of(certificate: Certificate, margin: float) -> float:
    """How far a margin may be from the claim, which was computed in float64 and rounded there."""
    if certificate.arithmetic == "real":
        return REAL_AGREEMENT * margin
    share = UNITS["float64"] / UNITS[certificate.arithmetic]
    return AGREEMENT * margin + 2 * share * (certificate.rounding_bound or 0.0)


def margin_of(tables: Tables, task: Addition, one: Hardest) -> tuple[float, float]:
    """Between which numbers the right logit less the best other one lies."""
    tokens, place = written(task, one.a, one.b), place_of(task, one.step)
    right, seen = int(tokens[place + 1, 0]), tokens[: place + 1]
    mixes = [
        tables.mixture(head, place, seen[place]).chosen(seen)[:, None] for head in range(len(tables.heads))
    ]
    logits = tables.logits(tables.last_state(np.array([place]), seen[place], mixes))[:, 0]
    gap = (logits[right] - logits).over
    others = np.arange(len(gap)) != right
    return float(lower(gap)[others].min()), float(upper(gap)[others].min())


def written(task: Addition, a: int, b: int) -> np.ndarray:
    """The tokens of a sum with its true answer, `pos 1`."""
    x, y = digits_of([a], task.digits), digits_of([b], task.digits)
    tokens: np.ndarray = task.written().encode(x, y, add(x, y))
    return tokens


def check_refuted(model: Model, task: Addition, found: list[Found]) -> None:
    """Every refuted leaf names a pair that the model does get wrong, in the way it says."""
    for one, _, leaf in found:
        if isinstance(leaf, Refuted):
            seen = written(task, leaf.a, leaf.b)[: place_of(task, one.step) + 1]
            got = int(model.logits(seen, last=1)[:, 0, 0].argmax())
            if got != leaf.got or got == one.right:
                says = f"the model says {got} for {leaf.a} + {leaf.b}"
                raise ClaimError(f"{one}: {says}, where {one.right} is right and {leaf.got} is claimed")


def check_counterexample(model: Model, certificate: Certificate) -> None:
    """The counterexample, run as it is deployed, is wrong as claimed."""
    claim, task = certificate.counterexample, certificate.task
    if claim is None:
        return
    if not (is_number(claim.a, task) and is_number(claim.b, task)):
        raise ClaimError(f"{claim.a} + {claim.b} is no pair of {task.digits}-digit numbers")
    result = write_sum(model, task, claim.a, claim.b)
    sentence = f"the model says {claim.a} + {claim.b} = {result.got}"
    if result.right:
        raise ClaimError(f"{sentence}, which is right: it is no counterexample")
    if (result.expected, result.got) != (claim.expected, claim.got):
        raise ClaimError(f"{sentence}, and {result.expected} is right, not {claim.got} and {claim.expected}")
    truth = written(task, claim.a, claim.b)[task.written().answer, 0]
    wrong = [digit.token != true for digit, true in zip(result.digits, truth, strict=True)]
    if claim.step not in (None, wrong.index(True)):
        raise ClaimError(f"{sentence}, first wrong at step {wrong.index(True)}, not {claim.step}")
