"""What figures are about, against the raw weights."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.pictures.measure.prepare import load_subject_step, make_subject
from glassformer.runs.load import load_model
from tests.pictures.conftest import RUNS, subject_of


def test_sequences_of_the_user_come_first_and_the_last_tokens_count():
    loaded = load_model(RUNS / "plus_last_even")
    subject = make_subject(loaded, "x", sequences=["4 1 +", "1 2 3 4 5 6 7 8 9 +"])
    assert [" ".join(subject.labels(i)) for i in range(2)] == ["4 1 +", "3 4 5 6 7 8 9 +"]
    assert len(subject.sequences) == 3
    assert len(subject.sequences[2]) == 8


def test_another_step_is_another_model():
    subject = subject_of("plus_last_even")
    first = load_subject_step(subject, 0)
    assert first.step == 0
    assert not np.array_equal(first.embedded, subject.embedded)
    last = load_subject_step(subject, int(subject.past.history.steps[-1]))
    np.testing.assert_array_equal(last.embedded, subject.embedded)


def test_a_step_that_was_not_saved_names_the_nearest():
    with pytest.raises(
        UserError, match=r"step 950 was not saved; the nearest are 900 and 1,800 \(12 are saved"
    ):
        load_subject_step(subject_of("plus_last_even"), 950)
    bare = make_subject(load_model(RUNS / "plus_last_even" / "params.safetensors"), "bare")
    with pytest.raises(UserError, match="bare has no saved steps"):
        load_subject_step(bare, 0)


@pytest.mark.parametrize("text", ["+", "+@8", "@3", "12@3", "+@x"])
def test_bad_queries_are_refused(text):
    with pytest.raises(UserError):
        make_subject(load_model(RUNS / "plus_last_even"), "x", query=text)


def test_a_query_is_a_token_at_a_place():
    assert make_subject(load_model(RUNS / "plus_last_even"), "x", query="+@7").query == (11, 7)
