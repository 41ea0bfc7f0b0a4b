"""Generated sequences are those of the model."""

from dataclasses import replace

import numpy as np

from glassformer.core.share import MeasuredShare
from glassformer.pictures.figures import (
    generated,
)
from glassformer.pictures.measure.subject import Subject
from glassformer.runs.history import History
from tests.pictures.conftest import subject_of
from tests.pictures.figures.beginnings import plain_logits, verdicts, with_params


def test_generated_sequences_are_those_of_the_model() -> None:
    subject = subject_of("plus_last_even")
    data = generated.compute(subject)
    first = subject.past.history.at(0)
    for name, params in (("before", first), ("after", subject.model.params)):
        for row, expected in zip(data[name]["rows"], rewritten(subject, params), strict=True):
            assert row.tokens == expected
            assert row.kinds.tolist() == [kind for kind, _ in verdicts(row.tokens, given=1)]
    assert data["before"]["error"].value > 0.5 > 0.01 > data["after"]["error"].value


def rewritten(subject: Subject, params: dict[str, np.ndarray]) -> list[tuple[str, ...]]:
    """The sequences that the plain model writes with the figure's noise."""
    random, chances = np.random.default_rng(6), subject.automaton.probability[0]
    tokens = random.choice(12, (1, generated.WRITTEN), p=chances)
    for _ in range(27):
        logits = plain_logits(params, tokens[-8:].T)
        tokens = np.concatenate(
            [tokens, (logits.T + random.gumbel(size=(12, tokens.shape[1]))).argmax(0)[None]]
        )
    return [tuple(subject.tokens[token] for token in tokens[:, index]) for index in range(6)]


def test_generated_error_follows_the_weights() -> None:
    subject = subject_of("plus_last_even")
    nothing = with_params(subject, head_bias=np.r_[np.full(11, -1e4), 1e4])  # writes `+` alone
    error = generated.compute(nothing)["after"]["error"]
    assert error.value == 1.0 and error.positions == generated.WRITTEN * 48
    past = replace(
        subject.past, history=History(np.array([0]), {k: v[None] for k, v in nothing.model.params.items()})
    )
    assert generated.compute(replace(subject, past=past))["before"]["error"].value == 1.0


def test_a_model_that_writes_no_constrained_token_has_no_error_rate():
    nothing = MeasuredShare.of(0, 0)
    data = {"before": {"error": nothing, "step": 0}, "after": {"error": nothing, "step": 5}, "length": 9}
    assert "100%" not in generated.title(data)
