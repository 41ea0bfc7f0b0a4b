"""The certificate of a proof: the model, every class with its bounds and margin, and the verdict.

docs/certificate.md describes the format; `glassformer.check` verifies it with code of its own.
"""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from jaxtyping import Int

from glassformer.model.architecture import Architecture
from glassformer.model.model import Model
from glassformer.proof.adder import Proof
from glassformer.proof.columns import CARRIES
from glassformer.proof.hardest import attained
from glassformer.proof.rule import RuleProof
from glassformer.proof.search import Level, Status, next_tokens
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Addition, Rule, Task
from glassformer.tasks.addition import BASE, numbers_of

FORMAT = 1
SPARE = 1.25  # by which the rounding bound is stated larger than found, for a checker that adds up otherwise
Leaf = list[Any]


def certificate(proof: Proof, model: Model, task: Addition, origin: str) -> dict[str, Any]:
    """Everything that another program needs to verify the verdict."""
    rounding = None if proof.rounding_bound is None else SPARE * proof.rounding_bound
    wrong = proof.counterexample
    content = heading(model, task, origin) | {
        "arithmetic": proof.arithmetic,
        "verdict": proof.verdict,
        "inputs": str(proof.inputs),
        "smallest_margin": proof.smallest_margin,
        "margin_bound": smallest_bound(proof),
        "rounding_bound": rounding,
        "hardest": [
            {"step": one.step, "a": one.a, "b": one.b, "margin": one.margin} for one in proof.hardest
        ],
        "counterexample": wrong
        and {"a": wrong.a, "b": wrong.b, "expected": wrong.expected, "got": wrong.got},
        "classes": dict(proof.classes),
        "axes": axes(proof),
        "rows": rows(proof),
    }
    return content | {"digest": digest(content)}


def rule_certificate(proof: RuleProof, model: Model, task: Rule, origin: str) -> dict[str, Any]:
    """Of a refuted rule model: the context where it fails, which anybody can run."""
    content = heading(model, task, origin) | {
        "arithmetic": proof.arithmetic,
        "verdict": proof.verdict,
        "inputs": str(proof.inputs),
        "counterexample": proof.counterexample,
        "worst": proof.worst,
    }
    return content | {"digest": digest(content)}


def heading(model: Model, task: Task, origin: str) -> dict[str, Any]:
    """Format, model and task."""
    about = {
        "origin": origin,
        "sha256": model_hash(model.architecture, model.params),
        "architecture": plain_tree(model.architecture),
        "params": {name: array_text(array) for name, array in model.params.items()},
    }
    made_with = f"glassformer {version('glassformer')}"
    return {"format": FORMAT, "made_with": made_with, "model": about, "task": to_tree(task)}


def smallest_bound(proof: Proof) -> float | None:
    """Of all classes as they stand in the rows; the proof's own bound may have split some further."""
    found = [level.least[level.status == Status.PROVED].min(initial=np.inf) for level in proof.levels]
    return float(min(found)) if proof.verdict == "proved" else None


def model_hash(architecture: Architecture, params: Mapping[str, np.ndarray]) -> str:
    """Names, shapes, numbers and architecture, as one text of 64 characters."""
    found = hashlib.sha256()
    for name in sorted(params):
        array = np.asarray(params[name], np.dtype(architecture.precision).newbyteorder("<"))
        found.update(name.encode() + b"\0" + repr(array.shape).encode() + b"\0" + array.tobytes())
    found.update(canonical(plain_tree(architecture)).encode())
    return found.hexdigest()


def plain_tree(architecture: Architecture) -> Any:
    """The architecture as it is after being written and read, so that 7 and 7.0 are the same text."""
    return to_tree(from_tree(Architecture, to_tree(architecture), "model"))


def digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def array_text(array: np.ndarray) -> dict[str, Any]:
    """Numbers as hexadecimal texts, exact to the last bit."""
    return {"shape": list(array.shape), "values": [float(value).hex() for value in array.ravel()]}


def axes(proof: Proof) -> list[dict[str, Any]]:
    heads = proof.tables.heads if proof.tables else ()
    return [{"centre": head.centre.tolist(), "axes": head.axes.tolist()} for head in heads]


def rows(proof: Proof) -> list[list[Any]]:
    """One a class of the first level: what it is, and its leaf."""
    if not proof.tables:
        return []
    with np.errstate(all="ignore"):
        deepest: list[Leaf] = []
        for depth in reversed(range(len(proof.levels))):
            deepest = leaves(proof, depth, deepest)
    first = proof.levels[0].classes
    named = zip(first.step, first.previous, first.total, first.carry, strict=True)
    return [[*(int(part) for part in row), leaf] for row, leaf in zip(named, deepest, strict=True)]


def leaves(proof: Proof, depth: int, below: list[Leaf]) -> list[Leaf]:
    """The leaf of every class of a level, given those of the level below."""
    level = proof.levels[depth]
    found: list[Leaf] = [["undecided"] for _ in range(len(level.classes))]
    fill_proved(proof, level, found)
    fill_refuted(proof, level, found)
    if below:
        fill_split(proof.levels[depth + 1], below, found)
    return found


def fill_proved(proof: Proof, level: Level, found: list[Leaf]) -> None:
    assert proof.tables
    rows = np.flatnonzero(level.status == Status.PROVED)
    if not len(rows):
        return
    *_, digits = attained(proof.tables, level)
    plain = np.eye(proof.tables.coordinates)
    for row in rows:
        low, high = level.bounds.low[row].tolist(), level.bounds.high[row].tolist()
        a, b = numbers_of(digits[row])
        leaf = ["proved", low, high, float(level.least[row]), a, b]
        turned = not np.array_equal(level.turn[row], plain)
        found[row] = [*leaf, level.turn[row].tolist()] if turned else leaf


def fill_refuted(proof: Proof, level: Level, found: list[Leaf]) -> None:
    assert proof.tables
    rows = np.flatnonzero(level.status == Status.REFUTED)
    said = next_tokens(proof.tables.model, level.classes.take(rows), level.wrong[rows])
    for row, token in zip(rows, said, strict=True):
        found[row] = ["refuted", *numbers_of(level.wrong[row]), int(token)]


def fill_split(lower: Level, parts: list[Leaf], found: list[Leaf]) -> None:
    """Classes that were split: the column, and each part's mask and leaf."""
    masks = lower.classes.masks(np.arange(len(lower.classes)))
    for row, parent in enumerate(lower.parent):
        column = int(lower.column[row])
        if found[parent][0] != "split":
            found[parent] = ["split", column, []]
        found[parent][2].append([mask_text(masks[row, column]), parts[row]])


def mask_text(mask: Int[np.ndarray, "carry x y"]) -> str:
    """200 bits in hexadecimal; bit carry x 100 + x x 10 + y."""
    bits = mask.reshape(CARRIES * BASE * BASE)
    return f"{sum(1 << int(bit) for bit in np.flatnonzero(bits)):x}"
