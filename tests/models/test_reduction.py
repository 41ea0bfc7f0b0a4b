"""Angles of every size, against Arb."""

import numpy as np
from flint import arb, ctx

from glassformer.models.reduction import _compute_pi, reduce_quarter_turns


def test_the_rest_is_that_of_the_angle():
    random = np.random.default_rng(0)
    x = random.normal(size=3000) * 10.0 ** random.uniform(-3, 300, 3000)
    x = np.concatenate([x, np.arange(-50, 51) * np.pi / 4, [0.0, 5e-324, 1.7e308, 2.0**1023]])
    quarter, rest = reduce_quarter_turns(x)
    before, ctx.prec = ctx.prec, 1400
    for angle, turns, left in zip(x, quarter, rest, strict=True):
        exact = arb(float(angle)) - arb(float(left))
        count = (exact * 2 / arb.pi() + arb(0.5)).floor()
        off = abs(exact - count * arb.pi() / 2)
        assert float(off) <= 2.6 * 2**-53 * abs(float(left)) + 2.0**-100
        assert int(count.unique_fmpz()) % 4 == int(turns) % 4, angle
    ctx.prec = before
    assert np.abs(rest).max() < 0.786


def test_pi_to_1400_bits():
    before, ctx.prec = ctx.prec, 1600
    assert abs(arb(_compute_pi(1400)) - arb.pi() * arb(2) ** 1400) < 2
    ctx.prec = before


def test_what_is_no_number_has_no_rest():
    with np.errstate(invalid="ignore"):
        assert np.isnan(reduce_quarter_turns(np.array([np.inf, -np.inf, np.nan]))[1]).all()
