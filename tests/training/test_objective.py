"""Loss and scores against NumPy, through the model that readers use."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.models.architecture import make_reference_architecture
from glassformer.models.model import Model
from glassformer.tasks import Sequences, make_rule
from glassformer.tasks.sampler import WindowSampler
from glassformer.training.flat import make_flat_layout, sample_first_values
from glassformer.training.objective import compute_window_loss, measure_allowed_margins, score_held_out
from glassformer.training.streams import make_stream_key

MODEL = make_reference_architecture(vocab=12, width=4, head_size=4)
FLAT = make_flat_layout(MODEL)


@pytest.fixture(scope="module")
def vector():
    return (
        jax.jit(lambda: sample_first_values(MODEL, make_stream_key(5, "start")))() * 3
    )  # far from uniform predictions


@pytest.fixture(scope="module")
def held_out():
    source = WindowSampler(make_rule("plus_last_even"), Sequences(100, 20, 50), 8)
    return source.held_out(make_stream_key(0, "held_out"), 300)


def by_numpy(vector, held_out, outputs):
    """All scores, in their order, by plain loops over the counted places."""
    model = Model(MODEL, FLAT.unpack(np.asarray(vector)))
    tokens, allowed, counted = map(np.asarray, held_out)
    logits = model.forward(tokens[:-1].T).astype(np.float64)  # batch pos tok
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    losses, rights, masses, wholes, margins = [], [], [], [], []
    for which in range(tokens.shape[1]):
        whole = True
        for place in range(8 - outputs, 8):
            losses.append(-np.log(chances[which, place, tokens[place + 1, which]]))
            if counted[place, which]:
                good = allowed[:, place, which]
                is_right = good[chances[which, place].argmax()]
                whole &= bool(is_right)
                rights.append(is_right)
                masses.append(chances[which, place, good].sum())
                margins.append(logits[which, place, good].max() - logits[which, place, ~good].max())
        wholes.append(whole)
    return [*(np.mean(part) for part in (losses, rights, masses, wholes)), min(margins)]


@pytest.mark.parametrize("outputs", [8, 3])
def test_scores_agree_with_numpy(vector, held_out, outputs):
    found = jax.jit(lambda v, h: score_held_out(MODEL, FLAT, v, h, outputs))(vector, held_out)
    np.testing.assert_allclose(found, by_numpy(vector, held_out, outputs), rtol=2e-5)


def test_the_loss_is_that_of_the_scores(vector, held_out):
    value = jax.jit(lambda v, h: compute_window_loss(MODEL, FLAT, v, h.tokens, 3))(vector, held_out)
    scores = jax.jit(lambda v, h: score_held_out(MODEL, FLAT, v, h, 3))(vector, held_out)
    assert float(value) == pytest.approx(float(scores.loss), rel=1e-6)


def test_ties_with_a_wrong_token_are_failures():
    logits = jnp.array([[2.0, 2.0, 1.0, 2.0], [2.0, 1.0, 2.0, 2.0], [0.0, 0.0, 0.0, 2.0]])[:, None]
    allowed = jnp.array([[True, True, True, True], [False, False, False, True], [False, False, False, True]])
    assert (measure_allowed_margins(logits, allowed[:, None]) > 0).tolist() == [[False, True, False, True]]


def test_large_logits_do_not_overflow(vector, held_out):
    huge = vector * 1e4
    found = jax.jit(lambda v, h: score_held_out(MODEL, FLAT, v, h, 8))(huge, held_out)
    assert np.isfinite(np.array(found)).all()
