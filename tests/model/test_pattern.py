"""Patterns: matrices written out entry by entry; and a direction that one input takes."""

import numpy as np
import pytest

from glassformer.errors import UserError
from glassformer.model.ops_numpy import NumpyOps
from glassformer.model.projection import Direction, Pattern
from glassformer.runs.tree import from_tree, to_tree

OPS = NumpyOps()
HINGES = Pattern(entries=("-gap -1", "0 gap", "1 rise"))


def test_a_name_that_comes_again_is_stored_once():
    assert list(HINGES.parameters("ff.up", 3, 2)) == ["ff.up.gap", "ff.up.rise"]


def test_entries_and_signs():
    params = {"ff.up.gap": np.array(5.0), "ff.up.rise": np.array(7.0)}
    assert HINGES.weight(OPS, params, "ff.up", 3, 2).tolist() == [[-5, -1], [0, 5], [1, 7]]


def test_precision_is_kept():
    params = {"ff.up.gap": np.float32(5.0), "ff.up.rise": np.float32(7.0)}
    assert HINGES.weight(NumpyOps("float32"), params, "ff.up", 3, 2).dtype == np.float32


def test_jax_makes_the_same_matrix():
    from glassformer.model.ops_jax import JaxOps

    params = {"ff.up.gap": np.float32(5.0), "ff.up.rise": np.float32(7.0)}
    assert HINGES.weight(JaxOps(), params, "ff.up", 3, 2).tolist() == [[-5, -1], [0, 5], [1, 7]]


def test_survives_a_file():
    assert from_tree(Pattern, to_tree(HINGES), "model.ff.up") == HINGES


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (("a 1",), "ff.up.entries must be 2 texts of 2 entries, but it is ('a 1',)"),
        (("a 1", "b"), "ff.up.entries must be 2 texts of 2 entries, but it is ('a 1', 'b')"),
        (
            ("a 2", "b 0"),
            "ff.up.entries must be 0, 1, -1 and names other than bias, but it is ('a 2', 'b 0')",
        ),
        (
            ("a 1", "bias 0"),
            "ff.up.entries must be 0, 1, -1 and names other than bias, but it is ('a 1', 'bias 0')",
        ),
    ],
)
def test_errors(entries, message):
    with pytest.raises(UserError) as error:
        Pattern(entries=entries).parameters("ff.up", 2, 2)
    assert str(error.value) == message


def test_a_direction_that_one_input_takes():
    column = Direction().weight(OPS, {"attn.q.angle": np.array(np.pi / 2)}, "attn.q", 2, 1)
    assert column.round(12).tolist() == [[0], [1]]
