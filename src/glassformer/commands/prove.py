"""`glassformer prove`: right on every input, or an input where it fails, with a certificate.

From Python the same is `glassformer.prove("glass-29")`.
"""

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from glassformer.commands.waiting import bar
from glassformer.errors import UserError, require
from glassformer.model.model import Model
from glassformer.proof.tables import NotProvableError
from glassformer.runs.atomic import read_arrays, write_json
from glassformer.runs.config import Task
from glassformer.runs.load import Loaded, load
from glassformer.tasks import Addition, Rule, Sequences

SECONDS = 60.0  # that a proof may take where nothing else is said
STATUS = {"proved": 0, "refuted": 1, "undecided": 3, "not_applicable": 3}
CERTIFICATE = "certificate.json"


@dataclass(frozen=True)
class ProveResult:
    """What `--json` prints."""

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


def prove(
    target: str,
    model: str | None = None,
    real: bool = False,
    seconds: float = SECONDS,
    out: str | Path | None = None,
) -> ProveResult:
    """Decide whether the model that a target names is right on every input; write the certificate."""
    require(seconds > 0, "time", "above 0 seconds", seconds)
    loaded = load(target, model)
    path = Path(out) if out is not None else place(loaded, real)
    return prove_model(loaded, loaded.task, loaded.data, loaded.origin, real, seconds, path)


def place(loaded: Loaded, real: bool) -> Path:
    """Where the certificate goes: into a run's folder, or beside the user; real numbers have one apart."""
    origin, name = Path(loaded.origin), f"real.{CERTIFICATE}" if real else CERTIFICATE
    if origin.name == "params.safetensors" and (origin.parent / "run.toml").exists():
        return origin.parent / name
    return Path(f"{origin.name.removesuffix('.safetensors')}.{name}")


def prove_model(
    model: Model, task: Task, data: Sequences, origin: str, real: bool, seconds: float, path: Path | None
) -> ProveResult:
    """The same for a model at hand; no path: no certificate."""
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
    vocab, context = model.architecture.vocab, model.architecture.context
    inputs = sum(vocab**length for length in range(1, context + 1))
    none = {"total": 0, "proved": 0, "refuted": 0, "undecided": 0}
    from glassformer.proof.certificate import model_hash

    precision = model.architecture.precision
    return ProveResult(
        origin,
        "not_applicable",
        str(inputs),
        precision,
        None,
        None,
        None,
        None,
        none,
        None,
        0.0,
        reason=reason,
        sha256=model_hash(model.architecture, model.params),
    )


def prove_whole_population(target: str, seconds: float, show: bool) -> tuple[dict[str, Any], str, int]:
    """Every seed of a run; status 0 where at least one is proved."""
    from glassformer.proof.population import prove_population

    loaded = load(target)
    task, path = loaded.addition, Path(loaded.origin).parent / "population.safetensors"
    if not path.exists():
        raise UserError(f"{target} has no population: --population is for the folder of a finished run")
    everyone, _ = read_arrays(path)
    seeds = [int(seed) for seed in everyone.pop("seed")]
    began = time.perf_counter()
    with bar(len(seeds), show, "seeds") as tell:
        proofs = prove_population(loaded.architecture, everyone, seeds, task, seconds, tell)
    counts = {verdict: sum(one.verdict == verdict for one in proofs) for verdict in STATUS}
    content = {
        "target": target,
        "seeds": len(seeds),
        **counts,
        "rows": [asdict(one) for one in proofs],
        "seconds": round(time.perf_counter() - began, 3),
    }
    proved = [str(one.seed) for one in proofs if one.verdict == "proved"]
    words = f"{target}: {counts['proved']} of {len(seeds)} seeds proved right on every pair"
    named = f" (seeds {', '.join(proved)})" if proved else ""
    return content, f"{words}{named}; {content['seconds']:.1f} s", 0 if proved else 1
