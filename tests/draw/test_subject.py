"""What figures are about, against the raw weights."""

import numpy as np
import pytest

from glassformer.draw.measure.prepare import at_step, make_subject
from glassformer.draw.measure.trials import draw_trials
from glassformer.errors import UserError
from glassformer.runs.load import load
from glassformer.tasks import make_rule, tabulate
from tests.draw.conftest import NAMES, RUNS, subject_of


def weights(name):
    return {key: np.asarray(value, np.float64) for key, value in subject_of(name).model.params.items()}


@pytest.mark.parametrize("name", NAMES)
def test_pairs_come_from_the_weights(name):
    subject, w = subject_of(name), weights(name)
    embedded = w["token.weight"][:, None] + w["position.weight"][None]
    np.testing.assert_allclose(subject.embedded, embedded, atol=1e-5)
    np.testing.assert_allclose(subject.token_table, w["token.weight"], atol=1e-6)
    np.testing.assert_allclose(subject.position_table, w["position.weight"], atol=1e-5)
    size = subject.attention.head_size
    for head in range(subject.heads):
        rows = slice(head * size, (head + 1) * size)
        query, key = embedded @ w["attn.q.weight"][rows].T, embedded @ w["attn.k.weight"][rows].T
        scores = np.einsum("tpd,uqd->tpuq", query, key) / np.sqrt(size)
        np.testing.assert_allclose(subject.scores(head), scores, atol=1e-3 + 1e-5 * np.abs(scores).max())


@pytest.mark.parametrize("name", NAMES)
def test_messages_add_up_to_what_attention_writes(name):
    subject = subject_of(name)
    contexts = subject.trials.contexts[:20]
    trace = subject.model.trace(contexts)
    places = np.arange(subject.context)
    total = sum(
        np.einsum("bqk,bkd->bqd", trace[f"attn.weights.{head}"], subject.messages[head][contexts, places])
        for head in range(subject.heads)
    )
    np.testing.assert_allclose(total, trace["attn.output"], atol=1e-4)


def test_trials_are_what_the_rule_asks():
    """Recomputed by hand for plus_last_even: after `+` the last even number before it."""
    automaton = tabulate(make_rule("plus_last_even"))
    trials = draw_trials(automaton, 8, 500)
    assert len(trials) == 500
    for context, allowed, source, following in zip(
        trials.contexts, trials.allowed, trials.source, trials.following, strict=True
    ):
        assert context[-1] == 11
        evens = [place for place, token in enumerate(context) if token < 11 and token % 2 == 0]
        assert source == evens[-1]
        assert np.flatnonzero(allowed).tolist() == [context[source]] == [following]


def test_sequences_of_the_user_come_first_and_the_last_tokens_count():
    loaded = load(RUNS / "plus_last_even")
    subject = make_subject(loaded, "x", sequences=["4 1 +", "1 2 3 4 5 6 7 8 9 +"])
    assert [" ".join(subject.labels(i)) for i in range(2)] == ["4 1 +", "3 4 5 6 7 8 9 +"]
    assert len(subject.sequences) == 3
    assert len(subject.sequences[2]) == 8


def test_another_step_is_another_model():
    subject = subject_of("plus_last_even")
    first = at_step(subject, 0)
    assert first.step == 0
    assert not np.array_equal(first.embedded, subject.embedded)
    last = at_step(subject, int(subject.past.history.steps[-1]))
    np.testing.assert_array_equal(last.embedded, subject.embedded)


def test_a_step_that_was_not_saved_names_the_nearest():
    with pytest.raises(
        UserError, match=r"step 950 was not saved; the nearest are 900 and 1,800 \(12 are saved"
    ):
        at_step(subject_of("plus_last_even"), 950)
    bare = make_subject(load(RUNS / "plus_last_even" / "params.safetensors"), "bare")
    with pytest.raises(UserError, match="bare has no saved steps"):
        at_step(bare, 0)


@pytest.mark.parametrize("text", ["+", "+@8", "@3", "12@3", "+@x"])
def test_bad_queries_are_refused(text):
    with pytest.raises(UserError):
        make_subject(load(RUNS / "plus_last_even"), "x", query=text)


def test_a_query_is_a_token_at_a_place():
    assert make_subject(load(RUNS / "plus_last_even"), "x", query="+@7").query == (11, 7)
