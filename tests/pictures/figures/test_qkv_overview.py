"""Queries, keys and values at a glance."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    qkv_overview,
)
from tests.pictures.conftest import subject_of
from tests.pictures.figures.queries import PLAIN


@pytest.mark.parametrize("name", PLAIN)
def test_variance_shares_take_token_and_place_apart(name):
    """The reference model's queries are a token's part plus a place's: the shares are theirs, and all."""
    subject = subject_of(name)
    params = subject.model.params
    shares = qkv_overview.compute(subject)["shares"]
    for head in range(subject.heads):
        size = params["attn.q.weight"].shape[0] // subject.heads
        weight = params["attn.q.weight"][head * size : (head + 1) * size].astype(np.float64)
        token, place = ((params[f"{part}.weight"] @ weight.T).var(0).sum() for part in ("token", "position"))
        assert shares[head]["q"][0] == pytest.approx(token / (token + place), abs=1e-5)
        assert sum(shares[head]["q"]) == pytest.approx(1.0, abs=1e-5)
