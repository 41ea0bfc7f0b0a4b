"""Token embeddings: how the table `tok dim` is made, from free parameters or from a formula.

An arc of three parameters puts digit d at A (cos(s + d r), sin(s + d r)): with A = 1, s = 0 and r = pi / 2,
digit 1 sits at (0, 1).
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from glassformer.core.errors import require_value
from glassformer.core.values import LATER
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import (
    Parameter,
    Parameters,
    make_constant_parameter,
    make_normal_parameter,
)
from glassformer.models.part import Part


@dataclass(frozen=True)
class LearnedTable(Part):
    """One free row per token."""

    kind: ClassVar[str] = "table"
    deviation: float = 1.0  # of the first values

    def parameters(self, name: str, vocab: int, dims: int) -> dict[str, Parameter]:
        return {f"{name}.weight": make_normal_parameter((vocab, dims), self.deviation)}

    def table(self, ops: Ops, params: Parameters, name: str, vocab: int, dims: int) -> Value:
        return params[f"{name}.weight"]


@dataclass(frozen=True)
class ArcTable(Part):
    """Digits on a circular arc: amplitude, start angle and stride, three parameters for the whole table.

    With a fixed middle there are two: the arc then reaches as far to one side of that angle as to the other.
    """

    kind: ClassVar[str] = "arc"
    amplitude: float = 2.5  # first values; all three are learned
    start: float = -1.2
    stride: float = 0.29
    middle: float | None = field(default=None, metadata=LATER)  # in turns, a constant: 0.125 is the diagonal

    def list_constants(self, dims: int) -> dict[str, float]:
        return {} if self.middle is None else {"middle": self.middle}

    def parameters(self, name: str, vocab: int, dims: int) -> dict[str, Parameter]:
        require_value(dims >= 2, "width of an arc embedding", "at least 2", dims)
        first = {"amplitude": self.amplitude, "start": self.start, "stride": self.stride}
        kept = {key: value for key, value in first.items() if key != "start" or self.middle is None}
        return {f"{name}.{key}": make_constant_parameter((), value) for key, value in kept.items()}

    def table(self, ops: Ops, params: Parameters, name: str, vocab: int, dims: int) -> Value:
        if self.middle is None:
            angle = params[f"{name}.start"] + ops.array(range(vocab)) * params[f"{name}.stride"]
        else:
            steps = ops.array([digit - (vocab - 1) / 2 for digit in range(vocab)])
            angle = steps * params[f"{name}.stride"] + 2 * math.pi * self.middle
        amplitude, flat = params[f"{name}.amplitude"], ops.array([0.0] * vocab)
        columns = [amplitude * ops.cos(angle), amplitude * ops.sin(angle)] + [flat] * (dims - 2)
        return ops.stack(columns, 1)

    def square(self, params: Parameters, name: str) -> Value:
        """The sum of squares of every row: they all have the same length."""
        return params[f"{name}.amplitude"] * params[f"{name}.amplitude"]


@dataclass(frozen=True)
class RankOneTable(Part):
    """One parameter per token times one direction."""

    kind: ClassVar[str] = "rank1"

    def parameters(self, name: str, vocab: int, dims: int) -> dict[str, Parameter]:
        return {
            f"{name}.value": make_normal_parameter((vocab,)),
            f"{name}.direction": make_normal_parameter((dims,)),
        }

    def table(self, ops: Ops, params: Parameters, name: str, vocab: int, dims: int) -> Value:
        return params[f"{name}.value"][:, None] * params[f"{name}.direction"][None, :]


@dataclass(frozen=True)
class SparseTable(Part):
    """Parameters at chosen (token, dimension) entries, zero elsewhere."""

    kind: ClassVar[str] = "sparse"
    places: tuple[tuple[int, int], ...] = ()

    def parameters(self, name: str, vocab: int, dims: int) -> dict[str, Parameter]:
        inside = all(0 <= token < vocab and 0 <= dim < dims for token, dim in self.places)
        once = 0 < len(self.places) == len(set(self.places))
        require_value(
            once and inside, f"{name}.places", f"different entries inside {vocab} x {dims}", self.places
        )
        return {f"{name}.values": make_normal_parameter((len(self.places),))}

    def table(self, ops: Ops, params: Parameters, name: str, vocab: int, dims: int) -> Value:
        return ops.scatter(params[f"{name}.values"], self.places, (vocab, dims))


@dataclass(frozen=True)
class QuadraticTable(Part):
    """e(d) = [c0 - c1 d^2, -d]: two numbers; a tied head then compares squares."""

    kind: ClassVar[str] = "quadratic"
    c0: float = 1.0  # first values
    c1: float = 0.01

    def parameters(self, name: str, vocab: int, dims: int) -> dict[str, Parameter]:
        require_value(dims >= 2, "width of a quadratic embedding", "at least 2", dims)
        return {
            f"{name}.c0": make_constant_parameter((), self.c0),
            f"{name}.c1": make_constant_parameter((), self.c1),
        }

    def table(self, ops: Ops, params: Parameters, name: str, vocab: int, dims: int) -> Value:
        digit, flat = ops.array(range(vocab)), ops.array([0.0] * vocab)
        bowl = params[f"{name}.c0"] - params[f"{name}.c1"] * (digit * digit)
        return ops.stack([bowl, -digit] + [flat] * (dims - 2), 1)


Token = LearnedTable | ArcTable | RankOneTable | SparseTable | QuadraticTable
