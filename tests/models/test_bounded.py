"""Numbers with bounds hold what they say: real values over the box, deployed values within the error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from glassformer.models.bounded import BoundedArray, bound_constant, bound_coordinate, separate_row_errors
from glassformer.models.float_format import FloatFormat
from glassformer.models.forward import forward
from glassformer.models.ops_bounded import BoundedOps
from glassformer.models.ops_numpy import NumpyOps
from glassformer.runs.load import load_model
from glassformer.tasks import add_digits

FUNCTIONS = ["exp", "sqrt", "sin", "cos", "abs", "relu", "gelu", "silu"]


def box(seed, precision="float32", real=False):
    """Two coordinates and three numbers that depend on them, and where they are for coordinates y."""
    random, floats = np.random.default_rng(seed), FloatFormat(precision, real)
    low = random.normal(size=2) * 3
    high = low + random.exponential(size=2) * random.choice([0.01, 1.0])
    x, y = (bound_coordinate(floats, i, 2, low[i : i + 1], high[i : i + 1]) for i in range(2))
    points = low + (high - low) * random.random((200, 2))
    points = np.concatenate([points, [low, high]]).astype(precision).clip(low, high)
    return x, y, points


def holds(value: BoundedArray, real: np.ndarray, deployed: np.ndarray):
    low, high = value.range()
    assert ((low <= real) & (real <= high)).all()
    assert (np.abs(deployed - real) <= value.off + 1e-15 * np.abs(real)).all()


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_functions(name, seed):
    x, y, points = box(seed)
    ops, plain, single = BoundedOps("float32"), NumpyOps("float64"), NumpyOps("float32")
    a, b = points.T
    inside = x * y + x if name != "sqrt" else x * x + y * y + 0.5
    argument = a * b + a if name != "sqrt" else a * a + b * b + 0.5
    a32, b32 = a.astype(np.float32), b.astype(np.float32)
    deployed = a32 * b32 + a32 if name != "sqrt" else a32 * a32 + b32 * b32 + np.float32(0.5)
    if name == "exp" and np.abs(argument).max() > 60:
        return
    exact = (a32 == a) & (b32 == b)  # the points that single precision has
    found = getattr(ops, name)(inside)
    real = argument * ndtr(argument) if name == "gelu" else getattr(plain, name)(argument)
    holds(found, real[exact], getattr(single, name)(deployed)[exact].astype(float))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), real=st.booleans())
def test_quotients_and_differences(seed, real):
    x, y, points = box(seed, "float64", real)
    a, b = points.T
    with np.errstate(all="ignore"):  # a wide box has no bounds, and says so
        found = (x - y * 0.25) / (y * y + 1.0) - x
    if not np.isfinite(found.off + found.radius).all():
        return
    value = (a - b * 0.25) / (b * b + 1.0) - a
    holds(found, value, value)


def test_what_depends_on_one_coordinate_cancels():
    x = bound_coordinate(FloatFormat("float64"), 0, 1, np.array(-5.0), np.array(5.0))
    low, high = (x - x * 1.000001).range()
    assert -5.1e-6 < low < 0 < high < 5.1e-6


def test_what_comes_of_one_rounding_cancels():
    """x / |x| does not see the rounding of x: told apart, its error stays far below the sum of magnitudes."""
    floats = FloatFormat("float32")
    row = np.array([[3.0], [4.0]])
    x = BoundedArray(floats, row, None, 0 * row, None, 1e-4 * row)  # 1 part in 10,000 off, both alike
    alike = BoundedArray(floats, row, None, 0 * row, 1e-4 * row[None], 0 * row)
    ops = BoundedOps("float32")

    def unit(value):
        return value / ops.sqrt(ops.sum(value * value, 0))

    assert unit(alike).off.max() < 1e-6 < 1e-4 < unit(x).off.max()
    assert separate_row_errors(x, 3).noise.shape == (5, 2, 1)


def test_division_by_what_may_be_zero_has_no_bounds():
    x = bound_coordinate(FloatFormat("float64"), 0, 1, np.array(-1.0), np.array(1.0))
    with np.errstate(invalid="ignore"):
        assert not np.isfinite((1.0 / x).radius)


def test_overflow_is_an_infinite_error():
    huge = bound_constant(FloatFormat("float32"), np.array([1e30]))
    assert (huge * huge).off == np.inf
    assert (huge * 2.0).off < np.inf


@pytest.mark.parametrize(
    "name",
    ["microadder-57", "glass-23", "rope-62", "nanogpt-58-repaired", "hand-10", "tinyadder-95-repaired"],
)
def test_the_whole_pass(name):
    """Concrete inputs through the model's own pass: the deployed logits lie within the error."""
    model = load_model(name)
    layout, random = model.addition.written(), np.random.default_rng(0)
    x, y = random.integers(0, 10, (2, layout.digits, 5))
    tokens = layout.encode(x, y, add_digits(x, y, 10))[:-1]
    ops = BoundedOps(model.architecture.precision)
    params = {key: ops.array(part) for key, part in model.params.items()}
    with np.errstate(all="ignore"):
        found = forward(model.architecture, ops, params, tokens, last=11)
    written = found.centre > -1e29
    off = np.abs(model.logits(tokens, last=11) - found.centre)
    assert (off <= found.off + found.reach)[written].all()


@pytest.mark.parametrize("name", ["microadder-57", "glass-8", "rope-62", "nanogpt-58"])
def test_the_whole_pass_in_another_backend(name):
    """JAX adds in an order of its own, fuses, and has other functions: its logits lie within any's error."""
    import jax.numpy as jnp

    from glassformer.models.ops_jax import JaxOps

    model = load_model(name)
    layout, random = model.addition.written(), np.random.default_rng(0)
    x, y = random.integers(0, 10, (2, layout.digits, 5))
    tokens = layout.encode(x, y, add_digits(x, y, 10))[:-1]
    ops, jax_ops = BoundedOps(model.architecture.precision, any_backend=True), JaxOps()
    with np.errstate(all="ignore"):
        given = {key: ops.array(part) for key, part in model.params.items()}
        found = forward(model.architecture, ops, given, tokens, last=11)
    params = {key: jnp.asarray(part) for key, part in model.params.items()}
    logits = np.asarray(forward(model.architecture, jax_ops, params, jnp.asarray(tokens), last=11), float)
    known = np.isfinite(found.off) & (found.centre > -1e29)
    assert known.mean() > 0.5  # nanogpt's large scores have no bound at its first step
    assert (np.abs(logits - found.centre) <= found.off + found.reach)[known].all()
