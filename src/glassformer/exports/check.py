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

    @property
    def is_equal(self) -> bool:
        return self.largest_difference <= self.tolerance and self.winners_agree and self.sums_agree


def compare_export(
    path: Path, kind: ExportTarget, loaded: LoadedModel, count: int | None = None
) -> ExportComparison:
    """The file at this path against the model."""
    count = count or _choose_input_count(kind, loaded)
    tokens = loaded.task.example_inputs(loaded.architecture.context, count).T
    pairs = list_example_pairs(loaded.addition, _SUMS) if kind.writes_sums else []
    answer = _ask_interpreter(path, kind.script, {"tokens": tokens.tolist(), "pairs": pairs})
    theirs, ours = np.array(answer["logits"], np.float64), loaded.forward(tokens).astype(np.float64)
    if theirs.shape != ours.shape:
        raise UserError(f"{path} gives logits of shape {theirs.shape}, but the model has {ours.shape}")
    return ExportComparison(
        inputs=len(tokens),
        logits=ours.size,
        largest_difference=measure_export_difference(ours, theirs),
        tolerance=TOLERANCE[loaded.architecture.precision],
        winners_agree=bool((ours.argmax(-1) == theirs.argmax(-1)).all()),
        sums=len(pairs),
        sums_agree=_write_model_sums(loaded, pairs) == answer.get("sums", []),
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
