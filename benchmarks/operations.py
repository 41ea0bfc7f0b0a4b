"""Arithmetic counted in a traced program, by kind.

    count(lambda a, b, c: a * b * c + 1.0, 2.0, 3.0, 4.0)     2 products and a sum: Counter({'plain': 3})

What is counted is what the function says, minus what its results do not need. A product of matrices is one
multiplication and one addition per term. Reading from a table, choosing between two numbers, changing signs,
types and shapes cost nothing: they are moves, not arithmetic. A division by a constant is a multiplication,
and so is one by a number that many share, with one reciprocal for them all.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.extend import core
from jax.interpreters import partial_eval

Counts = Counter[str]  # of KINDS
KINDS = ("plain", "divide", "exp", "erf", "integer")  # plain: sums, products, comparisons of size

ELEMENTWISE = {"add", "sub", "mul", "max", "min", "add_any", "square"}
REDUCTIONS = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "argmax", "argmin"}
CUMULATIVE = {"cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"}
FUNCTIONS = {
    "divide": {"sqrt", "rsqrt", "cbrt"},
    "exp": {"exp", "exp2", "expm1", "log", "log1p", "logistic", "tanh", "sin", "cos", "tan", "pow", "atan2"},
    "erf": {"erf", "erfc", "erf_inv"},
}
SPREADS = {"broadcast_in_dim", "reshape", "squeeze", "expand_dims"}
BITS = {"and", "or", "xor", "not", "shift_left", "shift_right_logical", "shift_right_arithmetic", "rem"}
MOVES = {
    "abs",
    "bitcast_convert_type",
    "broadcast_in_dim",
    "clamp",
    "concatenate",
    "convert_element_type",
    "copy",
    "copy_p",
    "dynamic_slice",
    "dynamic_update_slice",
    "eq",
    "expand_dims",
    "gather",
    "ge",
    "gt",
    "iota",
    "is_finite",
    "le",
    "lt",
    "ne",
    "neg",
    "optimization_barrier",
    "pad",
    "random_unwrap",
    "random_wrap",
    "reshape",
    "rev",
    "scatter",
    "select_n",
    "sign",
    "slice",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "transpose",
    "unstack",
}
# Threefry-2x32: 20 rounds of a sum, a turn and an exclusive or, 2 sums before and 3 after every fourth round.
THREEFRY = 20 * 3 + 2 + 5 * 3
RANDOM = {"random_bits", "random_split", "random_fold_in", "random_seed", "threefry2x32"}


@dataclass(frozen=True)
class Seen:
    """What the lines before have made."""

    sizes: dict[Any, int] = field(default_factory=dict)  # of what is spread out: how many numbers before
    inverted: set[Any] = field(default_factory=set)  # divisors whose reciprocals are there

    def size(self, variable: Any) -> int:
        return 1 if isinstance(variable, core.Literal) else self.sizes.get(variable, size_of(variable))


def count(function: Callable[..., Any], *inputs: Any) -> Counts:
    """Operations of one call; inputs are arrays or their shapes and types."""
    closed = jax.make_jaxpr(function)(*inputs)
    needed, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    return count_jaxpr(needed)


def count_jaxpr(program: Any) -> Counts:
    total: Counts = Counter()
    seen = Seen()
    for line in program.eqns:
        if line.primitive.name in SPREADS:
            seen.sizes[line.outvars[0]] = seen.size(line.invars[0])
        total += count_line(line, seen)
    return +total  # without the kinds of which there are none


def count_line(line: Any, seen: Seen) -> Counts:
    """One operation of the trace, with all that it holds."""
    inner = [part for value in line.params.values() for part in jaxprs_of(value)]
    if inner:
        return count_inner(line.primitive.name, line.params, inner)
    counts = arithmetic(line, seen)
    return counts if is_real(line) else Counter(integer=counts.total())  # an integer unit does all of them


def count_inner(name: str, params: dict[str, Any], inner: list[Any]) -> Counts:
    """Programs inside: a loop's as often as it runs; of a choice the longest."""
    if name == "while":
        raise ValueError("a loop of unknown length cannot be counted")
    each = [count_jaxpr(part) for part in inner]
    if name == "cond":
        return max(each, key=Counter.total)
    times = params["length"] if name == "scan" else 1
    return Counter({kind: times * number for kind, number in sum(each, Counter()).items()})


def arithmetic(line: Any, seen: Seen) -> Counts:
    name, out = line.primitive.name, size_of(line.outvars[0])
    if name in MOVES:
        return Counter()
    if name in ELEMENTWISE or name in BITS or name in CUMULATIVE:
        return Counter(plain=out)
    if name in REDUCTIONS:
        return Counter(plain=size_of(line.invars[0]) - out)
    if name == "dot_general":
        return Counter(plain=2 * out * summed_terms(line))
    if name in ("scatter-add", "scatter_add"):
        return Counter(plain=size_of(line.invars[2]))
    if name == "integer_pow":
        return power(line.params["y"], out)
    if name == "div":
        return division(line.invars[1], out, seen)
    if name in RANDOM:
        return Counter(plain=THREEFRY * random_calls(line, out))
    for kind, names in FUNCTIONS.items():
        if name in names:
            return Counter({kind: out})
    raise ValueError(f"no cost is known for the operation {name!r}; say it in benchmarks/operations.py")


def division(divisor: Any, out: int, seen: Seen) -> Counts:
    if isinstance(divisor, core.Literal):
        return Counter(plain=out)
    reciprocals = 0 if divisor in seen.inverted else seen.size(divisor)
    seen.inverted.add(divisor)
    return Counter(divide=reciprocals, plain=out if reciprocals < out else 0)


def power(exponent: int, out: int) -> Counts:
    """x^-3: two products and a reciprocal."""
    steps = abs(exponent)
    products = max(steps.bit_length() - 1, 0) + max(steps.bit_count() - 1, 0)
    return Counter(plain=products * out, divide=out if exponent < 0 else 0)


def summed_terms(line: Any) -> int:
    (contracted, _), _ = line.params["dimension_numbers"]
    return math.prod(line.invars[0].aval.shape[axis] for axis in contracted)


def random_calls(line: Any, out: int) -> int:
    """Calls of Threefry: one per number, however short; by JAX's older way, one for every 64 bits."""
    if jax.config.jax_threefry_partitionable or line.primitive.name != "random_bits":
        return out
    return -(-out * line.params["bit_width"] // 64)


def jaxprs_of(value: Any) -> list[Any]:
    if isinstance(value, core.ClosedJaxpr):
        return [value.jaxpr]
    if isinstance(value, core.Jaxpr):
        return [value]
    return [part for one in value for part in jaxprs_of(one)] if isinstance(value, tuple | list) else []


def size_of(variable: Any) -> int:
    return math.prod(variable.aval.shape)


def is_real(line: Any) -> bool:
    kinds = [variable.aval.dtype for variable in (*line.invars, *line.outvars)]
    return any(not jax.dtypes.issubdtype(kind, jax.dtypes.extended) and kind.kind == "f" for kind in kinds)


def bytes_of(*trees: Any) -> int:
    """Of all arrays in them."""
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(trees))
