"""A model judged on every input, whatever its task: the prover of its family, and the certificate.

>>> from glassformer.runs.load import load
>>> loaded = load("glass-29")
>>> prove_model(loaded, loaded.task, loaded.data, loaded.origin, False, 60.0, None).verdict
'proved'

Each family has a prover of its own, loaded when it is needed: proving an adder imports nothing of the other.
"""

from pathlib import Path
from typing import Any

from glassformer.errors import UserError
from glassformer.model.model import Model
from glassformer.proof.certificate import model_hash
from glassformer.proof.tables import NotProvableError
from glassformer.proof.verdict import Verdict
from glassformer.runs.atomic import write_json
from glassformer.tasks import Sequences, Task
from glassformer.tasks.addition import require_addition
from glassformer.tasks.strings import require_strings


def prove_model(
    model: Model,
    task: Task,
    data: Sequences,
    origin: str,
    real: bool,
    seconds: float,
    path: Path | None,
    margins: bool = True,
) -> Verdict:
    """Decide whether a model is right on every input; no path: no certificate.

    `real`: as if numbers were real, without rounding. `margins`: an adder's hardest pairs are looked for too.
    """
    try:
        if task.family == "addition":
            found, content = _prove_addition(model, task, origin, real, seconds, margins, path is not None)
        else:
            found, content = _prove_strings(model, task, data, origin, real, seconds, path is not None)
    except NotProvableError as error:
        return not_provable(origin, model, task, str(error))
    if path and content:
        write_json(path, content)
    about = {"target": origin, "sha256": model_hash(model.architecture, model.params)}
    return Verdict(**(found.content() | about | {"certificate": str(path) if path and content else None}))


def prove_within(model: Model, task: Task, data: Sequences, origin: str, seconds: float) -> Verdict:
    """A proof without a certificate; a model whose numbers overflow, or do not fit, is a result too."""
    try:
        return prove_model(model, task, data, origin, False, seconds, None)
    except UserError as error:
        return not_provable(origin, model, task, str(error))


def not_provable(origin: str, model: Model, task: Task, reason: str) -> Verdict:
    """Nothing is said about any input."""
    return Verdict(
        target=origin,
        verdict="not_applicable",
        inputs=str(task.count_inputs(model.architecture.context)),
        arithmetic=model.architecture.precision,
        seconds=0.0,
        reason=reason,
        sha256=model_hash(model.architecture, model.params),
    )


def _prove_addition(
    model: Model, task: Task, origin: str, real: bool, seconds: float, margins: bool, wants_file: bool
) -> tuple[Verdict, dict[str, Any] | None]:
    """Every class of pairs; the certificate holds all of them with their bounds."""
    from glassformer.proof.adder import prove_adder
    from glassformer.proof.adder_certificate import adder_certificate

    addition = require_addition(task, origin)
    proof = prove_adder(model, addition, real, seconds, margins)
    is_written = wants_file and proof.verdict != "not_applicable"
    return proof, adder_certificate(proof, model, addition, origin) if is_written else None


def _prove_strings(
    model: Model, task: Task, data: Sequences, origin: str, real: bool, seconds: float, wants_file: bool
) -> tuple[Verdict, dict[str, Any] | None]:
    """Every context; the certificate holds what another program can verify, the counterexample."""
    from glassformer.proof.certificate import refutation

    strings = require_strings(task, origin)
    if strings.length and not real:
        from glassformer.proof.question import prove_question

        proof = prove_question(model, strings, seconds)
    else:
        from glassformer.proof.rule import prove_rule

        proof = prove_rule(model, strings, data, seconds, real)
    is_written = wants_file and proof.counterexample is not None
    return proof, refutation(proof, model, task, origin) if is_written else None
