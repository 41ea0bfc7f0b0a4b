"""Every operation with bounds against Arb, at 10^5 points each: ends and middles of boxes of every width."""

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import ndtr

from glassformer.models.bounded import bound_constant, bound_coordinate, bound_range
from glassformer.models.ops_bounded import BoundedOps
from glassformer.models.ops_numpy import NumpyOps

BOXES = 33_400  # of three points each
BITS = 160
FUNCTIONS = {
    "exp": lambda x: x.exp(),
    "sqrt": lambda x: x.sqrt(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "abs": abs,
    "relu": lambda x: x if x >= 0 else arb(0),
    "gelu": lambda x: x * (-x / arb(2).sqrt()).erfc() / 2,
    "silu": lambda x: x / (1 + (-x).exp()),
}
SUMS = {
    "added": lambda x, y: x + y,
    "taken": lambda x, y: x - y,
    "times": lambda x, y: x * y,
    "over": lambda x, y: x / y,
}


@pytest.fixture(autouse=True)
def precise():
    before, ctx.prec = ctx.prec, BITS
    yield
    ctx.prec = before


def make_boxes(seed, precision, count, positive=False):
    """Low and high ends that the precision has, at every scale, some of no width."""
    random = np.random.default_rng(seed)
    low = random.normal(size=count) * random.choice([1e-3, 0.3, 1, 3, 10, 30], count)
    low = np.abs(low) + 1e-4 if positive else low
    width = np.abs(low) * 10.0 ** random.uniform(-16, 0, count) * random.choice([0, 1, 1], count)
    low = low.astype(precision).astype(np.float64)
    high = np.maximum((low + width).astype(precision).astype(np.float64), low)
    middle = (low + (high - low) * random.random(count)).astype(precision).astype(np.float64).clip(low, high)
    return low, high, middle


def require_inside(found, points, truths, deployed):
    """The true value between both ends; what is deployed there no further off than the bound says."""
    low, high = found.range()
    for row, (point, truth) in enumerate(zip(points, truths, strict=True)):
        assert arb(low[row]) <= truth, (point, low[row], truth)
        assert truth <= arb(high[row]), (point, high[row], truth)
        if np.isfinite(found.off[row]):
            assert abs(arb(float(deployed[row])) - truth) <= arb(found.off[row]), (point, found.off[row])


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, precision):
    low, high, middle = make_boxes(1, precision, BOXES // 2, positive=name == "sqrt")
    ops, plain = BoundedOps(precision), NumpyOps(precision)
    with np.errstate(all="ignore"):
        found = getattr(ops, name)(bound_coordinate(ops.floats, 0, 1, low, high))
        for points in (low, high, middle):
            truths = [FUNCTIONS[name](arb(x)) for x in points]
            require_inside(found, points, truths, getattr(plain, name)(points.astype(precision)))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", SUMS)
def test_arithmetic(name, precision):
    act, ops = SUMS[name], BoundedOps(precision)
    first, second = (make_boxes(seed, precision, BOXES // 2, name == "over") for seed in (2, 3))
    x, y = (bound_coordinate(ops.floats, i, 2, *box[:2]) for i, box in enumerate((first, second)))
    with np.errstate(all="ignore"):
        found = act(x, y)
        for a, b in zip(first, second, strict=True):
            truths = [act(arb(p), arb(q)) for p, q in zip(a, b, strict=True)]
            require_inside(found, a, truths, act(a.astype(precision), b.astype(precision)))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("dims", [3, 40])
def test_sums_of_products(dims, precision):
    """Weights times columns that are boxes, and the sum of the columns."""
    count, ops, plain = BOXES // 40, BoundedOps(precision), NumpyOps(precision)
    weight = np.random.default_rng(0).normal(size=(1, dims)).astype(precision)
    boxes = [make_boxes(10 + dim, precision, count) for dim in range(dims)]
    x = ops.stack([bound_coordinate(ops.floats, 0, 1, low, high) for low, high, _ in boxes])
    product, total = ops.linear(bound_constant(ops.floats, weight), x)[0], ops.sum(x, 0)
    for end in (0, 1):
        columns = np.stack([box[end] for box in boxes])
        exact = [[arb(value) for value in column] for column in columns.T]
        given = [arb(float(w)) for w in weight[0]]
        truths = [sum((w * v for w, v in zip(given, column, strict=True)), arb(0)) for column in exact]
        rounded = columns.astype(precision)
        require_inside(product, columns.T, truths, plain.linear(weight, rounded)[0])
        require_inside(total, columns.T, [sum(column, arb(0)) for column in exact], plain.sum(rounded, 0))


def test_any_backend_is_allowed_more_than_our_own_pass():
    """Products within a unit, functions and quotients within eight; our own functions round once."""
    point = np.array([1.25])
    own, every = (BoundedOps("float32", any_backend=any_backend) for any_backend in (False, True))
    for name in ("exp", "sin", "cos", "gelu", "silu", "sqrt"):
        tight, loose = (getattr(ops, name)(ops.array(point)).off[0] for ops in (own, every))
        assert 4 * tight < loose < 16 * tight
    assert (every.array(point) / 3.0).off > 4 * (own.array(point) / 3.0).off
    assert (every.array(point) * 3.0).off < 1.01 * (own.array(point) * 3.0).off


@pytest.mark.parametrize("size, eps", [(1e200, 1e-5), (1e-200, 0.0), (3.0, -1.0)])
def test_a_norm_has_no_ends_of_its_own_where_its_squares_say_nothing(size, eps):
    """Overflow, underflow, or an eps below 0; what its operations found is kept."""
    ops, x = BoundedOps("float64", real=True), np.array([size, size / 2])[:, None, None]
    scaled = bound_range(ops.floats, np.full(x.shape, -9.0), np.full(x.shape, 9.0))
    found = ops.tighten_norm(bound_constant(ops.floats, x), scaled, eps)
    assert (found.centre == scaled.centre).all() and (found.radius == scaled.radius).all()


@pytest.mark.parametrize("width", [1e-6, 0.1, 3.0, 40.0])
def test_wide_ranges_hold_every_value_and_stay_finite(width):
    """Values that no coordinate moves: whatever lies in the range of x, its function lies in that of f(x)."""
    ops, random = BoundedOps("float64", real=True), np.random.default_rng(0)
    low = random.normal(size=(5, 40, 1)) * 3
    x = bound_range(ops.floats, low, low + width)
    inside = low + width * random.random((5, 40, 300))
    inside[..., 0], inside[..., 1] = low[..., 0], low[..., 0] + width
    size = (inside * inside).sum(0) / 5 + 1e-5
    root = ops.sqrt(ops.sum(x * x, 0) / 5 + 1e-5)
    cases = {
        "square": (x * x, inside * inside),
        "exp": (ops.exp(x), np.exp(inside)),
        "gelu": (ops.gelu(x), inside * ndtr(inside)),
        "silu": (ops.silu(x), inside / (1 + np.exp(-inside))),
        "inverse": (1 / (x * x + 0.5), 1 / (inside * inside + 0.5)),
        "norm": (ops.tighten_norm(x, x / root, 1e-5), inside / np.sqrt(size)),
    }
    for name, (found, values) in cases.items():
        least, most = found.range()
        room = 1e-12 * np.abs(values)
        assert np.isfinite([least, most]).all(), name
        assert (values >= least - room).all() and (values <= most + room).all(), name
    least, most = cases["norm"][0].range()
    assert most.max() <= 5**0.5 * (1 + 1e-9) and least.min() >= -(5**0.5) * (1 + 1e-9)


def test_a_wide_value_that_may_overflow_has_no_error_bound():
    ops = BoundedOps("float32")
    x = bound_range(ops.floats, np.array([0.0]), np.array([1e30]))
    assert np.isinf((x * x).error).all()
    assert np.isinf(ops.exp(x).error).all()
