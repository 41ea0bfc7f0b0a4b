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
        self.rows = stored(rows)

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
        return Array(taken(self.rows, every))

    def __add__(self, other):
        return paired(operator.add, self, other)

    def __radd__(self, other):
        return paired(operator.add, other, self)

    def __sub__(self, other):
        return paired(operator.sub, self, other)

    def __rsub__(self, other):
        return paired(operator.sub, other, self)

    def __mul__(self, other):
        return paired(operator.mul, self, other)

    def __rmul__(self, other):
        return paired(operator.mul, other, self)

    def __truediv__(self, other):
        return paired(operator.truediv, self, other)

    def __rtruediv__(self, other):
        return paired(operator.truediv, other, self)

    def __neg__(self):
        return each(operator.neg, self)

    def sum(self, axis):
        return Array(summed(self.rows, axis))

    def reshape(self, *shape):
        return Array(shaped(iter(flat(self.rows)), shape))

    def expand(self, *shape):
        return self + full(shape, 0.0)


def stored(rows):
    """The numbers, each rounded to the precision; Python's own are float64."""
    if PRECISION == "d":
        return rows
    if not isinstance(rows, list):
        return stored([rows])[0]
    if rows and isinstance(rows[0], list):
        return [stored(row) for row in rows]
    return array(PRECISION, rows).tolist()


def taken(rows, keys):
    """What rows[keys] is, one key an axis: a number, a slice, or None for a new axis."""
    if not keys:
        return rows
    key, *rest = keys
    if key is None:
        return [taken(rows, rest)]
    if isinstance(key, slice):
        return [taken(row, rest) for row in rows[key]]
    return taken(rows[key], rest)


def paired(act, a, b):
    """The act on every pair of numbers; missing axes come first and have size 1."""
    a, b = (x if isinstance(x, Array) else Array(x) for x in (a, b))
    axes = max(len(a.shape), len(b.shape))
    first, second = (deepened(x.rows, axes - len(x.shape)) for x in (a, b))
    return Array(acted(act, first, second))


def deepened(rows, more):
    return deepened([rows], more - 1) if more else rows


def acted(act, a, b):
    if not isinstance(a, list):
        return act(a, b)
    if len(a) != len(b):
        a, b = (a * len(b), b) if len(a) == 1 else (a, b * len(a))
    return [acted(act, x, y) for x, y in zip(a, b, strict=True)]


def each(act, x):
    """The act on every number."""
    return Array(acted(lambda number, _: act(number), x.rows, x.rows))


def flat(rows):
    """All numbers in a row."""
    if not isinstance(rows, list):
        return [rows]
    return [number for row in rows for number in flat(row)]


def shaped(numbers, shape):
    if not shape:
        return next(numbers)
    return [shaped(numbers, shape[1:]) for _ in range(shape[0])]


def summed(rows, axis):
    if axis:
        return [summed(row, axis - 1) for row in rows]
    total, *others = rows
    for row in others:
        total = acted(operator.add, total, row)
    return total


def full(shape, number):
    """The same number everywhere."""
    return Array(shaped(repeat(number), shape))


def stack(parts, axis):
    """Arrays side by side along a new axis."""
    return Array(joined([grown(part.rows, axis) for part in parts], axis))


def grown(rows, axis):
    return [grown(row, axis - 1) for row in rows] if axis else [rows]


def join(parts, axis):
    """Arrays one after the other along an axis."""
    return Array(joined([part.rows for part in parts], axis))


def joined(parts, axis):
    if axis:
        return [joined(list(rows), axis - 1) for rows in zip(*parts, strict=True)]
    return [row for part in parts for row in part]


def lookup(table, tokens):
    """Row `token` of the table for every token: `pos batch` gives `dim pos batch`."""
    columns = table.T.rows
    return Array([[[column[t] for t in row] for row in tokens] for column in columns])


def linear(weight, x, bias=None):
    """The weight `out dim` times `dim ...`, plus one number an output."""
    inputs = [flat(row) for row in x.rows]
    places = list(zip(*inputs, strict=True))  # the vector of each place
    offsets = bias.rows if bias else [0.0] * len(weight.rows)
    rows = [
        [offset + sum(map(operator.mul, line, place)) for place in places]
        for line, offset in zip(weight.rows, offsets, strict=True)
    ]
    return Array(shaped(iter(flat(rows)), (len(rows), *x.shape[1:])))


def scores(queries, keys):
    """Products `query key batch` of `dim query batch` and `dim key batch`."""
    total = 0.0
    for asks, answers in zip(queries.rows, keys.rows, strict=True):
        total = total + Array([[row] for row in asks]) * Array([answers])
    return total


def softmax(x, extra=0.0):
    """Shares over the keys of `query key batch`; nobody gets the part that is `extra`."""
    return Array([shares_of_keys(keys, extra) for keys in x.rows])


def shares_of_keys(keys, extra):
    """Of `key batch`, one sequence after the other."""
    return Array([shares(column, extra) for column in Array(keys).T.rows]).T.rows


def shares(numbers, extra):
    top = max(numbers) if not extra else max(*numbers, 0.0)
    powers = [math.exp(number - top) for number in numbers]
    total = sum(powers) + (extra * math.exp(-top) if extra else 0.0)
    return [power / total for power in powers]


def mix(weights, values):
    """Sums `dim query batch` of values `dim key batch`, weighted by `query key batch`."""
    return Array([(weights * Array([row])).sum(1).rows for row in values.rows])


def scatter(values, places, shape):
    """A matrix of zeros with the values at these places, counted row by row."""
    numbers = [0.0] * (shape[0] * shape[1])
    for place, value in zip(places, values.rows, strict=True):
        numbers[place] = value
    return Array(shaped(iter(numbers), shape))


def exp(x):
    return each(math.exp, x)


def sqrt(x):
    return each(math.sqrt, x)


def sin(x):
    return each(math.sin, x)


def cos(x):
    return each(math.cos, x)


def absolute(x):
    return each(abs, x)


def relu(x):
    return each(lambda number: max(number, 0.0), x)


def gelu(x):
    """A number times the normal distribution function."""
    return each(lambda number: number * normal(number), x)


def normal(number):
    return 0.5 * (1.0 + math.erf(number * math.sqrt(0.5)))


def silu(x):
    """A number times its logistic function."""
    return each(lambda number: number * logistic(number), x)


def logistic(number):
    if number >= 0:
        return 1.0 / (1.0 + math.exp(-number))
    return math.exp(number) / (1.0 + math.exp(number))


def causal(places, slope=0.0):
    """Added to scores `query key 1`: a slope a place back, -1e30 for a later place."""

    def added(query, key):
        return -slope * (query - key) if key <= query else -1e30

    places = range(places)
    return Array([[[added(query, key)] for key in places] for query in places])


def pad(tokens, places):
    """Tokens up to that many places: none sees a later one, so nothing else changes."""
    if len(tokens) > places:
        raise ValueError(f"at most {places} places, but there are {len(tokens)}")
    return tokens + [0] * (places - len(tokens))
