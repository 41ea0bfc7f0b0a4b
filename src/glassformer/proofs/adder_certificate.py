"""The certificate of an adder's proof: every class of pairs with its bounds and margin, and the verdict.

docs/certificate.md describes the format; `glassformer.checker` verifies it with code of its own.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool

from glassformer.models.model import Model
from glassformer.proofs.adder import AdderProof
from glassformer.proofs.certificate import digest_certificate, make_heading
from glassformer.proofs.hardest import measure_proved_margins
from glassformer.proofs.search import ClassLevel, ClassStatus, compute_next_tokens
from glassformer.tasks import Addition
from glassformer.tasks.addition import to_numbers

_SPARE = 1.25  # by which the rounding bound is stated larger than found, for a checker that adds up otherwise
_Leaf = list[Any]


def make_adder_certificate(proof: AdderProof, model: Model, task: Addition, origin: str) -> dict[str, Any]:
    """Everything that another program needs to verify the verdict."""
    rounding = None if proof.rounding_bound is None else _SPARE * proof.rounding_bound
    content = make_heading(model, task, origin) | {
        "arithmetic": proof.arithmetic,
        "backend": proof.backend,
        "verdict": proof.verdict,
        "inputs": proof.inputs,
        "smallest_margin": proof.smallest_margin,
        "margin_bound": _find_smallest_bound(proof),
        "rounding_bound": rounding,
        "hardest": [{"step": one.step, "a": one.a, "b": one.b, "margin": one.margin} for one in proof.steps],
        "counterexample": proof.counterexample,
        "classes": dict(proof.classes),
        "axes": _list_head_axes(proof),
        "rows": _list_class_rows(proof),
    }
    return content | {"digest": digest_certificate(content)}


def _find_smallest_bound(proof: AdderProof) -> float | None:
    """Of all classes as they stand in the rows; the proof's own bound may have split some further."""
    found = [level.least[level.status == ClassStatus.PROVED].min(initial=np.inf) for level in proof.levels]
    return float(min(found)) if proof.verdict == "proved" else None


def _list_head_axes(proof: AdderProof) -> list[dict[str, Any]]:
    heads = proof.tables.heads if proof.tables else ()
    return [{"centre": head.centre.tolist(), "axes": head.axes.tolist()} for head in heads]


def _list_class_rows(proof: AdderProof) -> list[list[Any]]:
    """One per class of the first level: what it is, and its leaf."""
    if not proof.tables:
        return []
    with np.errstate(all="ignore"):
        deepest: list[_Leaf] = []
        for depth in reversed(range(len(proof.levels))):
            deepest = _make_level_leaves(proof, depth, deepest)
    first = proof.levels[0].classes
    named = zip(first.step, first.previous, first.total, first.carry, strict=True)
    return [[*(int(part) for part in row), leaf] for row, leaf in zip(named, deepest, strict=True)]


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
    parts = (level.bounds.low[rows].tolist(), level.bounds.high[rows].tolist(), level.least[rows].tolist())
    for row, turned, *leaf in zip(rows, is_turned, *parts, *numbers, strict=True):
        found[row] = ["proved", *leaf, level.turn[row].tolist()] if turned else ["proved", *leaf]


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
