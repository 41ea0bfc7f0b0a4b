"""The stages of a run that are worth a test of their own."""

from types import SimpleNamespace

import numpy as np

from glassformer.commands import run_stages
from glassformer.proofs import population
from glassformer.runs.questions import QUESTIONS


def test_the_kept_seed_counts_as_its_own_verdict_says(monkeypatch):
    """It had more time; a seed that ran out of it is no contradiction to the badge."""

    def late(shape, everyone, seeds, task):
        return [population.SeedProof(seed, "undecided", None, None) for seed in seeds]

    monkeypatch.setattr(population, "prove_seeds", late)
    kept = SimpleNamespace(
        config=QUESTIONS["modular-11"],
        last=[{"whole_accuracy": 1.0}, {"whole_accuracy": 1.0}, {"whole_accuracy": 0.9}],
        everyone={"seed": np.array([4, 7, 9]), "gain": np.zeros(3)},
        best_seed=7,
    )
    found = run_stages._prove_seeds(kept, "proved")
    assert found == {"seeds_tried": 2, "seeds_proved": 1, "proved_seeds": [7]}
    assert run_stages._prove_seeds(kept, "undecided")["seeds_proved"] == 0
