"""What is known of a model on all inputs, and inputs worth a look: where it fails, or nearly does.

What is written down counts if it is of these very weights; else a proof is made, within the time given.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from glassformer.draw.poster.findings import Findings, read_certificate, read_zoo
from glassformer.errors import UserError
from glassformer.page.known import Known, known_rule, of_result, step_of
from glassformer.page.proof_words import proof_sentence
from glassformer.page.worst import adder_examples, rule_examples
from glassformer.proof.certificate import model_hash
from glassformer.proof.outcome import ProveResult, not_provable, prove_model
from glassformer.runs.load import Loaded
from glassformer.tasks import Addition, Rule

Content = dict[str, Any]


def proof_part(loaded: Loaded, folder: Path | None, result: Mapping[str, Any], seconds: float) -> Content:
    """The verdict, what it rests on, and the worst inputs as the model answers them now."""
    known = find_known(loaded, folder, result, seconds)
    examples = (
        rule_examples(loaded, loaded.task, known)
        if isinstance(loaded.task, Rule)
        else adder_examples(loaded, loaded.task, known)
    )
    if examples.counterexample and known.verdict in ("undecided", "not_applicable"):
        known = replace(known, verdict="refuted", source="inputs tried for this page")
    content = {
        "verdict": known.verdict,
        "inputs": known.inputs,
        "arithmetic": known.arithmetic,
        "smallest_margin": known.smallest_margin,
        "rounding_bound": known.rounding_bound,
        "seconds": known.seconds,
        "reason": known.reason,
        "source": known.source,
        "classes": dict(known.classes),
        "hardest": examples.hardest,
        "counterexample": examples.counterexample,
        "worst": examples.worst,
        "steps": [dict(step) for step in known.steps],
        "error": known.error,
    }
    return {**content, "sentence": proof_sentence(content, loaded)}


def find_known(loaded: Loaded, folder: Path | None, result: Mapping[str, Any], seconds: float) -> Known:
    """From the run's files or the zoo's list; or from a proof made now."""
    sha256 = model_hash(loaded.architecture, loaded.params)
    recorded = result.get("proof")
    stored = recorded if isinstance(recorded, dict) else {}
    if isinstance(loaded.task, Rule):
        found = known_rule(loaded, loaded.task, stored, sha256)
        return found or prove_now(loaded, seconds)
    certified = read_certificate(folder / "certificate.json", sha256, loaded.task) if folder else None
    if certified:
        return of_findings(certified, loaded.task, stored)
    listed = read_zoo(sha256, loaded.task)
    return of_findings(listed, loaded.task, {}) if listed else prove_now(loaded, seconds)


def prove_now(loaded: Loaded, seconds: float) -> Known:
    """A proof within the time for a page; a model that cannot be proved is a result too."""
    result: ProveResult
    try:
        result = prove_model(loaded, loaded.task, loaded.data, loaded.origin, False, seconds, None)
    except UserError as error:
        result = not_provable(loaded.origin, loaded, str(error))
        if isinstance(loaded.task, Addition):
            result = replace(result, inputs=str(100**loaded.task.digits))
    return of_result(vars(result), loaded.task, "a proof made for this page")


def of_findings(found: Findings, task: Addition, stored: Mapping[str, Any]) -> Known:
    """An adder's record; the run's result adds how long it took and the bounds of each step."""
    same = stored.get("verdict") == found.verdict and stored.get("smallest_margin") == found.smallest_margin
    details = stored.get("details", {}).get("hardest_by_step", []) if same else []
    bounds = {(one["step"], one["a"], one["b"]): one.get("bound") for one in details}
    steps = [asdict(one) | {"bound": bounds.get((one.step, one.a, one.b))} for one in found.worst]
    return Known(
        verdict=found.verdict,
        inputs=str(found.inputs),
        arithmetic=found.arithmetic,
        smallest_margin=found.smallest_margin,
        rounding_bound=found.rounding_bound,
        seconds=stored.get("seconds") if same else None,
        reason=found.reason,
        source=found.source,
        classes=found.classes,
        hardest=f"{found.hardest.a}+{found.hardest.b}" if found.hardest else None,
        counterexample="{}+{}".format(*found.counterexample) if found.counterexample else None,
        steps=tuple(step_of(one, task) for one in steps),
    )
