"""As many learned numbers as the rank, and the same logits."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.architecture import make_reference_architecture
from glassformer.models.count import count_parameters
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.training.flat import make_flat_layout
from glassformer.training.reduce import reduce_model

MODEL = replace(make_reference_architecture(vocab=3, context=2), precision="float64")
TOKENS = np.random.default_rng(0).integers(0, 3, (2, 9))


def drawn(model):
    random = np.random.default_rng(1)
    return {name: random.normal(size=one.shape) for name, one in list_parameters(model).items()}


@cache
def reduced():
    return reduce_model(MODEL, drawn(MODEL), TOKENS, 2)


@pytest.mark.slow
def test_a_reference_model_loses_what_it_does_not_need():
    """Query and key biases, turns of query and key, and a shift of all logits."""
    model, params = MODEL, drawn(MODEL)
    before = count_parameters(model, params, TOKENS, 2)
    found = reduced()
    assert before.rank == found.rank == make_flat_layout(found.architecture).size < before.learned
    assert len(found.dead) + len(found.redundant) == before.learned - before.rank
    logits = [Model(*pair).logits(TOKENS) for pair in ((model, params), (found.architecture, found.params))]
    np.testing.assert_allclose(logits[0], logits[1], rtol=0, atol=1e-7 * np.abs(logits[0]).max())
    assert sum(one.value == 0 for one in found.redundant) > 0


@pytest.mark.slow
def test_a_model_at_its_rank_stays_as_it_is():
    once = reduced()
    twice = reduce_model(once.architecture, once.params, TOKENS, 2)
    assert twice.architecture == once.architecture and not (twice.dead or twice.redundant)


def test_a_large_model_is_refused():
    model = make_reference_architecture(vocab=12)
    with pytest.raises(UserError, match="250 learned parameters; the rank is computed for at most 200"):
        reduce_model(model, drawn(model), np.zeros((8, 1), np.int64), 8)
