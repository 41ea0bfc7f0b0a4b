"""Parameters: sizes, and the widths of their first values."""

import pytest

from glassformer.core.errors import UserError
from glassformer.models.parameter import (
    make_constant_parameter,
    make_normal_parameter,
    make_uniform_parameter,
    make_weight_parameter,
)


def test_sizes():
    assert [
        p.size
        for p in (
            make_normal_parameter((12, 2)),
            make_uniform_parameter((3,), 1.0),
            make_constant_parameter((), 2.5),
        )
    ] == [24, 3, 1]


@pytest.mark.parametrize(
    ("start", "half_width"), [("fan_in", 0.5), ("xavier", 1.0), ("unit", 1.0), ("zero", 0.0)]
)
def test_starts_of_a_weight(start, half_width):
    weight = make_weight_parameter(2, 4, start)
    assert (weight.shape, weight.scale) == ((2, 4), pytest.approx(half_width))


def test_frozen_is_stored_but_not_learned():
    weight = make_normal_parameter((2, 3))
    assert (weight.learned, weight.frozen().learned, weight.frozen().size) == (True, False, 6)


def test_a_gram_start_is_for_square_weights():
    """With 3 columns U has 4 rows, and the scale is that of W' W / sqrt(4), W xavier: (6 / 7) / 2."""
    assert (make_weight_parameter(3, 3, "gram").law, make_weight_parameter(3, 3, "gram").scale) == (
        "gram",
        pytest.approx(3 / 7),
    )
    with pytest.raises(
        UserError, match="a weight that starts as a gram matrix must be square, but it is '2 x 3'"
    ):
        make_weight_parameter(2, 3, "gram")
