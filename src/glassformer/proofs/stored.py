"""What is stored about these very weights, wherever it is: the one reader for poster, page and export.

A run's certificate, the zoo's list, a run's result, in this order. What a file says counts if it is of this
model (its sha256) and of this task, if the run's seal says that nobody changed it, if every part has
its form, and if its counterexample fails when it is run. Else it is as if nothing were stored.

>>> from glassformer.runs.load import load_model
>>> found = find_stored_verdict(load_model("glass-29"), None)
>>> found.verdict, found.source, found.steps[0].step
('proved', "the zoo's list of verdicts", 0)
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError
from glassformer.core.text_files import read_json
from glassformer.proofs.certificate import describe_problem, hash_model
from glassformer.proofs.prove import prove_within
from glassformer.proofs.response import respond_input
from glassformer.proofs.stored_form import read_verdict_form
from glassformer.proofs.verdict import Verdict
from glassformer.runs.load import LoadedModel
from glassformer.runs.seal import require_unchanged
from glassformer.tasks import Addition
from glassformer.zoo import ZOO
from glassformer.zoo.entry import VERDICTS

_CERTIFICATE, _RESULT = "certificate.json", "result.json"
_SAME = 1e-4  # relative: the margin of the same weights, summed in another order in float32
_CLOSE = 2e-3  # relative, of sums: at another step the hardest pair may have a slightly smaller margin
_WRONG = (UserError, KeyError, TypeError, ValueError, AttributeError, OverflowError)  # of what has no form


def find_verdict(loaded: LoadedModel, folder: Path | None, seconds: float, purpose: str) -> Verdict:
    """What is stored, or a proof made now within these seconds; `purpose`: `this page`."""
    found = find_stored_verdict(loaded, folder)
    return found or replace(_prove_now(loaded, seconds), source=f"a proof made for {purpose}")


def find_stored_verdict(loaded: LoadedModel, folder: Path | None) -> Verdict | None:
    """From the run's files or the zoo's list; none where nothing is said about these weights."""
    sha256 = hash_model(loaded.architecture, loaded.params)
    result = read_result_verdict(loaded, folder, sha256) if folder else None
    certified = read_certificate_verdict(loaded, folder, sha256) if folder else None
    if certified:
        return _with_bounds(certified, result)
    return read_zoo_verdict(loaded, sha256) or result


def read_certificate_verdict(loaded: LoadedModel, folder: Path, sha256: str) -> Verdict | None:
    """An adder's; that of strings holds a counterexample alone, and the run's result says more."""
    if loaded.task.family != "addition":
        return None
    require_unchanged(folder / _CERTIFICATE)
    try:
        content = read_json(folder / _CERTIFICATE)
        is_own = content["task"] == describe_problem(loaded.addition)
        if not (is_own and content["model"]["sha256"] == sha256):
            return None
        found = read_verdict_form({**_with_steps(content), "sha256": sha256}, loaded)
        return _run_again(loaded, found, f"certificate {_CERTIFICATE} of the run")
    except _WRONG:
        return None


def read_zoo_verdict(loaded: LoadedModel, sha256: str) -> Verdict | None:
    """What tools/verdicts.py found for a model of the zoo, at the task that it has there."""
    every: dict[str, dict[str, Any]] = json.loads(VERDICTS.read_text(encoding="utf-8"))
    for name, about in every.items():
        if about["sha256"] == sha256 and name in ZOO and _has_task(loaded, ZOO[name].task):
            return _run_again(
                loaded, read_verdict_form(_with_steps(about), loaded), "the zoo's list of verdicts"
            )
    return None


def read_result_verdict(loaded: LoadedModel, folder: Path, sha256: str) -> Verdict | None:
    """What the proof at a run's end said."""
    try:
        proof = read_json(folder / _RESULT)["proof"]
        if proof["sha256"] != sha256:
            return None
        found = read_verdict_form(proof, loaded)
        return _run_again(loaded, found, f"{_RESULT} of the run") if _has_margin(loaded, found) else None
    except _WRONG:
        return None


def _prove_now(loaded: LoadedModel, seconds: float) -> Verdict:
    return prove_within(loaded, loaded.task, loaded.data, loaded.origin, seconds)


def _has_task(loaded: LoadedModel, task: Addition) -> bool:
    """Whether it is made for the same: the same weights are wrong for another operation or base."""
    return loaded.task.family == "addition" and describe_problem(loaded.addition) == describe_problem(task)


def _with_steps(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Certificates and the zoo list the hardest pair of every step; a result names the hardest of them."""
    steps = content["hardest"]
    hardest = min(steps, key=lambda one: one["margin"], default=None)
    return {**content, "hardest": hardest, "details": {"hardest_by_step": steps}}


def _with_bounds(certified: Verdict, result: Verdict | None) -> Verdict:
    """The run's result, where it is of the same proof, adds how long it took and the prover's own bounds.

    A certificate that refutes says nothing about margins, and its bounds are a little below the prover's.
    """
    if result is None or result.verdict != certified.verdict:
        return certified
    if certified.smallest_margin not in (None, result.smallest_margin):
        return certified
    bounds = {(one.step, one.a, one.b): one.bound for one in result.steps}
    steps = [
        asdict(one) | {"bound": bounds.get((one.step, one.a, one.b), one.bound)} for one in certified.steps
    ]
    known = replace(certified, smallest_margin=result.smallest_margin, seconds=result.seconds)
    return replace(known, details={"hardest_by_step": steps})


def _run_again(loaded: LoadedModel, found: Verdict, source: str) -> Verdict:
    """With what the model says to the counterexample now; one that does not fail refutes nothing."""
    if found.lawful and found.lawful["counterexample"]:
        own = respond_input(loaded, loaded.task, found.lawful["counterexample"]["context"])
        if own.is_right:
            raise ValueError("the lawful counterexample does not fail")
        found = replace(found, lawful=found.lawful | {"counterexample": own.record})
    wrong = found.wrong_input
    if (wrong is not None) != (found.verdict == "refuted"):
        raise ValueError(f"{found.verdict}, and the counterexample is {wrong}")
    if wrong is None:
        return replace(found, source=source)
    there = loaded.with_digits((found.counterexample or {}).get("digits"))
    response = respond_input(there, there.task, wrong)
    if response.is_right:
        raise ValueError(f"{wrong} does not fail")
    digits = (found.counterexample or {}).get("digits")  # at another length it may come out right
    record = response.record if digits is None else response.record | {"digits": digits}
    return replace(found, counterexample=record, source=source)


def _has_margin(loaded: LoadedModel, found: Verdict) -> bool:
    """The hardest input has the margin stated: at another task the same weights have another one."""
    if found.hardest_input is None or found.smallest_margin is None:
        return found.verdict != "proved"
    margin = respond_input(loaded, loaded.task, found.hardest_input).margin
    is_sum = loaded.task.family == "addition"  # its margins are those of real numbers
    rounding, near = (2 * (found.rounding_bound or 0.0), _CLOSE) if is_sum else (0.0, _SAME)
    return margin is not None and math.isclose(margin, found.smallest_margin, rel_tol=near, abs_tol=rounding)
