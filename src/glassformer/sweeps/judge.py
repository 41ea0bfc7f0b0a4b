"""What became of every seed: right on all held-out windows or not, and what the prover says.

An adder is proved right on every pair (of every length, where it takes that), in the arithmetic that it runs
in: every seed that misses no held-out sum is tried. A rule's proof covers every context and takes long: only
the best seed of a unit is tried, and the number of proved seeds is a lower bound.
"""

from dataclasses import asdict
from typing import Any

import numpy as np

from glassformer.models.model import Model
from glassformer.proofs.population import prove_seeds
from glassformer.proofs.prove import prove_model
from glassformer.runs.config import Run
from glassformer.runs.metrics import Row
from glassformer.runs.training import rank_seeds
from glassformer.sweeps.unit import NO_PROOF

_DIVERGED, _MISSED, _UNTRIED = NO_PROOF
_Params = dict[str, np.ndarray]


def judge_seeds(run: Run, rows: list[Row], params: _Params) -> list[dict[str, Any]]:
    """The rows with `reached`, `proved`, `verdict`, and the margin that is proved or a counterexample."""
    places = [place for place, row in enumerate(rows) if _is_seed_right(row)]
    proofs = _prove_right_seeds(run, rows, params, places)
    found = []
    for place, row in enumerate(rows):
        verdict = _UNTRIED if _is_seed_right(row) else _MISSED if np.isfinite(row["loss"]) else _DIVERGED
        proof = {"verdict": verdict, "margin_bound": None, "counterexample": None} | proofs.get(place, {})
        found.append(row | {"reached": _is_seed_right(row), "proved": proof["verdict"] == "proved"} | proof)
    return found


def _is_seed_right(row: Row) -> bool:
    """Whether a seed is right on all held-out windows."""
    return row["whole_accuracy"] == 1


def _prove_right_seeds(
    run: Run, rows: list[Row], params: _Params, places: list[int]
) -> dict[int, dict[str, Any]]:
    """What the prover says of these seeds, by index."""
    if not places:
        return {}
    if not run.task.proves_seeds:
        best = rank_seeds(rows, run.task)[0]
        return {best: _prove_rule_seed(run, {name: array[best] for name, array in params.items()})}
    chosen = {name: array[places] for name, array in params.items()}
    seeds = [int(rows[place]["seed"]) for place in places]
    proofs = prove_seeds(run.architecture, chosen, seeds, run.task, run.prove.seconds)
    told = [{name: value for name, value in asdict(proof).items() if name != "seed"} for proof in proofs]
    return dict(zip(places, told, strict=True))


def _prove_rule_seed(run: Run, params: _Params) -> dict[str, Any]:
    """On every context of every length; `lawful` is the verdict on those that the task's sequences have."""
    model = Model(run.architecture, params)
    proof = prove_model(model, run.task, run.data, run.name, False, run.prove.seconds, None)
    return {
        "verdict": proof.verdict,
        "margin_bound": proof.margin_bound,
        "counterexample": proof.counterexample,
        "lawful": proof.details.get("lawful"),
    }
