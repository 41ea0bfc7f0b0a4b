"""A model judged on every input, whatever its task: the prover of its family, and the certificate.

>>> from glassformer.runs.load import load_model
>>> loaded = load_model("glass-29")
>>> prove_model(loaded, loaded.task, loaded.data, loaded.origin, False, 60.0, None).verdict
'proved'

Each family has a prover of its own, loaded when it is needed: proving an adder imports nothing of the other.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from glassformer.core.atomic import write_json
from glassformer.core.errors import UserError
from glassformer.models.lengths import is_any_length
from glassformer.models.model import Model
from glassformer.proofs.certificate import hash_model
from glassformer.proofs.tables import NotProvableError
from glassformer.proofs.verdict import Verdict
from glassformer.tasks import Sequences, Task
from glassformer.tasks.addition import Addition, require_addition
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
    any_backend: bool = False,
    is_one_length: bool = False,
) -> Verdict:
    """Decide whether a model is right on every input; no path: no certificate.

    `real`: as if numbers were real, without rounding. `margins`: an adder's hardest pairs are looked for too.
    `any_backend`: in whatever order sums are added, and with functions that are not ours. `is_one_length`: on
    numbers of the task's length only, also where the model takes every length.
    """
    if any_backend and (real or task.family != "addition"):
        raise UserError("--any-backend is about an adder in floating point: not with --real, nor for strings")
    try:
        if task.family == "addition":
            found, content = _prove_addition(
                model, task, origin, real, seconds, margins, path is not None, any_backend, is_one_length
            )
        else:
            found, content = _prove_strings(model, task, data, origin, real, seconds, path is not None)
    except NotProvableError as error:
        return make_unprovable_verdict(origin, model, task, str(error))
    if path and content:
        write_json(path, content)
    about = {"target": origin, "sha256": hash_model(model.architecture, model.params)}
    return Verdict(**(found.content() | about | {"certificate": str(path) if path and content else None}))


def prove_within(model: Model, task: Task, data: Sequences, origin: str, seconds: float) -> Verdict:
    """A proof without a certificate; a model whose values overflow, or do not fit, is a result too."""
    try:
        return prove_model(model, task, data, origin, False, seconds, None)
    except UserError as error:
        return make_unprovable_verdict(origin, model, task, str(error))


def make_unprovable_verdict(origin: str, model: Model, task: Task, reason: str) -> Verdict:
    """Nothing is said about any input."""
    return Verdict(
        target=origin,
        verdict="not_applicable",
        inputs=str(task.count_inputs(model.architecture.context)),
        arithmetic=model.architecture.precision,
        seconds=0.0,
        reason=reason,
        sha256=hash_model(model.architecture, model.params),
    )


def _prove_addition(
    model: Model,
    task: Task,
    origin: str,
    real: bool,
    seconds: float,
    margins: bool,
    wants_file: bool,
    any_backend: bool,
    is_one_length: bool,
) -> tuple[Verdict, dict[str, Any] | None]:
    """Every class of pairs; the certificate holds all of them with their bounds."""
    from glassformer.proofs.adder import prove_adder
    from glassformer.proofs.adder_certificate import make_adder_certificate

    addition = require_addition(task, origin)
    if is_any_length(model.architecture, addition) and not is_one_length:
        return _prove_every_length(model, addition, origin, real, seconds, margins, wants_file, any_backend)
    proof = prove_adder(model, addition, real, seconds, margins, any_backend=any_backend)
    is_written = wants_file and proof.verdict != "not_applicable"
    return proof, make_adder_certificate(proof, model, addition, origin) if is_written else None


def _prove_every_length(
    model: Model,
    task: Addition,
    origin: str,
    real: bool,
    seconds: float,
    margins: bool,
    wants_file: bool,
    any_backend: bool,
) -> tuple[Verdict, dict[str, Any] | None]:
    """Every class of pairs of every length that stands for the longer ones."""
    if any_backend:
        raise UserError("--any-backend is about numbers of one length: give --digits too")
    from glassformer.proofs.every_length import prove_every_length
    from glassformer.proofs.every_length_certificate import make_every_length_certificate

    proof = prove_every_length(model, task, real, seconds, margins)
    is_written = wants_file and proof.lengths[-1].verdict != "not_applicable"
    return proof, make_every_length_certificate(proof, model, task, origin) if is_written else None


def _prove_strings(
    model: Model, task: Task, data: Sequences, origin: str, real: bool, seconds: float, wants_file: bool
) -> tuple[Verdict, dict[str, Any] | None]:
    """Every context; the certificate holds what another program can verify of it."""
    from glassformer.proofs.rule_certificate import (
        describe_certified,
        make_question_certificate,
        make_rule_certificate,
    )

    strings = require_strings(task, origin)
    if strings.length and not real:
        from glassformer.proofs.question import prove_question

        proof = prove_question(model, strings, seconds)
        return proof, make_question_certificate(proof, model, strings, origin) if wants_file else None
    from glassformer.proofs.rule import prove_rule

    proof = prove_rule(model, strings, data, seconds, real)
    if not wants_file or strings.length:
        return proof, None
    content = make_rule_certificate(proof, model, strings, data, origin)
    less = describe_certified(proof, content)
    return replace(proof, details=proof.details | {"certified": less}) if less else proof, content
