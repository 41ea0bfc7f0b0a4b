"""Training data are marked by the rule."""

import pytest

from glassformer.pictures.figures import (
    training_data,
)
from glassformer.pictures.parts.sequence_rows import TokenKind
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.beginnings import verdicts


def test_training_data_are_marked_by_the_rule() -> None:
    data = training_data.compute(subject_of("plus_last_even"))
    assert len(data["rows"]) == 10 and len(data["spoilt"]) == 2
    for row in data["rows"]:
        expected = verdicts(row.tokens)
        assert [(int(k), int(s)) for k, s in zip(row.kinds, row.sources, strict=True)] == expected
        assert TokenKind.WRONG not in row.kinds
    for row in data["spoilt"]:
        assert row.kinds.tolist() == [kind for kind, _ in verdicts(row.tokens)]
        assert (row.kinds == TokenKind.WRONG).sum() == 1


@pytest.mark.parametrize("name", NAMES)
def test_training_data_of_every_rule_show_two_mistakes(name: str) -> None:
    data = training_data.compute(subject_of(name))
    assert [int((row.kinds == TokenKind.WRONG).sum()) for row in data["spoilt"]] == [1, 1]
    assert 0 < data["share"] <= 1
    for row in data["rows"]:
        assert all(source < place for place, source in enumerate(row.sources))
