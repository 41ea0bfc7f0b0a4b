"""The examples of the page run as they stand, and its tables name every part."""

import doctest
import typing
from pathlib import Path

import pytest

from glassformer.models.head import Head
from glassformer.models.norm import Norm
from glassformer.models.position import Position
from glassformer.models.projection import AnyProjection
from glassformer.models.relations import Relation
from glassformer.models.token import Token

PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def test_examples():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried) == (0, PAGE.read_text().count(">>> "))


@pytest.mark.parametrize("union", [Token, Position, Relation, AnyProjection, Norm, Head])
def test_every_part_has_a_row(union):
    for part in typing.get_args(union):
        assert f"| `{part.__name__}`, `{part.kind}` |" in PAGE.read_text()
