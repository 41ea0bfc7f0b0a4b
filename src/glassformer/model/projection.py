"""Projections: how a weight matrix `out dim` is made of the numbers that are stored for it.

`Rotated("attn.q.weight")` is the query weight turned by one learned angle: 1 number where a free matrix of
4 x 3 has 12. Tying a whole matrix to another needs no part of its own: `Architecture.ties` names the two.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from glassformer.errors import require, unknown
from glassformer.model.blocks import Blocks, whole
from glassformer.model.ops import Ops, Value
from glassformer.model.parameter import Parameter, Parameters, Start, constant, matrix, uniform


@dataclass(frozen=True)
class Projection:
    """What all kinds share: which input dimensions are read, and whether there is a bias."""

    kind: ClassVar[str] = "full"
    bias: bool = False
    reads: tuple[int, int] | None = None  # input dimensions from, to; all where none
    writes: tuple[int, int] | None = None  # output dimensions from, to; the others get 0
    start: Start = "fan_in"  # law of the first values

    def parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        first, stop = span(f"{name}.reads", self.reads, dims)
        lowest, highest = span(f"{name}.writes", self.writes, out)
        rows, columns = highest - lowest, stop - first
        bias = {f"{name}.bias": uniform((rows,), columns**-0.5)} if self.bias else {}
        return self.weight_parameters(name, rows, columns) | bias

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, out: int) -> Value:
        """Apply to `dim pos batch`."""
        first, stop = span(f"{name}.reads", self.reads, x.shape[0])
        lowest, highest = span(f"{name}.writes", self.writes, out)
        weight = self.weight(ops, params, name, highest - lowest, stop - first)
        y = ops.linear(weight, x[first:stop], params[f"{name}.bias"] if self.bias else None)
        return y if self.writes is None else pad(ops, y, lowest, out - highest)

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        return {f"{name}.weight": matrix(out, dims, self.start)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return params[f"{name}.weight"]


@dataclass(frozen=True)
class Full(Projection):
    """Every entry its own number."""


@dataclass(frozen=True)
class Rotated(Projection):
    """Another stored weight with its output pairs (0, 1), (2, 3), ... turned by one learned angle."""

    kind: ClassVar[str] = "rotated"
    of: str = ""  # name of the weight, `attn.q.weight`; with .T its transpose

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        return {f"{name}.angle": constant((), 0.0)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        base, angle = fetch(params, self.of), params[f"{name}.angle"]
        require(base.shape == (out, dims), f"{name}.of", f"a weight of {out} x {dims}", self.of)
        cosine, sine = ops.cos(angle), ops.sin(angle)
        rows: list[Value] = []
        for pair in range(base.shape[0] // 2):
            even, odd = base[2 * pair], base[2 * pair + 1]
            rows += [even * cosine - odd * sine, even * sine + odd * cosine]
        return ops.stack(rows + [base[row] for row in range(len(rows), base.shape[0])])


@dataclass(frozen=True)
class RankOne(Projection):
    """An outer product: read one number, write it along one direction."""

    kind: ClassVar[str] = "rank1"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        write = constant((out,), 0.0) if self.start == "zero" else uniform((out,), 1.0)
        return {f"{name}.read": uniform((dims,), 1.0), f"{name}.write": write}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return params[f"{name}.write"][:, None] * params[f"{name}.read"][None, :]

    def write(self, ops: Ops, params: Parameters, name: str, y: Value, out: int) -> Value:
        """Lay the number that was read, `1 pos batch`, along the direction."""
        lowest, highest = span(f"{name}.writes", self.writes, out)
        along = ops.linear(params[f"{name}.write"][:, None], y)
        return along if self.writes is None else pad(ops, along, lowest, out - highest)


@dataclass(frozen=True)
class Direction(Projection):
    """The direction (cos t, sin t) that one output reads, or one input takes, in a plane: one angle."""

    kind: ClassVar[str] = "direction"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        fits = "1 output of 2 dimensions, or 2 of 1"
        require((out, dims) in ((1, 2), (2, 1)), name, fits, f"{out} of {dims}")
        return {f"{name}.angle": uniform((), math.pi)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        angle = params[f"{name}.angle"]
        return ops.stack([ops.cos(angle), ops.sin(angle)]).reshape(out, dims)


@dataclass(frozen=True)
class Turn(Projection):
    """The plane turned by one learned angle, and stretched by one learned factor or as it is."""

    kind: ClassVar[str] = "turn"
    is_stretched: bool = True

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        require((out, dims) == (2, 2), name, "2 outputs of 2 dimensions", f"{out} of {dims}")
        angle = constant((), 0.0) if self.start == "zero" else uniform((), math.pi)
        return {f"{name}.angle": angle} | (
            {f"{name}.stretch": constant((), 1.0)} if self.is_stretched else {}
        )

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        angle = params[f"{name}.angle"]
        cosine, sine = ops.cos(angle), ops.sin(angle)
        turn = ops.stack([ops.stack([cosine, -sine]), ops.stack([sine, cosine])])
        return turn * params[f"{name}.stretch"] if self.is_stretched else turn


@dataclass(frozen=True)
class Sparse(Projection):
    """Numbers at chosen places, zero elsewhere."""

    kind: ClassVar[str] = "sparse"
    places: tuple[tuple[int, int], ...] = ()  # (output, input) of each stored number

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        inside = all(0 <= row < out and 0 <= column < dims for row, column in self.places)
        once = 0 < len(self.places) == len(set(self.places))
        require(once and inside, f"{name}.places", f"different places inside {out} x {dims}", self.places)
        return {f"{name}.values": uniform((len(self.places),), dims**-0.5)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.scatter(params[f"{name}.values"], self.places, (out, dims))


@dataclass(frozen=True)
class Identity(Projection):
    """The dimensions that are read, as they are; nothing is stored."""

    kind: ClassVar[str] = "identity"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        require(out == dims, name, f"as many outputs as the {dims} dimensions it reads", out)
        return {}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.array([[float(row == column) for column in range(dims)] for row in range(out)])


@dataclass(frozen=True)
class Mirrored(Projection):
    """Pair i of the outputs is the plane mirrored: scale (sin(t_i - u), cos(t_i - u)) for (sin u, cos u).

    Its product with a point of the circle is largest at t_i - u: queries made so look for a sum of places, as
    RoPE looks for a difference.
    """

    kind: ClassVar[str] = "mirrored"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        require(dims == 2 and out % 2 == 0, name, "pairs of outputs of 2 dimensions", f"{out} of {dims}")
        return {f"{name}.angle": uniform((out // 2,), math.pi), f"{name}.scale": constant((), 1.0)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        angle, scale = params[f"{name}.angle"], params[f"{name}.scale"]
        cosine, sine = ops.cos(angle) * scale, ops.sin(angle) * scale
        rows: list[Value] = []
        for pair in range(out // 2):
            rows += [ops.stack([-cosine[pair], sine[pair]]), ops.stack([sine[pair], cosine[pair]])]
        return ops.stack(rows)


@dataclass(frozen=True)
class Repeated(Projection):
    """Every stored row `times` times in a row; the outputs differ by their biases."""

    kind: ClassVar[str] = "repeated"
    times: int = 2

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        fits = self.times >= 1 and out % self.times == 0
        require(fits, f"{name}.times", f"a divisor of the {out} outputs", self.times)
        return {f"{name}.weight": matrix(out // self.times, dims, self.start)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        stored = params[f"{name}.weight"]
        return ops.stack([stored[row // self.times] for row in range(out)])


@dataclass(frozen=True)
class Constant(Projection):
    """One stored number for all outputs, whatever is read."""

    kind: ClassVar[str] = "constant"
    bias: bool = True  # the number

    def parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        whole_range = self.bias and self.reads is None and self.writes is None
        require(whole_range, name, "a constant with a bias, that reads and writes everything", self)
        return {f"{name}.bias": constant((), 1.0)}

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, out: int) -> Value:
        """The number as `out pos 1`: no sequence changes it."""
        return params[f"{name}.bias"] * ops.array([[[1.0]] * x.shape[1]] * out)

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.array([[0.0] * dims] * out)


@dataclass(frozen=True)
class Spread(Projection):
    """The sum of what is read, to every output; nothing is stored."""

    kind: ClassVar[str] = "spread"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        return {}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.array([[1.0] * dims] * out)


@dataclass(frozen=True)
class Pattern(Projection):
    """Entries written out, a text an output: 0, 1, -1, or the name of a stored number with its sign.

    `("-gap -1", "0 1")` is the matrix (-gap, -1), (0, 1): one number. A name may come again; any number but
    0, 1 and -1 must have one, so that none is hidden in the pattern.
    """

    kind: ClassVar[str] = "pattern"
    entries: tuple[str, ...] = ()

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        shape = [len(row.split()) for row in self.entries]
        is_full = len(shape) == out and all(count == dims for count in shape)
        require(is_full, f"{name}.entries", f"{out} texts of {dims} entries", self.entries)
        keys = [entry.removeprefix("-") for row in self.entries for entry in row.split()]
        known = all(key in ("0", "1") or (key.isidentifier() and key != "bias") for key in keys)
        require(known, f"{name}.entries", "0, 1, -1 and names other than bias", self.entries)
        return {f"{name}.{key}": uniform((), dims**-0.5) for key in keys if key.isidentifier()}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        def number(entry: str) -> Value:
            key, sign = entry.removeprefix("-"), -1.0 if entry.startswith("-") else 1.0
            return params[f"{name}.{key}"] * sign if key.isidentifier() else ops.array(sign * int(key))

        return ops.stack([ops.stack([number(entry) for entry in row.split()]) for row in self.entries])


def span(field: str, chosen: tuple[int, int] | None, dims: int) -> tuple[int, int]:
    """The chosen range of dimensions, or all of them."""
    first, stop = chosen or (0, dims)
    require(0 <= first < stop <= dims, field, f"two places within 0..{dims}", chosen)
    return first, stop


def pad(ops: Ops, y: Value, before: int, after: int) -> Value:
    """`dim pos batch` with zeros around it, which no sequence changes."""
    nothing = whole(y)[:1, :, :1] * 0.0  # 1 pos 1
    return Blocks(ops, [nothing] * before + [y] + [nothing] * after)


def fetch(params: Parameters, name: str) -> Value:
    """The array of that name; `head.weight.T` is the transpose of `head.weight`."""
    stored = name.removesuffix(".T")
    if stored not in params:
        raise unknown("parameter", stored, params)
    return params[stored].T if name.endswith(".T") else params[stored]


AnyProjection = (
    Full
    | Rotated
    | RankOne
    | Direction
    | Turn
    | Sparse
    | Identity
    | Mirrored
    | Repeated
    | Constant
    | Spread
    | Pattern
)
