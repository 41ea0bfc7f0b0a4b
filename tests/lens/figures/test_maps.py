"""One dead head does not spoil a scale."""

import numpy as np

from glassformer.lens.figures.maps import choose_colour_scale


def test_one_dead_head_does_not_spoil_a_scale():
    crowd = np.linspace(50, 60, 200)
    assert choose_colour_scale(np.r_[2.0, crowd]).low > 49
    assert choose_colour_scale(crowd).low == 50
    assert choose_colour_scale(np.full(4, 7.0)).low < 7 < choose_colour_scale(np.full(4, 7.0)).high
    signed = choose_colour_scale(np.array([-0.2, 0.9]), is_signed=True)
    assert (signed.low, signed.high) == (-0.9, 0.9)
