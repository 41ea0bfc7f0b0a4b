"""Operations for inside a GPU kernel: every number of the stream is a lane vector of its own.

A kernel has no small arrays, no slices and no stacks; it has registers. So `dim pos batch` becomes a NumPy
array of objects, `dim 1 1`, and each object a `Lane`: one number for each problem of a batch, in registers.
The parts of a model run on it as they are. A plain number stays one, and zeros and ones cost nothing.

>>> import jax.numpy as jnp
>>> x = make_lanes([jnp.array([1.0, 2.0]), jnp.array([3.0, 5.0])]).reshape(2, 1, 1)
>>> y = LaneOps().linear(np.array([[2.0, 0.0], [0.0, 1.0]], dtype=object), x)
>>> [lane.value.tolist() for lane in y[:, 0, 0]]
[[2.0, 4.0], [3.0, 5.0]]
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from glassformer.models.blocks import Blocks, map_blocks, to_dense

Value = Any
# Kernels have no erf of their own. P and Q of erf(x) = x P(x^2) / Q(x^2), lowest power first: fitted by least
# squares up to |x| = 4, where erf is 1 to float32. Off by 4e-7 at most (tests/models/test_ops_lanes.py).
ERF_LIMIT = 4.0
ERF_TOP = (1.12837914, 0.193543044, 0.0531014707, 0.00388325444, 0.0002845634, 1.98679206e-06)
ERF_BOTTOM = (1.0, 0.504855613, 0.115349158, 0.0152070733, 0.00118554845, 3.74201433e-05)


@jax.custom_jvp
def _invert(x: jax.Array) -> jax.Array:
    """1 / x, whose slope needs no division of its own."""
    return 1.0 / x


@_invert.defjvp
def _invert_slope(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    (x,), (change,) = primals, tangents
    inverse = 1.0 / x
    return inverse, -inverse * inverse * change


@jax.custom_jvp
def _take_root(x: jax.Array) -> jax.Array:
    """The square root; its slope shares the inverse with whatever is divided by it."""
    return jnp.sqrt(x)


@_take_root.defjvp
def _take_root_slope(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    (x,), (change,) = primals, tangents
    root = jnp.sqrt(x)
    return root, 0.5 * (1.0 / root) * change


class Lane:
    """A number for each lane; adding 0, multiplying by 0 or by 1 makes no operation.

    Dividing is multiplying by an inverse, which is worked out once however many are divided by it: a GPU
    takes several operations to divide, and the slopes of a quotient divide again.
    """

    __slots__ = ("_inverse", "value")

    def __init__(self, value: jax.Array) -> None:
        self.value = value
        self._inverse: jax.Array | None = None

    @property
    def inverse(self) -> jax.Array:
        if self._inverse is None:
            self._inverse = _invert(self.value)
        return self._inverse

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray | Blocks):
            return NotImplemented
        return self if _is_constant_number(other, 0.0) else Lane(self.value + _unwrap_lane(other))

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray | Blocks):
            return NotImplemented
        return self if _is_constant_number(other, 0.0) else Lane(self.value - _unwrap_lane(other))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray | Blocks):
            return NotImplemented
        if _is_constant_number(other, 0.0):
            return 0.0
        return self if _is_constant_number(other, 1.0) else Lane(self.value * _unwrap_lane(other))

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray | Blocks):
            return NotImplemented
        if _is_constant_number(other, 1.0):
            return self
        return Lane(self.value * (other.inverse if isinstance(other, Lane) else 1 / float(other)))

    def __rsub__(self, other: Any) -> "Lane":
        return Lane(_unwrap_lane(other) - self.value)

    def __rtruediv__(self, other: Any) -> "Lane":
        return Lane(_unwrap_lane(other) * self.inverse)

    def __neg__(self) -> "Lane":
        return Lane(-self.value)

    __radd__, __rmul__ = __add__, __mul__


def _is_constant_number(value: Any, number: float) -> bool:
    return not isinstance(value, Lane) and float(value) == number


def _unwrap_lane(value: Any) -> Any:
    return value.value if isinstance(value, Lane) else float(value)


def make_lanes(values: Sequence[jax.Array]) -> np.ndarray:
    """One lane per value, as an array of objects."""
    found = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        found[place] = Lane(value)
    return found


def to_object_array(value: Value) -> np.ndarray:
    """Plain numbers as objects."""
    array = np.asarray(value, np.float64)
    return np.array(array.tolist(), dtype=object).reshape(array.shape)


def _make_elementwise(
    plain: Callable[[float], float], traced: Callable[[Any], Any]
) -> Callable[[Value], Value]:
    """A function of every number, plain or lane."""

    def one(value: Any) -> Any:
        return Lane(traced(value.value)) if isinstance(value, Lane) else plain(value)

    return lambda x: np.frompyfunc(one, 1, 1)(x)


class LaneOps:
    """What comes after attention: norms, thin weights, bends."""

    def array(self, value: Value) -> Value:
        return to_object_array(value)

    exp = staticmethod(_make_elementwise(math.exp, jnp.exp))
    sqrt = staticmethod(_make_elementwise(math.sqrt, _take_root))
    sin = staticmethod(_make_elementwise(math.sin, jnp.sin))
    cos = staticmethod(_make_elementwise(math.cos, jnp.cos))
    abs = staticmethod(_make_elementwise(abs, jnp.abs))

    def relu(self, x: Value) -> Value:
        return map_blocks(_make_elementwise(lambda v: max(v, 0.0), lambda v: jnp.maximum(v, 0.0)), x)

    def silu(self, x: Value) -> Value:
        return map_blocks(
            _make_elementwise(lambda v: v / (1 + math.exp(-v)), lambda v: v / (1 + jnp.exp(-v))), x
        )

    def gelu(self, x: Value) -> Value:
        return map_blocks(_make_elementwise(lambda v: v * (1 + math.erf(v / math.sqrt(2))) / 2, gelu), x)

    def sum(self, x: Value, axis: int) -> Value:
        return reduce(add, np.moveaxis(x, axis, 0))

    def stack(self, values: Sequence[Value], axis: int = 0) -> Value:
        return np.stack([np.asarray(value, dtype=object) for value in values], axis)

    def rows(self, values: Sequence[Value]) -> Value:
        return np.stack(values)

    def join(self, values: Sequence[Value]) -> Value:
        return np.concatenate(values)

    def linear(self, weight: Value, x: Value, bias: Value | None = None) -> Value:
        x = to_dense(x)
        total = reduce(add, (weight[:, dim, None, None] * x[dim][None] for dim in range(x.shape[0])))
        return total if bias is None else total + bias[:, None, None]

    def softmax(self, scores: Value, extra: float) -> Value:
        raise NotImplementedError("attention is done before the kernel")

    def scores(self, queries: Value, keys: Value) -> Value:
        raise NotImplementedError("attention is done before the kernel")

    def mix(self, weights: Value, values: Value) -> Value:
        raise NotImplementedError("attention is done before the kernel")

    def lookup(self, table: Value, tokens: Value) -> Value:
        raise NotImplementedError("the kernel picks a lane's row itself")

    def scatter(self, values: Value, places: tuple[tuple[int, int], ...], shape: tuple[int, int]) -> Value:
        table = to_object_array(np.zeros(shape))
        for value, place in zip(values, places, strict=True):
            table[place] = value
        return table


@jax.custom_jvp
def gelu(x: jax.Array) -> jax.Array:
    """x times the normal distribution's share below x."""
    return x * _normal_cdf(x)


@gelu.defjvp
def _gelu_slope(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    (x,), (change,) = primals, tangents
    share = _normal_cdf(x)
    density = jnp.exp(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi))
    return x * share, (share + x * density) * change


def _normal_cdf(x: jax.Array) -> jax.Array:
    return 0.5 * (1 + erf(x * (1 / math.sqrt(2))))


def erf(x: jax.Array) -> jax.Array:
    """The error function as a ratio of two polynomials of x^2."""
    x = jnp.clip(x, -ERF_LIMIT, ERF_LIMIT)
    square = x * x
    return x * _evaluate_polynomial(ERF_TOP, square) / _evaluate_polynomial(ERF_BOTTOM, square)


def _evaluate_polynomial(coefficients: Sequence[float], x: jax.Array) -> jax.Array:
    """By Horner's rule, lowest power first."""
    total = coefficients[-1] * jnp.ones_like(x)
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total
