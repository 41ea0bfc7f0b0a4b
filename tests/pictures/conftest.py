"""Trained models to draw, made by tools/small_runs.py from finished runs."""

from functools import cache
from pathlib import Path

from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.measure.subject import Subject
from glassformer.runs.load import load_model

RUNS = Path(__file__).parent / "runs"
NAMES = (
    "plus_last_even",
    "lucky7",
    "lucky7_no_resid",
    "step_back",
    "even_to_odd_transition",
    "even_repeat_last_odd",
)


@cache
def subject_of(name: str) -> Subject:
    return make_subject(load_model(RUNS / name), name, RUNS / name)
