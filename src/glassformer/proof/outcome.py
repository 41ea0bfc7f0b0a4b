"""The outcome of a proof in one form for every task, and its certificate: what the command prints.

result = prove_model(loaded, loaded.task, loaded.data, loaded.origin, False, 60.0, None)
result.verdict  # proved, refuted, undecided or not_applicable
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from glassformer.model.model import Model
from glassformer.proof.tables import NotProvableError
from glassformer.runs.atomic import write_json
from glassformer.tasks import Addition, Rule, Sequences, Task


@dataclass(frozen=True)
class ProveResult:
    """What `glassformer prove --json` prints, and what result.json of a run says of its proof."""

    target: str
    verdict: str
    inputs: str  # how many, an exact integer
    arithmetic: str
    smallest_margin: float | None
    rounding_bound: float | None
    hardest: Any  # input with the smallest margin
    counterexample: dict[str, Any] | None
    classes: dict[str, int]
    exact_error: dict[str, Any] | None  # rules: low, high and more
    seconds: float
    certificate: str | None = None  # path
    margin_bound: float | None = None
    reason: str = ""
    details: dict[str, Any] = field(default_factory=dict)  # adders: hardest by step; rules: all else
    sha256: str = ""  # of the model that was looked at, as in a certificate


def prove_model(
    model: Model, task: Task, data: Sequences, origin: str, real: bool, seconds: float, path: Path | None
) -> ProveResult:
    """Decide whether a model is right on every input; no path: no certificate."""
    if not isinstance(task, Addition):
        return prove_rule_model(model, task, data, origin, real, seconds, path)
    from glassformer.proof.adder import prove_adder
    from glassformer.proof.certificate import certificate, model_hash

    proof = prove_adder(model, task, real, seconds)
    written = path if path and proof.verdict != "not_applicable" else None
    if written:
        write_json(written, certificate(proof, model, task, origin))
    steps = [asdict(one) for one in proof.hardest]
    wrong = proof.counterexample
    return ProveResult(
        target=origin,
        verdict=proof.verdict,
        inputs=str(proof.inputs),
        arithmetic=proof.arithmetic,
        smallest_margin=proof.smallest_margin,
        rounding_bound=proof.rounding_bound,
        hardest=min(steps, key=lambda one: one["margin"], default=None),
        counterexample=None
        if wrong is None
        else {"a": wrong.a, "b": wrong.b, "expected": wrong.expected, "got": wrong.got},
        classes=dict(proof.classes),
        exact_error=None,
        seconds=round(proof.seconds, 3),
        certificate=str(written) if written else None,
        margin_bound=proof.margin_bound,
        reason=proof.reason,
        details={"hardest_by_step": steps},
        sha256=model_hash(model.architecture, model.params),
    )


def prove_rule_model(
    model: Model, task: Rule, data: Sequences, origin: str, real: bool, seconds: float, path: Path | None
) -> ProveResult:
    """All contexts of a rule; a certificate holds what another program can verify, the counterexample."""
    from glassformer.proof.certificate import model_hash, rule_certificate
    from glassformer.proof.rule import prove_rule

    try:
        proof = prove_rule(model, task, data, seconds, real)
    except NotProvableError as error:
        return not_provable(origin, model, str(error))
    written = path if path and proof.counterexample else None
    if written:
        write_json(written, rule_certificate(proof, model, task, origin))
    return ProveResult(
        target=origin,
        verdict=proof.verdict,
        inputs=str(proof.inputs),
        arithmetic=proof.arithmetic,
        smallest_margin=proof.smallest_margin,
        rounding_bound=proof.rounding_bound,
        hardest=" ".join(proof.hardest) or None,
        counterexample=proof.counterexample,
        classes=proof.classes,
        exact_error=proof.exact_error,
        seconds=round(proof.seconds, 3),
        certificate=str(written) if written else None,
        margin_bound=proof.margin_floor,
        reason=proof.left,
        details={"lawful": proof.lawful, "shorter": proof.content()["shorter"], "worst": proof.worst},
        sha256=model_hash(model.architecture, model.params),
    )


def not_provable(origin: str, model: Model, reason: str) -> ProveResult:
    """Nothing is said about any input."""
    from glassformer.proof.certificate import model_hash

    vocab, context = model.architecture.vocab, model.architecture.context
    return ProveResult(
        target=origin,
        verdict="not_applicable",
        inputs=str(sum(vocab**length for length in range(1, context + 1))),
        arithmetic=model.architecture.precision,
        smallest_margin=None,
        rounding_bound=None,
        hardest=None,
        counterexample=None,
        classes={"total": 0, "proved": 0, "refuted": 0, "undecided": 0},
        exact_error=None,
        seconds=0.0,
        reason=reason,
        sha256=model_hash(model.architecture, model.params),
    )
