"""The certificate of an adder's proof: every class of pairs with its bounds and margin, and the verdict.

docs/certificate.md describes the format; `glassformer.checker` verifies it with code of its own.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool

from glassformer.models.model import Model
from glassformer.proofs.adder import AdderProof
from glassformer.proofs.certificate import describe_problem, digest_certificate, make_heading
from glassformer.proofs.columns import PairClasses, enumerate_pair_classes
from glassformer.proofs.every_pair import PairRun
from glassformer.proofs.hardest import measure_proved_margins
from glassformer.proofs.search import ClassLevel, ClassStatus, compute_next_tokens
from glassformer.proofs.verdict import HardestPair
from glassformer.tasks import Addition
from glassformer.tasks.addition import to_numbers

_SPARE = 1.25  # by which the rounding bound is stated larger than found, for a checker that adds up otherwise
_STATED = 0.999  # of a margin's bound is stated: what a checker with other enclosures can confirm in full
_HARDEST = 0.995  # of a pair's margin: where all of its step have as much, it is called the hardest
_Leaf = list[Any]


def make_adder_certificate(proof: AdderProof, model: Model, task: Addition, origin: str) -> dict[str, Any]:
    """Everything that another program needs to verify the verdict."""
    rows, is_proved = _list_class_rows(proof, task), proof.verdict == "proved"
    bounds = _find_step_bounds(rows)
    content = make_heading(model, task, origin) | {
        "task": describe_problem(task),
        "arithmetic": proof.arithmetic,
        "backend": proof.backend,
        "verdict": proof.verdict,
        "inputs": proof.inputs,
        "smallest_margin": proof.smallest_margin if is_proved else None,
        "margin_bound": min(bounds.values()) if is_proved else None,
        "rounding_bound": _SPARE * (proof.rounding_bound or 0.0) if is_proved else None,
        "hardest": [_make_hardest_entry(one, bounds[one.step]) for one in proof.steps if is_proved],
        "counterexample": proof.counterexample,
        "classes": dict(proof.classes),
        "mixing": proof.tables.mixing if proof.tables and bounds else None,
        "axes": _list_head_axes(proof) if proof.tables and bounds else [],
        "rows": rows,
    }
    return content | {"digest": digest_certificate(content)}


def _make_hardest_entry(one: HardestPair, bound: float) -> dict[str, Any]:
    """The pair with the smallest margin found at a step, and whether it is the hardest of the step."""
    is_hardest = bound >= _HARDEST * one.margin
    return {
        "step": one.step,
        "a": one.a,
        "b": one.b,
        "margin": one.margin,
        "bound": bound,
        "is_hardest": is_hardest,
    }


def _find_step_bounds(rows: list[list[Any]]) -> dict[int, float]:
    """For each step the smallest margin that its rows state."""
    found: dict[int, float] = {}
    for step, *_, leaf in rows:
        for margin in _list_leaf_margins(leaf):
            found[step] = min(margin, found.get(step, margin))
    return found


def _list_leaf_margins(leaf: _Leaf) -> list[float]:
    if leaf[0] == "split":
        return [margin for _, part in leaf[2] for margin in _list_leaf_margins(part)]
    return [leaf[3]] if leaf[0] == "proved" else [leaf[1]] if leaf[0] == "run" else []


def _list_head_axes(proof: AdderProof) -> list[dict[str, Any]]:
    heads = proof.tables.heads if proof.tables else ()
    return [{"centre": _to_numbers(head.centre), "axes": _to_numbers(head.axes)} for head in heads]


def _to_numbers(array: np.ndarray) -> list[Any]:
    """Lists of numbers, in which zero has one form."""
    found: list[Any] = (array + 0.0).tolist()
    return found


def _list_class_rows(proof: AdderProof, task: Addition) -> list[list[Any]]:
    """One per class of the first level: what it is, and its leaf."""
    if proof.run:
        return _list_run_rows(proof.run)
    if not proof.tables:
        return [[*name, ["undecided"]] for name in _name_classes(enumerate_pair_classes(task.written()))]
    with np.errstate(all="ignore"):
        deepest: list[_Leaf] = []
        for depth in reversed(range(len(proof.levels))):
            deepest = _make_level_leaves(proof, depth, deepest)
    names = _name_classes(proof.levels[0].classes)
    return [[*name, leaf] for name, leaf in zip(names, deepest, strict=True)]


def _name_classes(classes: PairClasses) -> list[list[int]]:
    """Step, token just written, sum of the next column, carry."""
    named = [classes.step, classes.previous, classes.total, classes.carry]
    found: list[list[int]] = np.stack(named, 1).tolist()
    return found


def _list_run_rows(run: PairRun) -> list[list[Any]]:
    """The smallest margin of each class and its pair, or the pair that comes out wrong."""
    found, base = list[list[Any]](), run.classes.layout.base
    for row, name in enumerate(_name_classes(run.classes)):
        pair, leaf = to_numbers(run.hardest[row], base), list[Any](["undecided"])
        if run.is_wrong[row]:
            leaf = ["refuted", *pair, int(run.got[row])]
        elif run.least[row] > 0:
            leaf = ["run", float(run.least[row]), *pair]
        found.append([*name, leaf])
    return found


def _make_level_leaves(proof: AdderProof, depth: int, below: list[_Leaf]) -> list[_Leaf]:
    """The leaf of every class of a level, given those of the level below."""
    level = proof.levels[depth]
    found: list[_Leaf] = [["undecided"] for _ in range(len(level.classes))]
    _fill_proved(proof, level, found)
    _fill_refuted(proof, level, found)
    if below:
        _fill_split(proof.levels[depth + 1], below, found)
    return found


def _fill_proved(proof: AdderProof, level: ClassLevel, found: list[_Leaf]) -> None:
    assert proof.tables
    rows = np.flatnonzero(level.status == ClassStatus.PROVED)
    if not len(rows):
        return
    measure_proved_margins(proof.tables, level)
    numbers = (to_numbers(level.hardest[rows, :, side].T, level.classes.layout.base) for side in range(2))
    is_turned = (level.turn[rows] != np.eye(proof.tables.coordinates)).any((1, 2))
    parts = (level.bounds.low[rows], level.bounds.high[rows], _STATED * level.least[rows])
    for row, turned, *leaf in zip(rows, is_turned, *map(_to_numbers, parts), *numbers, strict=True):
        found[row] = ["proved", *leaf, _to_numbers(level.turn[row])] if turned else ["proved", *leaf]


def _fill_refuted(proof: AdderProof, level: ClassLevel, found: list[_Leaf]) -> None:
    assert proof.tables
    rows, base = np.flatnonzero(level.status == ClassStatus.REFUTED), level.classes.layout.base
    said = compute_next_tokens(proof.tables.model, level.classes.take(rows), level.wrong[rows])
    for row, token in zip(rows, said, strict=True):
        found[row] = ["refuted", *to_numbers(level.wrong[row], base), int(token)]


def _fill_split(lower: ClassLevel, parts: list[_Leaf], found: list[_Leaf]) -> None:
    """Classes that were split: the column, and each part's mask and leaf."""
    masks = lower.classes.masks(np.arange(len(lower.classes)))
    for row, parent in enumerate(lower.parent):
        column = int(lower.column[row])
        if found[parent][0] != "split":
            found[parent] = ["split", column, []]
        found[parent][2].append([_format_mask(masks[row, column]), parts[row]])


def _format_mask(mask: Bool[np.ndarray, "carry x y"]) -> str:
    """Twice base^2 bits in hexadecimal; in base ten bit number 100 carry + 10 x + y."""
    bits = mask.ravel()
    return f"{sum(1 << int(bit) for bit in np.flatnonzero(bits)):x}"
