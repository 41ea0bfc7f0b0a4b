"""A small sweep, and a job that gives known rows at once instead of training."""

import numpy as np

from glassformer.models.forward import list_parameters
from glassformer.scale.here import LocalEngine
from glassformer.sweeps.folder import open_sweep_folder
from glassformer.sweeps.reading import make_sweep
from glassformer.sweeps.sweep import run_sweep_units
from glassformer.sweeps.unit import UnitResult

# Two rates of a small rule model; 5 seeds in blocks of 2, so three units a configuration, the last a short one.
GRID = {"train.peak_rate": [0.01, 0.03]}
NUMBERS = {"seeds": 5, "first_seed": 10, "block": 2}
QUICK = {
    "train.steps": 20,
    "train.evaluate_every": 10,
    "train.batch": 16,
    "train.held_out": 64,
    "prove.seconds": 1.0,
}
QUICK_WORDS = [word for path, value in QUICK.items() for word in (f"--{path}", str(value))]


def small_sweep(**changes):
    return make_sweep("successor", GRID, QUICK, NUMBERS | changes)


def row(seed, reached=False, proved=False, margin=0.5):
    """A seed as a unit tells of it."""
    return {
        "step": 20,
        "seed": seed,
        "train_loss": 1.0,
        "loss": 0.5,
        "argmax_accuracy": 1.0 if reached else 0.5,
        "right_probability": 0.5,
        "whole_accuracy": 1.0 if reached else 0.25,
        "smallest_margin": margin,
        "reached": reached,
        "proved": proved,
        "verdict": "proved" if proved else "untried" if reached else "missed",
        "margin_bound": margin / 2 if proved else None,
        "counterexample": None,
    }


def known_result(unit):
    """Even seeds reach, those divisible by four are proved; a seed's numbers are all its own number."""
    seeds = range(unit.first_seed, unit.first_seed + unit.seeds)
    rows = [row(seed, seed % 2 == 0, seed % 4 == 0, seed / 100) for seed in seeds]
    params = {
        name: np.stack([np.full(one.shape, seed, np.float32) for seed in seeds])
        for name, one in list_parameters(unit.run.architecture).items()
    }
    return UnitResult(rows, params, 1.5, {"backend": "none"})


def work(folder, job, sweep=None, **ways):
    return run_sweep_units(
        folder, open_sweep_folder(folder, sweep or small_sweep(), **ways), LocalEngine(), job, lambda *_: None
    )
