"""Figures of a question: prompts and their answers instead of endless strings and a rule."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from glassformer.draw.figures import architecture, worked_example
from glassformer.draw.measure.demand import verdict
from glassformer.draw.measure.hidden_units import as_matrix
from glassformer.draw.measure.landings import require_true_slice
from glassformer.draw.measure.prepare import make_subject
from glassformer.draw.measure.trials import draw_trials
from glassformer.draw.registry import FIGURES, FILMS, usual_pictures
from glassformer.draw.theme import INTEGERS, THEMES, colours_for, token_colour
from glassformer.draw.video.render import perform
from glassformer.errors import UserError
from glassformer.model.forward import parameters
from glassformer.model.model import Model
from glassformer.runs.load import load
from glassformer.runs.questions import small_adder
from glassformer.tasks import make_task, tabulate
from tests.draw.conftest import RUNS, subject_of
from tests.draw.faults import faults
from tests.selection import each

NAME = "modular11"  # the sum of two numbers modulo 11, of width 2, right on all prompts
DRAWN = [picture.id for picture in usual_pictures(subject_of(NAME))]


@pytest.mark.parametrize("id", each(3, DRAWN))
def test_no_figure_has_a_fault_or_speaks_of_a_rule(id):
    picture = next(one for one in usual_pictures(subject_of(NAME)) if one.id == id)
    data = picture.compute(subject_of(NAME))
    figure = picture.draw(data, THEMES["light"])
    assert faults(figure) == []
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert not any("rule" in text.lower() for text in [*texts, picture.caption(data)])


def test_the_usual_set_is_what_fits():
    assert {"01", "05", "07", "15", "A3", "P1", "P7"} <= set(DRAWN)
    assert {"A1", "A2", "P0", "P2", "P9"}.isdisjoint(DRAWN)


def test_trials_are_whole_prompts_with_their_answers():
    """Recomputed by hand: a, b, = and a + b modulo 5."""
    trials = draw_trials(tabulate(make_task("modular", p=5)), 3, 200)
    a, b, mark = trials.contexts.T
    assert (mark == 5).all() and len(trials) == 200
    assert ((a + b) % 5 == trials.following).all()
    assert (trials.allowed.argmax(1) == trials.following).all() and (trials.allowed.sum(1) == 1).all()
    assert not trials.source.any()


def test_nothing_but_the_answer_is_demanded_and_no_token_alone_decides_it():
    subject = make_subject(load(RUNS / NAME), NAME, sequences=["7 9 ="])
    *before, last = subject.demands(0)
    assert before == [None, None]
    assert np.flatnonzero(last).tolist() == [5]
    assert subject.source(0) is None


def test_the_verdict_on_an_answer_is_in_the_words_of_the_task():
    subject = make_subject(load(RUNS / NAME), NAME, sequences=["7 9 ="])
    sure = np.eye(12)
    assert verdict(subject.tokens, sure[5], subject.demanded(0), subject.words).endswith(
        "as the task demands"
    )
    wrong = verdict(subject.tokens, sure[4], subject.demanded(0), subject.words)
    assert wrong == "the model gives 100% to 4, but the answer is 5 (0% together)"


def test_a_sequence_must_be_a_whole_prompt():
    with pytest.raises(UserError, match="--sequence must be a prompt of 3 tokens"):
        make_subject(load(RUNS / NAME), NAME, sequences=["7 9"])
    with pytest.raises(UserError, match=f"--pair is for adders; {NAME} answers a prompt: --sequence"):
        make_subject(load(RUNS / NAME), NAME, pair=(1, 2))


@pytest.mark.parametrize("film", FILMS, ids=[film.id for film in FILMS])
def test_films_have_frames(film):
    first, last = (
        frame.copy() for frame in perform(film, subject_of(NAME), [0, 11], THEMES["light"], 480).frames()
    )
    assert (first != last).any()


def test_many_integers_are_on_a_scale():
    few, many = ([str(number) for number in range(count)] for count in (len(INTEGERS), 64))
    with colours_for(few):
        assert token_colour("3") == INTEGERS[3]
    with colours_for(many):
        assert len({token_colour(token) for token in many}) == 64
    assert token_colour("3") == INTEGERS[3]


def subject_of_six():
    """The adder of six parameters, all of them 1: its attention is the same everywhere."""
    shape = replace(small_adder(), vocab=12)
    fixed = {entry.name for entry in shape.fixed}
    numbers = {name: np.full(one.shape, name not in fixed, "f4") for name, one in parameters(shape).items()}
    subject = make_subject(load(RUNS / NAME), NAME, sequences=["7 9 ="])
    return replace(subject, model=Model(shape, numbers))


def test_figures_of_scores_need_scores():
    """There is no variance that anything could explain."""
    drawn = {picture.id for picture in usual_pictures(subject_of_six())}
    assert {"09", "10", "13", "S2", "S5"}.isdisjoint(drawn) and {"13", "S2"} <= set(DRAWN)
    picture = next(one for one in FIGURES if one.id == "S2")
    assert picture.fits(subject_of_six()).endswith("for its queries or its keys are all 0")


def test_what_is_said_of_equal_attention_and_of_the_answer():
    sentences = worked_example.compute(subject_of_six())["sentences"]
    assert sentences["encode"] == "= (p2) enters as a point; the answer, 5, stands nowhere yet."
    assert sentences["detect"] == "All places fit the query alike, with a score of 0.0."
    assert sentences["retrieve"].startswith("Each of the 3 places gets 33")


def test_fixed_numbers_are_no_parameters():
    title = architecture.title(architecture.compute(subject_of_six()))
    assert title.startswith("6 parameters and 3 fixed numbers")


def test_hidden_units_of_a_padded_projection_have_a_matrix():
    """Its output is in blocks, the zeros around it one of them."""
    down = small_adder().layers[0].feedforward.down
    assert as_matrix(subject_of_six(), down, "ff.down", 2, 2)[0].tolist() == [[0, 0], [-1, 1]]


def test_a_slice_that_shows_other_tokens_than_the_model_says_is_no_map():
    plane = SimpleNamespace(through=np.zeros(32))
    with pytest.raises(UserError, match=r"gives 3 of 10 states the token that the model predicts, too few"):
        require_true_slice(plane, {"agreeing": 3, "points": np.zeros((10, 2))})
    require_true_slice(plane, {"agreeing": 5, "points": np.zeros((10, 2))})
