"""Projections: how a weight matrix `out dim` is made of the parameters that are stored for it.

`RotatedProjection("attn.q.weight")` is the query weight turned by one learned angle: 1 parameter where a free
matrix of 4 x 3 has 12. Tying a whole matrix to another needs no part of its own: `Architecture.ties` names
the two.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from glassformer.core.errors import make_unknown_error, require_value
from glassformer.models.blocks import Blocks, to_dense
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import (
    Parameter,
    Parameters,
    Start,
    make_constant_parameter,
    make_uniform_parameter,
    make_weight_parameter,
)

_MOST_MADE = 1_000_000  # entries that follow from others: a small file must not ask for much memory


@dataclass(frozen=True)
class _BaseProjection:
    """What all kinds share: which input dimensions are read, and whether there is a bias."""

    kind: ClassVar[str] = "full"
    bias: bool = False
    reads: tuple[int, int] | None = None  # input dimensions from, to; all where none
    writes: tuple[int, int] | None = None  # output dimensions from, to; the others get 0
    start: Start = "fan_in"  # law of the first values

    def parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        first, stop = choose_dimension_range(f"{name}.reads", self.reads, dims)
        lowest, highest = choose_dimension_range(f"{name}.writes", self.writes, out)
        rows, columns = highest - lowest, stop - first
        bias = {f"{name}.bias": make_uniform_parameter((rows,), columns**-0.5)} if self.bias else {}
        stored = self.weight_parameters(name, rows, columns)
        made = rows * columns - sum(one.size for one in stored.values())
        fits = f"a matrix with at most {_MOST_MADE:,} entries that are not stored"
        require_value(made <= _MOST_MADE, name, fits, f"{rows:,} x {columns:,}")
        return stored | bias

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, out: int) -> Value:
        """Apply to `dim pos batch`."""
        first, stop = choose_dimension_range(f"{name}.reads", self.reads, x.shape[0])
        lowest, highest = choose_dimension_range(f"{name}.writes", self.writes, out)
        weight = self.weight(ops, params, name, highest - lowest, stop - first)
        y = ops.linear(weight, x[first:stop], params[f"{name}.bias"] if self.bias else None)
        return y if self.writes is None else _pad_dimensions(ops, y, lowest, out - highest)

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        return {f"{name}.weight": make_weight_parameter(out, dims, self.start)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return params[f"{name}.weight"]


@dataclass(frozen=True)
class FullProjection(_BaseProjection):
    """Every entry is its own parameter."""


@dataclass(frozen=True)
class RotatedProjection(_BaseProjection):
    """Another stored weight with its output pairs (0, 1), (2, 3), ... turned by one learned angle."""

    kind: ClassVar[str] = "rotated"
    of: str = ""  # name of the weight, `attn.q.weight`; with .T its transpose

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        return {f"{name}.angle": make_constant_parameter((), 0.0)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        base, angle = fetch_parameter(params, self.of), params[f"{name}.angle"]
        require_value(base.shape == (out, dims), f"{name}.of", f"a weight of {out} x {dims}", self.of)
        cosine, sine = ops.cos(angle), ops.sin(angle)
        rows: list[Value] = []
        for pair in range(base.shape[0] // 2):
            even, odd = base[2 * pair], base[2 * pair + 1]
            rows += [even * cosine - odd * sine, even * sine + odd * cosine]
        return ops.stack(rows + [base[row] for row in range(len(rows), base.shape[0])])


@dataclass(frozen=True)
class RankOneProjection(_BaseProjection):
    """An outer product: read one number, write it along one direction."""

    kind: ClassVar[str] = "rank1"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        write = (
            make_constant_parameter((out,), 0.0)
            if self.start == "zero"
            else make_uniform_parameter((out,), 1.0)
        )
        return {f"{name}.read": make_uniform_parameter((dims,), 1.0), f"{name}.write": write}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return params[f"{name}.write"][:, None] * params[f"{name}.read"][None, :]

    def write(self, ops: Ops, params: Parameters, name: str, y: Value, out: int) -> Value:
        """Lay the number that was read, `1 pos batch`, along the direction."""
        lowest, highest = choose_dimension_range(f"{name}.writes", self.writes, out)
        along = ops.linear(params[f"{name}.write"][:, None], y)
        return along if self.writes is None else _pad_dimensions(ops, along, lowest, out - highest)


@dataclass(frozen=True)
class DirectionProjection(_BaseProjection):
    """The direction (cos t, sin t) that one output reads, or one input takes, in a plane: one angle."""

    kind: ClassVar[str] = "direction"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        fits = "1 output of 2 dimensions, or 2 of 1"
        require_value((out, dims) in ((1, 2), (2, 1)), name, fits, f"{out} of {dims}")
        return {f"{name}.angle": make_uniform_parameter((), math.pi)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        angle = params[f"{name}.angle"]
        return ops.stack([ops.cos(angle), ops.sin(angle)]).reshape(out, dims)


@dataclass(frozen=True)
class TurnProjection(_BaseProjection):
    """The plane turned by one learned angle, and stretched by one learned factor or as it is."""

    kind: ClassVar[str] = "turn"
    is_stretched: bool = True

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        require_value((out, dims) == (2, 2), name, "2 outputs of 2 dimensions", f"{out} of {dims}")
        angle = (
            make_constant_parameter((), 0.0) if self.start == "zero" else make_uniform_parameter((), math.pi)
        )
        return {f"{name}.angle": angle} | (
            {f"{name}.stretch": make_constant_parameter((), 1.0)} if self.is_stretched else {}
        )

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        angle = params[f"{name}.angle"]
        cosine, sine = ops.cos(angle), ops.sin(angle)
        turn = ops.stack([ops.stack([cosine, -sine]), ops.stack([sine, cosine])])
        return turn * params[f"{name}.stretch"] if self.is_stretched else turn


@dataclass(frozen=True)
class SparseProjection(_BaseProjection):
    """Parameters at chosen entries, zero elsewhere."""

    kind: ClassVar[str] = "sparse"
    places: tuple[tuple[int, int], ...] = ()  # (output, input) of each stored parameter

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        inside = all(0 <= row < out and 0 <= column < dims for row, column in self.places)
        once = 0 < len(self.places) == len(set(self.places))
        require_value(
            once and inside, f"{name}.places", f"different entries inside {out} x {dims}", self.places
        )
        return {f"{name}.values": make_uniform_parameter((len(self.places),), dims**-0.5)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.scatter(params[f"{name}.values"], self.places, (out, dims))


@dataclass(frozen=True)
class IdentityProjection(_BaseProjection):
    """The dimensions that are read, as they are; nothing is stored."""

    kind: ClassVar[str] = "identity"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        require_value(out == dims, name, f"as many outputs as the {dims} dimensions it reads", out)
        return {}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.array([[float(row == column) for column in range(dims)] for row in range(out)])


@dataclass(frozen=True)
class MirroredProjection(_BaseProjection):
    """Pair i of the outputs is the plane mirrored: scale (sin(t_i - u), cos(t_i - u)) for (sin u, cos u).

    Its product with a point of the circle is largest at t_i - u: queries made so look for a sum of positions,
    as RoPE looks for a difference.
    """

    kind: ClassVar[str] = "mirrored"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        require_value(
            dims == 2 and out % 2 == 0, name, "pairs of outputs of 2 dimensions", f"{out} of {dims}"
        )
        return {
            f"{name}.angle": make_uniform_parameter((out // 2,), math.pi),
            f"{name}.scale": make_constant_parameter((), 1.0),
        }

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        angle, scale = params[f"{name}.angle"], params[f"{name}.scale"]
        cosine, sine = ops.cos(angle) * scale, ops.sin(angle) * scale
        rows: list[Value] = []
        for pair in range(out // 2):
            rows += [ops.stack([-cosine[pair], sine[pair]]), ops.stack([sine[pair], cosine[pair]])]
        return ops.stack(rows)


@dataclass(frozen=True)
class RepeatedProjection(_BaseProjection):
    """Every stored row `times` times in a row; the outputs differ by their biases."""

    kind: ClassVar[str] = "repeated"
    times: int = 2

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        fits = self.times >= 1 and out % self.times == 0
        require_value(fits, f"{name}.times", f"a divisor of the {out} outputs", self.times)
        return {f"{name}.weight": make_weight_parameter(out // self.times, dims, self.start)}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        stored = params[f"{name}.weight"]
        return ops.stack([stored[row // self.times] for row in range(out)])


@dataclass(frozen=True)
class ConstantProjection(_BaseProjection):
    """One stored parameter for all outputs, whatever is read."""

    kind: ClassVar[str] = "constant"
    bias: bool = True  # the parameter

    def parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        whole_range = self.bias and self.reads is None and self.writes is None
        require_value(whole_range, name, "a constant with a bias, that reads and writes everything", self)
        return {f"{name}.bias": make_constant_parameter((), 1.0)}

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, out: int) -> Value:
        """The parameter as `out pos 1`: no sequence changes it."""
        return params[f"{name}.bias"] * ops.array([[[1.0]] * x.shape[1]] * out)

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.array([[0.0] * dims] * out)


@dataclass(frozen=True)
class ZeroProjection(_BaseProjection):
    """Nothing, whatever is read: a head whose queries and keys are 0 has the scores of its relation alone."""

    kind: ClassVar[str] = "zero"

    def parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        return {}

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, out: int) -> Value:
        """Zeros as `out pos 1`: no sequence changes them."""
        return ops.array(np.zeros((out, x.shape[1], 1)))

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.array([[0.0] * dims] * out)


@dataclass(frozen=True)
class SpreadProjection(_BaseProjection):
    """The sum of what is read, to every output; nothing is stored."""

    kind: ClassVar[str] = "spread"

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        return {}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        return ops.array([[1.0] * dims] * out)


@dataclass(frozen=True)
class PatternProjection(_BaseProjection):
    """Entries written out, one text per output: 0, 1, -1, or the name of a stored parameter with its sign.

    `("-gap -1", "0 1")` is the matrix (-gap, -1), (0, 1): one parameter. A name may come again; any number
    but 0, 1 and -1 must have one, so that none is hidden in the pattern.
    """

    kind: ClassVar[str] = "pattern"
    entries: tuple[str, ...] = ()

    def weight_parameters(self, name: str, out: int, dims: int) -> dict[str, Parameter]:
        shape = [len(row.split()) for row in self.entries]
        is_full = len(shape) == out and all(count == dims for count in shape)
        require_value(is_full, f"{name}.entries", f"{out} texts of {dims} entries", self.entries)
        keys = [entry.removeprefix("-") for row in self.entries for entry in row.split()]
        known = all(key in ("0", "1") or (key.isidentifier() and key != "bias") for key in keys)
        require_value(known, f"{name}.entries", "0, 1, -1 and names other than bias", self.entries)
        return {f"{name}.{key}": make_uniform_parameter((), dims**-0.5) for key in keys if key.isidentifier()}

    def weight(self, ops: Ops, params: Parameters, name: str, out: int, dims: int) -> Value:
        def number(entry: str) -> Value:
            key, sign = entry.removeprefix("-"), -1.0 if entry.startswith("-") else 1.0
            return params[f"{name}.{key}"] * sign if key.isidentifier() else ops.array(sign * int(key))

        return ops.stack([ops.stack([number(entry) for entry in row.split()]) for row in self.entries])


def choose_dimension_range(field: str, chosen: tuple[int, int] | None, dims: int) -> tuple[int, int]:
    """The chosen range of dimensions, or all of them."""
    first, stop = chosen or (0, dims)
    require_value(0 <= first < stop <= dims, field, f"two bounds within 0..{dims}", chosen)
    return first, stop


def _pad_dimensions(ops: Ops, y: Value, before: int, after: int) -> Value:
    """`dim pos batch` with zeros around it, which no sequence changes."""
    nothing = to_dense(y)[:1, :, :1] * 0.0  # 1 pos 1
    return Blocks(ops, [nothing] * before + [y] + [nothing] * after)


def fetch_parameter(params: Parameters, name: str) -> Value:
    """The array of that name; `head.weight.T` is the transpose of `head.weight`."""
    stored = name.removesuffix(".T")
    if stored not in params:
        raise make_unknown_error("parameter", stored, params)
    return params[stored].T if name.endswith(".T") else params[stored]


AnyProjection = (
    FullProjection
    | RotatedProjection
    | RankOneProjection
    | DirectionProjection
    | TurnProjection
    | SparseProjection
    | IdentityProjection
    | MirroredProjection
    | RepeatedProjection
    | ConstantProjection
    | ZeroProjection
    | SpreadProjection
    | PatternProjection
)
