"""Arrays in plain Python, for a model that runs without any library: nested lists with the rules of NumPy.

An exported file carries the parts of this module that it uses, word for word.

>>> (Array([[1.0, 2.0], [3.0, 4.0]]) * Array([[10.0], [100.0]])).rows
[[10.0, 20.0], [300.0, 400.0]]
"""

# mypy: allow-untyped-defs, allow-untyped-calls
import math
import operator
from array import array
from itertools import repeat

PRECISION = "d"  # of the numbers in an array, as the module `array` says it: "f" is float32, "d" is float64


class Array:
    """Nested lists of numbers; + - * / go number by number, as NumPy's arrays do."""

    def __init__(self, rows):
        self.rows = round_rows(rows)

    @property
    def shape(self):
        sizes, rows = [], self.rows
        while isinstance(rows, list):
            sizes.append(len(rows))
            rows = rows[0]
        return tuple(sizes)

    @property
    def T(self):  # noqa: N802
        return Array([list(row) for row in zip(*self.rows, strict=True)])

    def __getitem__(self, keys):
        every = list(keys) if isinstance(keys, tuple) else [keys]
        return Array(take_keys(self.rows, every))

    def __add__(self, other):
        return apply_pairwise(operator.add, self, other)

    def __radd__(self, other):
        return apply_pairwise(operator.add, other, self)

    def __sub__(self, other):
        return apply_pairwise(operator.sub, self, other)

    def __rsub__(self, other):
        return apply_pairwise(operator.sub, other, self)

    def __mul__(self, other):
        return apply_pairwise(operator.mul, self, other)

    def __rmul__(self, other):
        return apply_pairwise(operator.mul, other, self)

    def __truediv__(self, other):
        return apply_pairwise(operator.truediv, self, other)

    def __rtruediv__(self, other):
        return apply_pairwise(operator.truediv, other, self)

    def __neg__(self):
        return apply_each(operator.neg, self)

    def sum(self, axis):
        return Array(sum_rows(self.rows, axis))

    def reshape(self, *shape):
        return Array(shape_rows(iter(flatten_rows(self.rows)), shape))

    def expand(self, *shape):
        return self + full(shape, 0.0)


def round_rows(rows):
    """The numbers, each rounded to the precision; Python's own are float64."""
    if PRECISION == "d":
        return rows
    if not isinstance(rows, list):
        return round_rows([rows])[0]
    if rows and isinstance(rows[0], list):
        return [round_rows(row) for row in rows]
    return array(PRECISION, rows).tolist()


def take_keys(rows, keys):
    """What rows[keys] is, one key per axis: a number, a slice, or None for a new axis."""
    if not keys:
        return rows
    key, *rest = keys
    if key is None:
        return [take_keys(rows, rest)]
    if isinstance(key, slice):
        return [take_keys(row, rest) for row in rows[key]]
    return take_keys(rows[key], rest)


def apply_pairwise(act, a, b):
    """The act on every pair of numbers; missing axes come first and have size 1."""
    a, b = (x if isinstance(x, Array) else Array(x) for x in (a, b))
    axes = max(len(a.shape), len(b.shape))
    first, second = (prepend_axes(x.rows, axes - len(x.shape)) for x in (a, b))
    return Array(apply_nested(act, first, second))


def prepend_axes(rows, more):
    return prepend_axes([rows], more - 1) if more else rows


def apply_nested(act, a, b):
    if not isinstance(a, list):
        return act(a, b)
    if len(a) != len(b):
        a, b = (a * len(b), b) if len(a) == 1 else (a, b * len(a))
    return [apply_nested(act, x, y) for x, y in zip(a, b, strict=True)]


def apply_each(act, x):
    """The act on every number."""
    return Array(apply_nested(lambda number, _: act(number), x.rows, x.rows))


def flatten_rows(rows):
    """All numbers in a row."""
    if not isinstance(rows, list):
        return [rows]
    return [number for row in rows for number in flatten_rows(row)]


def shape_rows(numbers, shape):
    if not shape:
        return next(numbers)
    return [shape_rows(numbers, shape[1:]) for _ in range(shape[0])]


def sum_rows(rows, axis):
    if axis:
        return [sum_rows(row, axis - 1) for row in rows]
    total, *others = rows
    for row in others:
        total = apply_nested(operator.add, total, row)
    return total


def full(shape, number):
    """The same number everywhere."""
    return Array(shape_rows(repeat(number), shape))


def stack(parts, axis):
    """Arrays side by side along a new axis."""
    return Array(join_rows([insert_axis(part.rows, axis) for part in parts], axis))


def insert_axis(rows, axis):
    return [insert_axis(row, axis - 1) for row in rows] if axis else [rows]


def join(parts, axis):
    """Arrays one after the other along an axis."""
    return Array(join_rows([part.rows for part in parts], axis))


def join_rows(parts, axis):
    if axis:
        return [join_rows(list(rows), axis - 1) for rows in zip(*parts, strict=True)]
    return [row for part in parts for row in part]


def lookup(table, tokens):
    """Row `token` of the table for every token: `pos batch` gives `dim pos batch`."""
    columns = table.T.rows
    return Array([[[column[t] for t in row] for row in tokens] for column in columns])


def linear(weight, x, bias=None):
    """The weight `out dim` times `dim ...`, plus one bias per output."""
    inputs = [flatten_rows(row) for row in x.rows]
    places = list(zip(*inputs, strict=True))  # the vector of each position
    offsets = bias.rows if bias else [0.0] * len(weight.rows)
    rows = [
        [offset + sum(map(operator.mul, line, place)) for place in places]
        for line, offset in zip(weight.rows, offsets, strict=True)
    ]
    return Array(shape_rows(iter(flatten_rows(rows)), (len(rows), *x.shape[1:])))


def scores(queries, keys):
    """Products `query key batch` of `dim query batch` and `dim key batch`."""
    total = 0.0
    for asks, answers in zip(queries.rows, keys.rows, strict=True):
        total = total + Array([[row] for row in asks]) * Array([answers])
    return total


def softmax(x, extra=0.0):
    """Shares over the keys of `query key batch`; nobody gets the part that is `extra`."""
    return Array([compute_key_shares(keys, extra) for keys in x.rows])


def compute_key_shares(keys, extra):
    """Of `key batch`, one sequence after the other."""
    columns = Array(keys).T.rows
    return Array([compute_shares(column, extra) for column in columns]).T.rows


def compute_shares(numbers, extra):
    top = max(numbers) if not extra else max(*numbers, 0.0)
    powers = [math.exp(number - top) for number in numbers]
    total = sum(powers) + (extra * math.exp(-top) if extra else 0.0)
    return [power / total for power in powers]


def mix(weights, values):
    """Sums `dim query batch` of values `dim key batch`, weighted by `query key batch`."""
    return Array([(weights * Array([row])).sum(1).rows for row in values.rows])


def scatter(values, places, shape):
    """A matrix of zeros with the values at these indices, counted row by row."""
    numbers = [0.0] * (shape[0] * shape[1])
    for place, value in zip(places, values.rows, strict=True):
        numbers[place] = value
    return Array(shape_rows(iter(numbers), shape))


def exp(x):
    return apply_each(math.exp, x)


def sqrt(x):
    return apply_each(math.sqrt, x)


def sin(x):
    return apply_each(math.sin, x)


def cos(x):
    return apply_each(math.cos, x)


def absolute(x):
    return apply_each(abs, x)


def relu(x):
    return apply_each(lambda number: max(number, 0.0), x)


def gelu(x):
    """A number times the normal distribution function."""
    return apply_each(lambda number: number * compute_normal_cdf(number), x)


def compute_normal_cdf(number):
    return 0.5 * (1.0 + math.erf(number * math.sqrt(0.5)))


def silu(x):
    """A number times its logistic function."""
    return apply_each(lambda number: number * logistic(number), x)


def logistic(number):
    if number >= 0:
        return 1.0 / (1.0 + math.exp(-number))
    return math.exp(number) / (1.0 + math.exp(number))


def causal(places, slope=0.0):
    """Added to scores `query key 1`: a slope per position back, -1e30 for a later position."""

    def added(query, key):
        return -slope * (query - key) if key <= query else -1e30

    places = range(places)
    return Array([[[added(query, key)] for key in places] for query in places])


def columns_up(places, columns):
    """Columns from a query up to a key, `query key`; no later key counts."""

    def count_up(query, key):
        return min(query, key) % columns - query % columns

    places = range(places)
    return Array([[count_up(query, key) for key in places] for query in places])


def square_columns(places, columns, peak):
    """Squared columns from a peak, so many columns above the query, to a key: `query key`."""
    rows = columns_up(places, columns).rows
    return Array([[(up - peak) ** 2 for up in row] for row in rows])


def mask_columns(places, columns, highest):
    """Added to scores `query key`: -1e30 for keys that are later, or more than `highest` columns up."""

    ups = columns_up(places, columns).rows

    def added(query, key):
        return -1e30 if key > query or ups[query][key] > highest else 0.0

    places = range(places)
    return Array([[added(query, key) for key in places] for query in places])


def pad(tokens, places):
    """Tokens up to that many positions: none sees a later one, so nothing else changes."""
    if len(tokens) > places:
        raise ValueError(f"at most {places} positions, but there are {len(tokens)}")
    return tokens + [0] * (places - len(tokens))
