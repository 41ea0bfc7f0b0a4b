"""What is stored about these very weights, wherever it is: the one reader for poster, page and export.

A run's certificate, the zoo's list, a run's result, in this order. What a file says counts if it is of this
model (its sha256) and of this task, if the run's seal says that nobody changed it, if every part has
its form, and if its counterexample fails when it is run. Else it is as if nothing were stored.

>>> from glassformer.runs.load import load
>>> found = find_stored(load("glass-29"), None)
>>> found.verdict, found.source, found.steps[0].step
('proved', "the zoo's list of verdicts", 0)
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from glassformer.errors import UserError
from glassformer.proof.certificate import model_hash
from glassformer.proof.prove import prove_within
from glassformer.proof.response import respond
from glassformer.proof.stored_form import read_form
from glassformer.proof.verdict import Verdict
from glassformer.runs.load import Loaded
from glassformer.runs.seal import require_unchanged
from glassformer.runs.text_files import read_json
from glassformer.runs.tree import to_tree
from glassformer.zoo import ZOO
from glassformer.zoo.entry import VERDICTS

CERTIFICATE, RESULT = "certificate.json", "result.json"
SAME = 1e-4  # relative: the margin of the same weights, summed in another order in float32
CLOSE = 2e-3  # relative, of sums: at another step the hardest pair may have a slightly smaller margin
WRONG = (UserError, KeyError, TypeError, ValueError, AttributeError, OverflowError)  # of what has no form

Content = Mapping[str, Any]


def find_verdict(loaded: Loaded, folder: Path | None, seconds: float, purpose: str) -> Verdict:
    """What is stored, or a proof made now within these seconds; `purpose`: `this page`."""
    found = find_stored(loaded, folder)
    return found or replace(_prove_now(loaded, seconds), source=f"a proof made for {purpose}")


def find_stored(loaded: Loaded, folder: Path | None) -> Verdict | None:
    """From the run's files or the zoo's list; none where nothing is said about these weights."""
    sha256 = model_hash(loaded.architecture, loaded.params)
    result = read_result(loaded, folder, sha256) if folder else None
    certified = read_certificate(loaded, folder, sha256) if folder else None
    if certified:
        return _with_bounds(certified, result)
    return read_zoo(loaded, sha256) or result


def read_certificate(loaded: Loaded, folder: Path, sha256: str) -> Verdict | None:
    """An adder's; that of strings holds a counterexample alone, and the run's result says more."""
    if loaded.task.family != "addition":
        return None
    require_unchanged(folder / CERTIFICATE)
    try:
        content = read_json(folder / CERTIFICATE)
        own, about = to_tree(loaded.task), content["task"]
        is_own = all(about[name] == own.get(name) for name in ("digits", "layout"))
        if not (is_own and content["model"]["sha256"] == sha256):
            return None
        found = read_form({**_with_steps(content), "sha256": sha256}, loaded)
        return _run_again(loaded, found, f"certificate {CERTIFICATE} of the run")
    except WRONG:
        return None


def read_zoo(loaded: Loaded, sha256: str) -> Verdict | None:
    """What tools/verdicts.py found for a model of the zoo, at the task that it has there."""
    every: dict[str, dict[str, Any]] = json.loads(VERDICTS.read_text(encoding="utf-8"))
    for name, about in every.items():
        if about["sha256"] == sha256 and name in ZOO and _is_same_sum(loaded, name):
            return _run_again(loaded, read_form(_with_steps(about), loaded), "the zoo's list of verdicts")
    return None


def read_result(loaded: Loaded, folder: Path, sha256: str) -> Verdict | None:
    """What the proof at a run's end said."""
    try:
        proof = read_json(folder / RESULT)["proof"]
        if proof["sha256"] != sha256:
            return None
        found = read_form(proof, loaded)
        return _run_again(loaded, found, f"{RESULT} of the run") if _has_margin(loaded, found) else None
    except WRONG:
        return None


def _prove_now(loaded: Loaded, seconds: float) -> Verdict:
    return prove_within(loaded, loaded.task, loaded.data, loaded.origin, seconds)


def _is_same_sum(loaded: Loaded, name: str) -> bool:
    """Whether the zoo's model adds numbers as long, written the same way."""
    own, there = to_tree(loaded.task), to_tree(ZOO[name].task)
    return all(own.get(field) == there[field] for field in ("name", "digits", "layout"))


def _with_steps(content: Content) -> Content:
    """Certificates and the zoo list the hardest pair of every step; a result names the hardest of them."""
    steps = content["hardest"]
    hardest = min(steps, key=lambda one: one["margin"], default=None)
    return {**content, "hardest": hardest, "details": {"hardest_by_step": steps}}


def _with_bounds(certified: Verdict, result: Verdict | None) -> Verdict:
    """The run's result, where it is of the same proof, adds how long it took and the bounds of steps."""
    if result is None or result.verdict != certified.verdict:
        return certified
    if result.smallest_margin != certified.smallest_margin:
        return certified
    bounds = {(one.step, one.a, one.b): one.bound for one in result.steps}
    steps = [asdict(one) | {"bound": bounds.get((one.step, one.a, one.b))} for one in certified.steps]
    return replace(certified, seconds=result.seconds, details={"hardest_by_step": steps})


def _run_again(loaded: Loaded, found: Verdict, source: str) -> Verdict:
    """With what the model says to the counterexample now; one that does not fail refutes nothing."""
    wrong = found.wrong_input
    if (wrong is not None) != (found.verdict == "refuted"):
        raise ValueError(f"{found.verdict}, and the counterexample is {wrong}")
    if wrong is None:
        return replace(found, source=source)
    response = respond(loaded, loaded.task, wrong)
    if response.is_right:
        raise ValueError(f"{wrong} does not fail")
    return replace(found, counterexample=response.record, source=source)


def _has_margin(loaded: Loaded, found: Verdict) -> bool:
    """The hardest input has the margin stated: at another task the same weights have another one."""
    if found.hardest_input is None or found.smallest_margin is None:
        return found.verdict != "proved"
    margin = respond(loaded, loaded.task, found.hardest_input).margin
    is_sum = loaded.task.family == "addition"  # its margins are those of real numbers
    rounding, near = (2 * (found.rounding_bound or 0.0), CLOSE) if is_sum else (0.0, SAME)
    return margin is not None and math.isclose(margin, found.smallest_margin, rel_tol=near, abs_tol=rounding)
