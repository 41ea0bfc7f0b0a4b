"""Prove every model of the zoo that has weights; write the verdicts down, for lists and posters.

    python -m tools.verdicts

A test compares the hashes with the models of the package, so that no verdict outlives its weights.
"""

from typing import Any

from glassformer.core.atomic import write_json
from glassformer.proofs.certificate import hash_model
from glassformer.proofs.prove import prove_model
from glassformer.runs.load import load_model
from glassformer.zoo import ZOO
from glassformer.zoo.entry import VERDICTS


def main() -> None:
    found: dict[str, Any] = {}
    for name, entry in ZOO.items():
        if entry.build or entry.weights:
            found[name] = verdict(name)
            print(name, found[name]["verdict"], found[name]["smallest_margin"])
    write_json(VERDICTS, found)


def verdict(name: str) -> dict[str, Any]:
    model = load_model(name)
    proof = prove_model(model, model.task, model.data, name, False, 60.0, None)
    wrong = proof.counterexample
    return {
        "verdict": proof.verdict,
        "inputs": proof.inputs,
        "arithmetic": proof.arithmetic,
        "smallest_margin": proof.smallest_margin,
        "rounding_bound": proof.rounding_bound,
        "hardest": [{"step": o.step, "a": o.a, "b": o.b, "margin": o.margin} for o in proof.steps],
        "counterexample": wrong and {"a": wrong["a"], "b": wrong["b"]},
        "classes": dict(proof.classes),
        "sha256": hash_model(model.architecture, model.params),
    }


if __name__ == "__main__":
    main()
