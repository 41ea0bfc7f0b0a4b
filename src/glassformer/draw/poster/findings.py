"""What is known of an adder on all pairs: from its certificate, or from a proof made now."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import UserError
from glassformer.model.model import Model
from glassformer.runs.seal import require_unchanged
from glassformer.runs.text_files import read_json
from glassformer.tasks import Addition
from glassformer.zoo.entry import VERDICTS

SECONDS = 10.0  # that a proof for a picture may take


@dataclass(frozen=True)
class Worst:
    """The pair with the smallest margin at a step of writing."""

    step: int
    a: int
    b: int
    margin: float


@dataclass(frozen=True)
class Findings:
    """The verdict and what it rests on."""

    verdict: str  # proved, refuted, undecided, not_applicable
    inputs: int
    arithmetic: str
    smallest_margin: float | None
    rounding_bound: float | None
    worst: tuple[Worst, ...]  # one a step, where it is proved
    counterexample: tuple[int, int] | None
    classes: Mapping[str, int]
    source: str  # where this comes from, in words
    reason: str = ""  # why nothing was decided

    @property
    def hardest(self) -> Worst | None:
        return min(self.worst, key=lambda one: one.margin, default=None)


def find(model: Model, task: Addition, folder: Path | None) -> Findings:
    """What is written down of these very weights, in the run's certificate or the zoo's list; or a proof."""
    from glassformer.proof.certificate import model_hash

    sha256 = model_hash(model.architecture, model.params)
    if folder and (found := read_certificate(folder / "certificate.json", sha256, task)):
        return found
    return read_zoo(sha256, task) or prove_now(model, task)


def read_certificate(path: Path, sha256: str, task: Addition) -> Findings | None:
    """What a certificate says, if it is of this model and of numbers as long, written the same way."""
    require_unchanged(path)
    try:
        content = read_json(path)
        about = content["task"]["digits"], content["task"]["layout"]
        is_own = content["model"]["sha256"] == sha256 and about == (task.digits, task.layout)
        return recorded(content, f"certificate {path.name} of the run") if is_own else None
    except (UserError, ValueError, KeyError, TypeError):
        return None


def read_zoo(sha256: str, task: Addition) -> Findings | None:
    """What tools/verdicts.py found for a model of the zoo, at the task that it has there."""
    from glassformer.zoo import ZOO

    every: dict[str, dict[str, Any]] = json.loads(VERDICTS.read_text(encoding="utf-8"))
    tasks = {name: (ZOO[name].task.digits, ZOO[name].task.layout) for name in every if name in ZOO}
    own = [
        about
        for name, about in every.items()
        if about["sha256"] == sha256 and tasks.get(name) == (task.digits, task.layout)
    ]
    return recorded(own[0], "the zoo's list of verdicts") if own else None


def recorded(content: Mapping[str, Any], source: str) -> Findings:
    """From the fields of a certificate."""
    wrong = content["counterexample"]
    return Findings(
        verdict=content["verdict"],
        inputs=int(content["inputs"]),
        arithmetic=content["arithmetic"],
        smallest_margin=content["smallest_margin"],
        rounding_bound=content["rounding_bound"],
        worst=tuple(Worst(**one) for one in content["hardest"]),
        counterexample=wrong and (wrong["a"], wrong["b"]),
        classes=content["classes"],
        source=source,
    )


def prove_now(model: Model, task: Addition) -> Findings:
    """A proof within the time for a picture."""
    from glassformer.proof.adder import prove_adder

    proof = prove_adder(model, task, seconds=SECONDS)
    wrong = proof.counterexample
    return Findings(
        verdict=proof.verdict,
        inputs=proof.inputs,
        arithmetic=proof.arithmetic,
        smallest_margin=proof.smallest_margin,
        rounding_bound=proof.rounding_bound,
        worst=tuple(Worst(one.step, one.a, one.b, one.margin) for one in proof.hardest),
        counterexample=None if wrong is None else (wrong.a, wrong.b),
        classes=dict(proof.classes),
        source="proof made for this poster",
        reason=proof.reason or f"left undecided within {SECONDS:.0f} s",
    )
