"""What a certificate says besides its bounds: that it is whole, consistent, and about this model.

Each function returns nothing, or raises the one sentence that says what does not hold.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from glassformer.checker.bounds import ClaimError
from glassformer.checker.columns import OpenPairs, PairClass, list_certified_classes, open_class
from glassformer.checker.fields import format_canonical
from glassformer.checker.reading import (
    ARITHMETICS,
    Certificate,
    HardestClaim,
    Leaf,
    Proved,
    Refuted,
    Run,
    Split,
    Undecided,
)
from glassformer.models.architecture import Architecture
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Addition, to_digits

_HARDEST = 0.995  # share of a margin that the bound of its step must reach for the pair to be called hardest

Found = tuple[PairClass, OpenPairs, Proved | Refuted | Run | Undecided]  # a leaf and its pairs


def hash_model(architecture: Architecture, params: Mapping[str, np.ndarray]) -> str:
    """One hash of architecture and parameters, in its precision, whatever the machine's byte order."""
    return hash_model_tree(_normalise_architecture(architecture), architecture.precision, params)


def _normalise_architecture(architecture: Architecture) -> Any:
    """The architecture as it is after being written and read, so that 7 and 7.0 are the same text."""
    return to_tree(from_tree(Architecture, to_tree(architecture), "model"))


def hash_model_tree(architecture: object, precision: str, params: Mapping[str, np.ndarray]) -> str:
    """The same, of an architecture as it is written down (7 and 7.0 are different texts)."""
    found = hashlib.sha256()
    for name in sorted(params):
        array = np.ascontiguousarray(params[name], np.dtype(precision).newbyteorder("<"))
        shape = tuple(int(size) for size in np.shape(params[name]))
        found.update(name.encode() + b"\0" + repr(shape).encode() + b"\0" + array.tobytes())
    found.update(format_canonical(architecture).encode())
    return found.hexdigest()


def check_integrity(certificate: Certificate) -> None:
    """The file is as it was written, and its weights are the ones that it names."""
    check_digest(certificate.tree, certificate.architecture.precision, certificate.params)


def check_digest(tree: Mapping[str, Any], precision: str, params: Mapping[str, np.ndarray]) -> None:
    """The same, of a certificate of any task."""
    rest = {key: value for key, value in tree.items() if key != "digest"}
    if hashlib.sha256(format_canonical(rest).encode()).hexdigest() != tree.get("digest"):
        raise ClaimError("the digest does not match: the certificate was altered after it was written")
    found, claimed = (
        hash_model_tree(tree["model"]["architecture"], precision, params),
        tree["model"].get("sha256"),
    )
    if found != claimed:
        raise ClaimError(f"the model in the certificate has sha256 {found}, not {claimed} as claimed")


def check_setting(certificate: Certificate) -> None:
    """The model can run the task, in the arithmetic that the certificate speaks of."""
    task, model = certificate.task, certificate.architecture
    require_room(model, task)
    if certificate.arithmetic not in (model.precision, ARITHMETICS[-1]):
        raise ClaimError(
            f"the certificate is about {certificate.arithmetic}, but the model is {model.precision}"
        )
    if certificate.any_backend and certificate.arithmetic != model.precision:
        raise ClaimError("the certificate is about any backend and about real numbers, which no backend has")
    free = task.digits * (1 if task.does.second == 0 else 2)  # digits that make an input
    if certificate.inputs != str(task.base**free):
        raise ClaimError(f"there are {task.base}^{free} inputs, not {certificate.inputs}")


def require_room(model: Architecture, task: Addition) -> None:
    """The model has the tokens of the task, and positions for its longest problem."""
    tokens, needed = len(task.written().labels), task.written().length - 1
    if model.vocab != tokens:
        raise ClaimError(f"the model has {model.vocab} tokens, but the task has {tokens}")
    if model.context < needed:
        raise ClaimError(f"the model sees {model.context} tokens, but the task needs {needed}")


def check_classes(certificate: Certificate) -> None:
    """Every class that holds a pair is there, once, and no other."""
    given = Counter(one for one, _ in certificate.rows)
    needed = set(list_certified_classes(certificate.task))
    for one, count in given.items():
        if count > 1:
            raise ClaimError(f"{one} is there {count} times")
        if one not in needed:
            raise ClaimError(f"{one} holds no pair")
    for one in sorted(needed - set(given), key=str):
        raise ClaimError(f"{one} is missing")


def list_claimed_leaves(certificate: Certificate) -> list[Found]:
    """Every leaf with the pairs that it speaks of; splits leave nothing out and nothing twice."""
    return [
        found
        for one, leaf in certificate.rows
        for found in _walk_splits(certificate.task, one, open_class(certificate.task, one), leaf)
    ]


def _walk_splits(task: Addition, one: PairClass, here: OpenPairs, leaf: Leaf) -> Iterator[Found]:
    if not isinstance(leaf, Split):
        _check_leaf_pair(task, one, here, leaf)
        yield one, here, leaf
        return
    masks = np.array([mask for mask, _ in leaf.parts]).reshape(-1, task.does.carries, task.base, task.base)
    if (masks.sum(0) > 1).any():
        raise ClaimError(f"{one}: parts of the split at column {leaf.column} overlap")
    reachable = here.reachable(leaf.column)
    missed = reachable & ~masks.any(0)
    for carry, x, y in np.argwhere(missed)[:1]:
        raise ClaimError(
            f"{one}: the split at column {leaf.column} leaves out {task.does.write(x, y)} with carry {carry}"
        )
    for mask, inner in leaf.parts:
        if not (reachable & mask).any():
            raise ClaimError(f"{one}: a part of the split at column {leaf.column} holds no pair")
        yield from _walk_splits(task, one, here.within(leaf.column, mask), inner)


def _check_leaf_pair(
    task: Addition, one: PairClass, here: OpenPairs, leaf: Proved | Refuted | Run | Undecided
) -> None:
    """The pair that a leaf names is one of its pairs."""
    if isinstance(leaf, Undecided):
        return
    if not is_problem(leaf.a, leaf.b, task):
        problem = task.does.write(leaf.a, leaf.b)
        raise ClaimError(f"{one}: {problem} is no pair of {task.digits}-digit numbers{task.name_base()}")
    x, y = (to_digits([number], task.digits, task.base)[:, 0] for number in (leaf.a, leaf.b))
    if not here.has(x, y):
        raise ClaimError(
            f"{one}: {task.does.write(leaf.a, leaf.b)} is not a pair of the class, or not of its part"
        )


def is_problem(a: int, b: int, task: Addition) -> bool:
    """Whether these are numbers of the task; a second number that is not there is 0."""
    return _is_operand(a, task) and _is_operand(b, task) and (task.does.second != 0 or b == 0)


def _is_operand(value: int, task: Addition) -> bool:
    return 0 <= value < int(task.base**task.digits)


def check_counts(certificate: Certificate) -> None:
    """The numbers of classes by outcome, and a verdict that fits them."""
    found = Counter(_decide_class_outcome(leaf) for _, leaf in certificate.rows)
    real = {"total": len(certificate.rows), **{key: found[key] for key in ("proved", "refuted", "undecided")}}
    if dict(certificate.counts) != real:
        raise ClaimError(f"the classes are {real}, not {dict(certificate.counts)} as claimed")
    is_refuted = certificate.counterexample is not None
    verdict = "refuted" if is_refuted else "proved" if found["proved"] == real["total"] else "undecided"
    if found["refuted"] and not is_refuted:
        raise ClaimError(f"{found['refuted']} classes are refuted, but there is no counterexample")
    if certificate.verdict != verdict:
        raise ClaimError(f"the verdict is {certificate.verdict}, but the rows say {verdict}")


def _decide_class_outcome(leaf: Leaf) -> str:
    """Refuted where any part is, proved where all are."""
    if isinstance(leaf, Run):
        return "proved"
    if not isinstance(leaf, Split):
        return type(leaf).__name__.lower()
    inner = {_decide_class_outcome(part) for _, part in leaf.parts}
    return "refuted" if "refuted" in inner else "undecided" if "undecided" in inner else "proved"


def check_margins(certificate: Certificate, found: list[Found]) -> None:
    """The numbers on all inputs are those of the leaves and of the hardest pairs; only a proof has any."""
    margins = _find_step_bounds(found)
    if certificate.verdict != "proved":
        if certificate.hardest:
            raise ClaimError(f"the verdict is {certificate.verdict}, so no pair is the hardest of all")
        return
    bound, smallest = certificate.margin_bound, certificate.smallest_margin
    if [one.step for one in certificate.hardest] != list(range(certificate.task.digits + 1)):
        raise ClaimError(f"there is not one hardest pair for each of the {certificate.task.digits + 1} steps")
    for one in certificate.hardest:
        _check_hardest_bound(one, margins[one.step], certificate.task)
    least = min(one.margin for one in certificate.hardest)
    if least != smallest:
        raise ClaimError(f"the smallest margin is {least:.17g}, not {smallest:.17g} as claimed")
    if (found_bound := min(margins.values())) != bound:
        raise ClaimError(f"the bound of all margins is {found_bound:.17g}, not {bound:.17g} as claimed")


def _find_step_bounds(found: list[Found]) -> dict[int, float]:
    """The smallest margin that is claimed for the leaves of each step, each of which must be above 0."""
    margins: dict[int, float] = {}
    for one, _, leaf in found:
        if isinstance(leaf, Proved | Run):
            if not leaf.margin > 0:
                raise ClaimError(f"{one}: a margin of {leaf.margin:.6g} does not prove that the token leads")
            margins[one.step] = min(leaf.margin, margins.get(one.step, leaf.margin))
    return margins


def _check_hardest_bound(one: HardestClaim, bound: float, task: Addition) -> None:
    """The bound of a step is that of its leaves; a pair is the hardest where the bound nearly reaches it."""
    if one.bound != bound:
        raise ClaimError(f"the bound of step {one.step} is {bound:.17g} in the rows, not {one.bound:.17g}")
    if not one.bound <= one.margin:
        raise ClaimError(f"step {one.step}: the bound {one.bound:.6g} is above the margin {one.margin:.6g}")
    is_hardest = one.bound >= _HARDEST * one.margin
    if one.is_hardest != is_hardest:
        words = "near enough" if is_hardest else "not near enough"
        raise ClaimError(
            f"step {one.step}: the bound {one.bound:.6g} is {words} to the margin {one.margin:.6g} "
            f"for {task.does.write(one.a, one.b)} to be the hardest pair, but the certificate says otherwise"
        )
