"""Whether a written file is the model: it is loaded again in a process of its own, and both are compared.

The other process gets tokens and gives back logits, as JSON; it cannot import anything of ours by accident,
for it starts outside the project, isolated from the environment.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.core.errors import UserError
from glassformer.exports.any_length import list_compared_models
from glassformer.exports.targets import ExportTarget
from glassformer.models.adding import read_answer_number
from glassformer.runs.load import LoadedModel
from glassformer.tasks import to_digits
from glassformer.tasks.examples import list_example_pairs
from glassformer.verify.addition import write_answers

# Relative to the largest logit of an input. Both sides round, each in its own order: float32 to 6e-8 per
# step, and steep scores multiply that. Over the zoo the largest difference was 9e-5. In float64 it was below
# 2e-15, but for nanogpt-58-repaired: the last bit of its scores, of size 1e5, moves a logit by 2e-10.
TOLERANCE = {"float32": 5e-4, "float64": 1e-9}
_CLOSED = -1e29  # logits below are those of tokens that a head never writes: -1e30, whatever the input
_LARGE = 1_000_000  # multiplications of a pass from which on a slow file is shown fewer inputs
_SUMS = 64  # that the file of an adder writes itself
_NO_NUMBER = -1  # what an exported `add` gives where the model writes tokens that are no digits


@dataclass(frozen=True)
class ExportComparison:
    """How the file and the model agree, over so many inputs."""

    inputs: int
    logits: int
    largest_difference: float  # between two logits, relative to the largest of their input
    tolerance: float
    winners_agree: bool  # at every position of every input
    sums: int  # that the file wrote by itself, digit after digit
    sums_agree: bool
    digits: tuple[int, ...] = ()  # lengths of numbers that were compared, of an adder for every length

    @property
    def is_equal(self) -> bool:
        return self.largest_difference <= self.tolerance and self.winners_agree and self.sums_agree


@dataclass(frozen=True)
class _LengthInputs:
    """What file and model are given at one length of numbers; most models have one length."""

    model: LoadedModel
    tokens: np.ndarray  # batch pos
    pairs: list[tuple[int, int]]
    digits: int | None  # that the file must be told


def compare_export(
    path: Path, kind: ExportTarget, loaded: LoadedModel, count: int | None = None
) -> ExportComparison:
    """The file at this path against the model, at several lengths where it has no length of its own."""
    inputs = _choose_inputs(kind, loaded, count or _choose_input_count(kind, loaded))
    answer = _ask_interpreter(path, kind.script, _pose_question(inputs))
    sums = answer.get("sums", [[] for _ in inputs])
    found = [
        _compare_length(path, one, np.array(theirs, np.float64), written)
        for one, theirs, written in zip(inputs, answer["logits"], sums, strict=True)
    ]
    return _merge_comparisons(found)


def _choose_inputs(kind: ExportTarget, loaded: LoadedModel, count: int) -> list[_LengthInputs]:
    """As many inputs at each length; a file's own `add` writes no shorter numbers than the model's."""
    models = list_compared_models(loaded)
    writing = [one for one in models if kind.writes_sums and one.addition.digits >= loaded.addition.digits]
    return [
        _LengthInputs(
            model=one,
            tokens=one.task.example_inputs(one.architecture.context, -(-count // len(models))).T,
            pairs=list_example_pairs(one.addition, _SUMS // len(writing)) if one in writing else [],
            digits=one.addition.digits if len(models) > 1 else None,
        )
        for one in models
    ]


def _pose_question(inputs: list[_LengthInputs]) -> dict[str, Any]:
    """What the scripts of the targets read, as JSON."""
    sizes = [{} if one.digits is None else {"digits": one.digits} for one in inputs]
    batches = [(one.tokens.tolist(), size) for one, size in zip(inputs, sizes, strict=True)]
    return {"batches": batches, "pairs": [one.pairs for one in inputs]}


def _compare_length(
    path: Path, given: _LengthInputs, theirs: np.ndarray, written: list[int]
) -> ExportComparison:
    """The file's logits and sums against those of the model."""
    ours = given.model.forward(given.tokens).astype(np.float64)
    if theirs.shape != ours.shape:
        raise UserError(f"{path} gives logits of shape {theirs.shape}, but the model has {ours.shape}")
    return ExportComparison(
        inputs=len(given.tokens),
        logits=ours.size,
        largest_difference=measure_export_difference(ours, theirs),
        tolerance=TOLERANCE[given.model.architecture.precision],
        winners_agree=bool((ours.argmax(-1) == theirs.argmax(-1)).all()),
        sums=len(given.pairs),
        sums_agree=_write_model_sums(given.model, given.pairs) == written,
        digits=() if given.digits is None else (given.digits,),
    )


def _merge_comparisons(found: list[ExportComparison]) -> ExportComparison:
    """All lengths as one: counts added, the largest difference, and whether all agree."""
    return ExportComparison(
        inputs=sum(one.inputs for one in found),
        logits=sum(one.logits for one in found),
        largest_difference=max(one.largest_difference for one in found),
        tolerance=found[0].tolerance,
        winners_agree=all(one.winners_agree for one in found),
        sums=sum(one.sums for one in found),
        sums_agree=all(one.sums_agree for one in found),
        digits=tuple(digits for one in found for digits in one.digits),
    )


def _choose_input_count(kind: ExportTarget, loaded: LoadedModel) -> int:
    stored = sum(array.size for array in loaded.params.values())
    is_large = stored * loaded.architecture.context > _LARGE // 4
    return kind.inputs_if_large if is_large else kind.inputs


def measure_export_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Over all logits of tokens that can be written, relative to the largest of their input, at least 1."""
    is_open = ours > _CLOSED
    if not np.array_equal(is_open, theirs > _CLOSED):
        return float("inf")
    size = np.maximum(1.0, np.where(is_open, np.abs(ours), 0.0).max(axis=(1, 2), keepdims=True))
    gaps = np.where(is_open, np.abs(ours - theirs), 0.0) / size
    return float(gaps.max()) if np.isfinite(gaps).all() else float("inf")


def _write_model_sums(loaded: LoadedModel, pairs: list[tuple[int, int]]) -> list[int]:
    """The sums as the model itself writes them."""
    if not pairs:
        return []
    task, (a, b) = loaded.addition, zip(*pairs, strict=True)
    written = write_answers(loaded, task, *(to_digits(side, task.digits, task.base) for side in (a, b)))
    found = [read_answer_number(task.written(), column) for column in written.T]
    return [got if isinstance(got, int) else _NO_NUMBER for got in found]


def _ask_interpreter(path: Path, script: str, question: dict[str, Any]) -> dict[str, Any]:
    """The answer of a fresh interpreter that has loaded the file and nothing of ours."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"{script}json.dump(answer, sys.stdout)", str(path.resolve())],
        input=json.dumps(question),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise UserError(f"{path} was written, but does not run: {last}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
