"""Projections: how a weight matrix `out dim` is made of the numbers that are stored for it.

`Rotated("attn.q.weight")` is the query weight turned by one learned angle: 1 number where a free matrix of
4 x 3 has 12. Tying a whole matrix to another needs no part of its own: `Architecture.ties` names the two.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from glassformer.errors import require, unknown
from glassformer.model.ops import Ops, Value
from glassformer.model.parameter import Parameter, Parameters, constant, matrix, uniform

Start = Literal["fan_in", "xavier", "unit", "zero"]


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


@dataclass(frozen=True)
class Direction(Projection):
    """The direction (cos t, sin t) that one output reads in a plane: one learned angle."""

    kind: ClassVar[str] = "direction"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        require((out, dims) == (1, 2), name, "1 output of 2 dimensions", f"{out} of {dims}")
        return {f"{name}.angle": uniform((), math.pi)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        angle = params[f"{name}.angle"]
        return ops.stack([ops.cos(angle), ops.sin(angle)])[None]


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


def span(field: str, chosen: tuple[int, int] | None, dims: int) -> tuple[int, int]:
    """The chosen range of dimensions, or all of them."""
    first, stop = chosen or (0, dims)
    require(0 <= first < stop <= dims, field, f"two places within 0..{dims}", chosen)
    return first, stop


def pad(ops: Ops, y: Value, before: int, after: int) -> Value:
    """`dim pos batch` with rows of zeros around it."""
    zero = y[:1] * 0.0
    return ops.join([zero] * before + [y] + [zero] * after)


def fetch(params: Parameters, name: str) -> Value:
    """The array of that name; `head.weight.T` is the transpose of `head.weight`."""
    stored = name.removesuffix(".T")
    if stored not in params:
        raise unknown("parameter", stored, params)
    return params[stored].T if name.endswith(".T") else params[stored]


AnyProjection = Full | Rotated | RankOne | Direction | Sparse | Identity
