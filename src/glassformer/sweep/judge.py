"""What became of every seed: right on all held-out windows or not, and what the prover says.

An adder is proved right on every pair, in the arithmetic that it runs in: every seed that misses no held-out
sum is tried. A rule's proof covers every context and takes long: only the best seed of a unit is tried, and
the number of proved seeds is a lower bound.
"""

from dataclasses import asdict
from typing import Any

import numpy as np

from glassformer.model.model import Model
from glassformer.proof.population import prove_population
from glassformer.proof.prove import prove_model
from glassformer.runs.config import Run
from glassformer.runs.metrics import Row
from glassformer.runs.training import ranking
from glassformer.sweep.unit import NO_PROOF

DIVERGED, MISSED, UNTRIED = NO_PROOF
Params = dict[str, np.ndarray]


def judged(run: Run, rows: list[Row], params: Params) -> list[dict[str, Any]]:
    """The rows with `reached`, `proved`, `verdict`, and the margin that is proved or a counterexample."""
    places = [place for place, row in enumerate(rows) if reached(row)]
    proofs = proofs_of(run, rows, params, places)
    found = []
    for place, row in enumerate(rows):
        verdict = UNTRIED if reached(row) else MISSED if np.isfinite(row["loss"]) else DIVERGED
        proof = {"verdict": verdict, "margin_bound": None, "counterexample": None} | proofs.get(place, {})
        found.append(row | {"reached": reached(row), "proved": proof["verdict"] == "proved"} | proof)
    return found


def reached(row: Row) -> bool:
    """Whether a seed is right on all held-out windows."""
    return row["whole_accuracy"] == 1


def proofs_of(run: Run, rows: list[Row], params: Params, places: list[int]) -> dict[int, dict[str, Any]]:
    """What the prover says of these places, by place."""
    if not places:
        return {}
    if not run.task.proves_seeds:
        best = ranking(rows, run.task)[0]
        return {best: rule_proof(run, {name: array[best] for name, array in params.items()})}
    chosen = {name: array[places] for name, array in params.items()}
    seeds = [int(rows[place]["seed"]) for place in places]
    proofs = prove_population(run.architecture, chosen, seeds, run.task, run.prove.seconds)
    told = [{name: value for name, value in asdict(proof).items() if name != "seed"} for proof in proofs]
    return dict(zip(places, told, strict=True))


def rule_proof(run: Run, params: Params) -> dict[str, Any]:
    """On every context of every length; `lawful` is the verdict on those that the task's sequences have."""
    model = Model(run.architecture, params)
    proof = prove_model(model, run.task, run.data, run.name, False, run.prove.seconds, None)
    return {
        "verdict": proof.verdict,
        "margin_bound": proof.margin_bound,
        "counterexample": proof.counterexample,
        "lawful": proof.details.get("lawful"),
    }
