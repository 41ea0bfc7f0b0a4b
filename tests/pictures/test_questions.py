"""Figures of a question: prompts and their answers instead of endless strings and a rule."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.core.theme import THEMES
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.pictures.figures import architecture, worked_example
from glassformer.pictures.measure.demand import describe_answer
from glassformer.pictures.measure.hidden_units import expand_projection
from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.registry import FIGURES, FILMS, choose_usual_pictures
from glassformer.pictures.video.render import stage_film
from glassformer.runs.load import load_model
from glassformer.runs.questions import make_modular_adder
from tests.pictures.conftest import RUNS, subject_of
from tests.pictures.faults import faults
from tests.selection import each

NAME = "modular11"  # the sum of two numbers modulo 11, of width 2, right on all prompts
DRAWN = [picture.id for picture in choose_usual_pictures(subject_of(NAME))]


@pytest.mark.parametrize("id", each(3, DRAWN))
def test_no_figure_has_a_fault_or_speaks_of_a_rule(id):
    picture = next(one for one in choose_usual_pictures(subject_of(NAME)) if one.id == id)
    data = picture.compute(subject_of(NAME))
    figure = picture.draw(data, THEMES["light"])
    assert faults(figure) == []
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert not any("rule" in text.lower() for text in [*texts, picture.caption(data)])


def test_the_usual_set_is_what_fits():
    assert {"01", "05", "07", "15", "A3", "P1", "P7"} <= set(DRAWN)
    assert {"A1", "A2", "P0", "P2", "P9"}.isdisjoint(DRAWN)


def test_nothing_but_the_answer_is_demanded_and_no_token_alone_decides_it():
    subject = make_subject(load_model(RUNS / NAME), NAME, sequences=["7 9 ="])
    *before, last = subject.demands(0)
    assert before == [None, None]
    assert np.flatnonzero(last).tolist() == [5]
    assert subject.source(0) is None


def test_the_verdict_on_an_answer_is_in_the_words_of_the_task():
    subject = make_subject(load_model(RUNS / NAME), NAME, sequences=["7 9 ="])
    sure = np.eye(12)
    assert describe_answer(subject.tokens, sure[5], subject.demanded(0), subject.words).endswith(
        "as the task demands"
    )
    wrong = describe_answer(subject.tokens, sure[4], subject.demanded(0), subject.words)
    assert wrong == "the model gives 100% to 4, but the answer is 5 (0% together)"


def test_a_sequence_must_be_a_whole_prompt():
    with pytest.raises(UserError, match="--sequence must be a prompt of 3 tokens"):
        make_subject(load_model(RUNS / NAME), NAME, sequences=["7 9"])
    with pytest.raises(UserError, match=f"--pair is for adders; {NAME} answers a prompt: --sequence"):
        make_subject(load_model(RUNS / NAME), NAME, pair=(1, 2))


@pytest.mark.parametrize("film", FILMS, ids=[film.id for film in FILMS])
def test_films_have_frames(film):
    first, last = (
        frame.copy() for frame in stage_film(film, subject_of(NAME), [0, 11], THEMES["light"], 480).frames()
    )
    assert (first != last).any()


def subject_of_six():
    """The adder of six parameters, all of them 1: its attention is the same everywhere."""
    shape = replace(make_modular_adder(), vocab=12)
    fixed = {entry.name: entry.value for entry in shape.fixed}
    numbers = {
        name: np.full(one.shape, fixed.get(name, 1.0), "f4") for name, one in list_parameters(shape).items()
    }
    subject = make_subject(load_model(RUNS / NAME), NAME, sequences=["7 9 ="])
    return replace(subject, model=Model(shape, numbers))


def test_figures_of_scores_need_scores():
    """There is no variance that anything could explain."""
    drawn = {picture.id for picture in choose_usual_pictures(subject_of_six())}
    assert {"09", "10", "13", "S2", "S5"}.isdisjoint(drawn) and {"13", "S2"} <= set(DRAWN)
    picture = next(one for one in FIGURES if one.id == "S2")
    assert picture.fits(subject_of_six()).endswith(
        "scores that no token changes: its queries or its keys are all 0"
    )


def test_what_is_said_of_equal_attention_and_of_the_answer():
    sentences = worked_example.compute(subject_of_six())["sentences"]
    assert sentences["encode"] == "= (p2) enters as a point; the answer, 5, stands nowhere yet."
    assert sentences["detect"] == "All positions have the same score, 0.0."
    assert sentences["retrieve"].startswith("All 3 positions get 33")


def test_fixed_numbers_are_no_parameters():
    title = architecture.title(architecture.compute(subject_of_six()))
    assert title.startswith("6 parameters and 3 fixed numbers")


def test_hidden_units_of_a_padded_projection_have_a_matrix():
    """Its output is in blocks, the zeros around it one of them."""
    down = make_modular_adder().layers[0].feedforward.down
    assert expand_projection(subject_of_six(), down, "ff.down", 2, 2)[0].tolist() == [[0, 0], [-1, 1]]
