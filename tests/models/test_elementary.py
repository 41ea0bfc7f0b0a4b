"""Functions of our own: as exact as they say, and the same bits whatever the processor has."""

import os
import subprocess
import sys

import numpy as np
import pytest
from flint import arb, ctx

from glassformer.models import elementary
from glassformer.models.elementary import compute_one, find_arcsine, raise_number, round_once, take_logarithm
from tools.elementary import derive, fit

UNIT = 2.0**-53
TRUTHS = {
    "exp": lambda x: x.exp(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "logistic": lambda x: 1 / (1 + (-x).exp()),
    "measure_normal_share": lambda x: (-x / arb(2).sqrt()).erfc() / 2,
    "silu": lambda x: x / (1 + (-x).exp()),
    "gelu": lambda x: x * (-x / arb(2).sqrt()).erfc() / 2,
}
FEATURES = ("", "X86_V4 AVX512_ICL", "X86_V3 X86_V4 AVX512_ICL")


@pytest.fixture(autouse=True)
def precise():
    before, ctx.prec = ctx.prec, 160
    yield
    ctx.prec = before


def points(count=20_000):
    random = np.random.default_rng(0)
    return random.normal(size=count) * random.choice([1e-3, 0.1, 1, 3, 10, 100], count)


def measure_errors(name, x):
    """In units of 2^-53, of 1 or, for exp, of the value."""
    found = round_once(getattr(elementary, name), x)
    truth = [TRUTHS[name](arb(float(one))) for one in x]
    off = [abs(arb(float(y)) - t) for y, t in zip(found, truth, strict=True)]
    if name == "exp":
        off = [o / abs(t) for o, t in zip(off, truth, strict=True)]
    return np.array([float(o.abs_upper()) for o in off]) / UNIT


def test_errors_are_derived_from_the_formulas_themselves():
    found = derive()
    assert found["exp"] <= elementary.EXP_UNITS
    assert found["sin, cos"] <= elementary.WAVE_UNITS
    assert max(found["logistic"], found["share"]) <= elementary.SHARE_UNITS


def test_the_tail_is_the_fit():
    assert tuple(fit()) == elementary._TAILS


@pytest.mark.parametrize("name", TRUTHS)
def test_errors_stay_below_what_was_derived(name):
    x = points()
    bound = {"exp": elementary.EXP_UNITS, "sin": elementary.WAVE_UNITS, "cos": elementary.WAVE_UNITS}
    of_x = np.maximum(np.abs(x), 1e-300) if name in ("silu", "gelu") else 1.0
    assert (measure_errors(name, x) <= (bound.get(name, elementary.SHARE_UNITS) + 1) * of_x).all()


@pytest.mark.parametrize("name", ["exp", "sin", "cos", "silu", "gelu"])
def test_float32_is_rounded_once(name):
    """Half a unit in the last place; a scan of all 2^32 arguments is in tools/elementary.py."""
    x = points().astype(np.float32)
    with np.errstate(under="ignore"):
        found = round_once(getattr(elementary, name), x)
    exact = np.array([float(TRUTHS[name](arb(float(one)))) for one in x])
    kept = np.isfinite(found)
    assert (np.abs(found - exact)[kept] <= 0.5001 * np.spacing(np.abs(found[kept]))).all()


def test_ends_of_the_range():
    with np.errstate(over="ignore"):
        found = round_once(elementary.exp, np.array([-np.inf, np.inf, np.nan, -745.0, -1e4, 709.7, 710.0]))
    np.testing.assert_array_equal(found[[0, 1, 2, 4, 6]], [0, np.inf, np.nan, 0, np.inf])
    assert found[3] == 5e-324 and found[5] < np.finfo(float).max
    assert np.isnan(round_once(elementary.sin, np.array([np.inf, np.nan]))).all()
    far = round_once(elementary.gelu, np.array([-1e300, -50.0, 50.0, 1e300]))
    np.testing.assert_array_equal(far, [0, 0, 50, 1e300])


def test_a_number_gives_the_same_bits_wherever_it_stands():
    x = points(40_000)
    every = round_once(elementary.gelu, x)
    for first, stop in ((0, 1), (5, 90), (16_000, 17_003)):
        assert np.array_equal(round_once(elementary.gelu, x[first:stop].copy()), every[first:stop])
    assert round_once(elementary.exp, np.float32(1.0)).shape == ()


PROGRAM = """
import hashlib, numpy as np
from glassformer.models import elementary
from glassformer.models.elementary import round_once
from glassformer.models.ops_numpy import NumpyOps
random, found = np.random.default_rng(0), hashlib.sha256()
for dtype in ("float32", "float64"):
    x = (random.normal(size=5000) * random.choice([0.1, 1, 10, 1e6], 5000)).astype(dtype)
    for name in ("exp", "sin", "cos", "silu", "gelu"):
        found.update(round_once(getattr(elementary, name), x).tobytes())
    ops = NumpyOps(dtype)
    weight, x, v = (random.normal(size=shape).astype(dtype) for shape in ((7, 40), (40, 33, 5), (3, 33, 5)))
    y = ops.linear(weight, x)
    shares = ops.softmax(ops.scores(y, y), 0.0)
    for part in (y, shares, ops.mix(shares, v), ops.mix(shares[:, :, :1], v), ops.sum(x, 0)):
        found.update(np.ascontiguousarray(part).tobytes())
print(found.hexdigest())
"""


def test_processors_with_other_features_get_the_same_bits():
    """NumPy without the instructions that its own functions and sums take their shortcuts by."""
    found = set()
    for features in FEATURES:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM],
            env=os.environ | {"NPY_DISABLE_CPU_FEATURES": features},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1


def test_single_numbers():
    assert compute_one(elementary.cos, 0.0) == 1.0
    assert raise_number(10_000.0, -0.5) == 0.01
    assert take_logarithm(10.0) == pytest.approx(2.302585092994046, abs=0)
    for value in (-0.9, 0.0, 0.3, 0.9):
        assert compute_one(elementary.sin, find_arcsine(value)) == pytest.approx(value, abs=3e-16)
