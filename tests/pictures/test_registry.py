"""One registry: every picture says what it needs, and is offered to every model that has it."""

import pytest

from glassformer.core.errors import UserError
from glassformer.core.theme import THEMES
from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.picture import choose_pictures
from glassformer.pictures.pipeline import compute_picture
from glassformer.pictures.registry import (
    COMPARISON,
    DRAWN,
    FIGURES,
    FILMS,
    PANELS,
    PICTURES,
    SPECTRA,
    choose_usual_pictures,
)
from glassformer.runs.load import load_model
from tests.pictures.conftest import subject_of
from tests.pictures.faults import faults

RULE, QUESTION, ADDER = "plus_last_even", "modular11", "glass-29"
EVERYONE = {"01", "05", "06", "07", "08", "09", "10", "11", "S1", "S2", "S5", "S7", "S8"}
EVERYONE |= {"F1", "F2", "F3", "F4", "P1", "P7"}
STRINGS = {"03", "12", "13", "14", "15", "16", "17", "18", "S3", "S4", "S6", "A3"}
OF_A_RUN = {"02", "04"}
SUMS = {"P0", "P2", "P3", "P4", "P5", "P6", "P8", "P9"}


def subject(name):
    return make_subject(load_model(name), name) if name == ADDER else subject_of(name)


@pytest.mark.parametrize(
    ("name", "fitting"),
    [
        (RULE, EVERYONE | STRINGS | OF_A_RUN | {"A1", "A2"}),
        (QUESTION, EVERYONE | STRINGS | OF_A_RUN),
        (ADDER, EVERYONE | SUMS),
    ],
)
def test_what_is_offered_to_whom(name, fitting):
    reasons = {picture.id: picture.fits(subject(name)) for picture in DRAWN}
    assert {id for id, reason in reasons.items() if not reason} == fitting
    assert all(name in reason and "\n" not in reason for reason in reasons.values() if reason)


def test_the_usual_sets():
    assert choose_usual_pictures(subject(RULE)) == FIGURES
    assert choose_usual_pictures(subject(ADDER)) == PANELS
    assert not any(picture.fits(subject(QUESTION)) for picture in choose_usual_pictures(subject(QUESTION)))


@pytest.mark.parametrize(
    ("name", "id"), [(RULE, "P1"), (RULE, "P7"), (ADDER, "05"), (ADDER, "S8"), (ADDER, "07")]
)
def test_figures_and_panels_of_the_other_family_are_sound(name, id):
    picture = next(one for one in DRAWN if one.id == id)
    data = compute_picture(picture, subject(name))
    assert not isinstance(data, str)
    assert faults(picture.draw(data, THEMES["light"])) == []
    assert "nan" not in picture.caption(data)


def test_what_does_not_fit_is_said_in_a_sentence():
    poster = PANELS[0]
    assert compute_picture(poster, subject(RULE)) == (
        "plus_last_even follows a rule, and this panel is about adding two numbers"
    )
    causal = next(one for one in FIGURES if one.id == "A2")
    assert "answers a prompt, and this figure is about a rule" in causal.fits(subject(QUESTION))


def test_every_picture_is_in_the_registry_once():
    assert len({picture.id for picture in PICTURES}) == len(PICTURES)
    assert len({picture.name for picture in DRAWN}) == len(DRAWN)
    assert len(PICTURES) == sum(map(len, (FIGURES, PANELS, SPECTRA, COMPARISON, FILMS)))
    for picture in PICTURES:
        functions = picture.functions
        assert callable(functions.compute), picture.id
        assert callable(functions.perform if picture.kind == "film" else functions.draw), picture.id


def test_an_unknown_number_names_those_of_the_usual_set():
    with pytest.raises(UserError, match="no figure called 'P77'; did you mean 'P7'"):
        choose_pictures(DRAWN, ["P77"], usual=PANELS)
