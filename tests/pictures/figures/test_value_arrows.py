"""Messages of tokens are means over places."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    value_arrows,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.sequences import CLOSE


@pytest.mark.parametrize("name", NAMES)
def test_messages_of_tokens_are_means_over_places(name: str) -> None:
    subject = subject_of(name)
    data, size = value_arrows.compute(subject), subject.attention.head_size
    w = {key: np.asarray(array, np.float64) for key, array in subject.model.params.items()}
    mean = w["token.weight"] + w["position.weight"].mean(0)  # values are linear in the embedding
    for head in range(subject.heads):
        part = slice(head * size, (head + 1) * size)
        out = (
            w["attn.out.weight"][:, part] if "attn.out.weight" in w else np.eye(subject.heads * size)[:, part]
        )
        np.testing.assert_allclose(data["moves"][head], mean @ w["attn.v.weight"][part].T @ out.T, **CLOSE)
    first = data["plane"].directions[0]
    np.testing.assert_allclose(data["starts"][:, 0], mean @ first, **CLOSE)
    np.testing.assert_allclose(data["tips"][..., 0], (mean + data["moves"]) @ first, **CLOSE)
