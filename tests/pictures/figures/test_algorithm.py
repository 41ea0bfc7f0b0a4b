"""The steps of a rule: their numbers are the outcomes of interventions."""

from glassformer.core.theme import THEMES
from glassformer.pictures.figures import algorithm, causal_tests
from glassformer.pictures.measure import changes
from glassformer.pictures.measure import rule_steps as fidelity
from glassformer.pictures.measure.interventions import (
    run_patch,
)
from glassformer.pictures.measure.trials import Trials
from tests.pictures.conftest import subject_of
from tests.pictures.measure.by_hand import copy_of


def test_figures_of_a_rule_without_trials():
    subject = copy_of("plus_last_even")
    none = Trials(
        *(getattr(subject.trials, field)[:0] for field in ("contexts", "allowed", "source", "following"))
    )
    subject = copy_of("plus_last_even")
    subject.__dict__["trials"] = none
    for figure in (algorithm, causal_tests):
        data = figure.compute(subject)
        assert "no trials" in figure.title(data)
        figure.draw(data, THEMES["light"])
        assert figure.caption(data)


def test_numbers_of_the_figures_are_the_outcomes():
    subject = subject_of("plus_last_even")
    data = causal_tests.compute(subject)
    after = {test["name"]: test["after"].value for test in data["tests"]}
    assert after["swap the source"] == run_patch(subject, changes.swap_source(subject)).after.value
    assert f"{after['hide the source']:.1%}" in causal_tests.title(data)
    cards = {card.name: card.share for card in algorithm.compute(subject)["cards"]}
    assert list(cards) == ["encode", "detect", "retrieve", "carry", "decide"]
    assert cards["carry"] == fidelity.measure_carrying(subject).share
