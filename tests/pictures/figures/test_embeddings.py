"""Embeddings are the raw tables and their sums."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    embeddings,
)
from glassformer.pictures.parts.marks import draw_position_dots
from tests.pictures.conftest import subject_of
from tests.pictures.figures.beginnings import with_params
from tests.pictures.sheets import LIGHT, square


@pytest.mark.parametrize("name", ["plus_last_even", "lucky7"])
def test_embeddings_are_the_raw_tables_and_their_sums(name: str) -> None:
    subject = subject_of(name)
    tokens, places = (np.asarray(subject.model.params[f"{part}.weight"]) for part in ("token", "position"))
    data = embeddings.compute(subject)
    np.testing.assert_allclose(data["points"]["token"], tokens, atol=1e-6)
    np.testing.assert_allclose(data["points"]["position"], places, atol=1e-5)
    np.testing.assert_allclose(data["points"]["sum"], tokens[:, None] + places[None], atol=1e-5)
    moved = embeddings.compute(with_params(subject, token_weight=tokens + 1))
    np.testing.assert_allclose(moved["points"]["sum"], data["points"]["sum"] + 1, atol=1e-5)


def test_embeddings_on_a_line_keep_tokens_apart() -> None:
    data = embeddings.compute(subject_of("even_to_odd_transition"))
    table = np.asarray(subject_of("even_to_odd_transition").model.params["token.weight"])[:, 0]
    np.testing.assert_allclose(data["points"]["token"], np.stack([table, np.arange(21)], 1), atol=1e-6)
    assert data["planes"]["token"].labels[1] != data["planes"]["sum"].labels[1]


def test_positions_that_all_lie_on_one_point_have_one_name():
    axes, names = square(), [f"p{place}" for place in range(35)]
    draw_position_dots(axes, np.zeros((35, 2)), names, LIGHT)
    assert [text.get_text() for text in axes.texts] == ["all positions"]
