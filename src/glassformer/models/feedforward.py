"""The feed-forward layer: widen, bend, narrow. Gated kinds multiply two widenings.

ReLU of (w x + b) is a hinge; sixteen hinges per dimension fold the plane.
"""

from dataclasses import dataclass, field
from typing import Literal

from glassformer.core.errors import require_bounds
from glassformer.models.attention import Record
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import Parameter, Parameters
from glassformer.models.projection import AnyProjection, FullProjection


def _make_biased_projection() -> FullProjection:
    return FullProjection(bias=True)


@dataclass(frozen=True)
class FeedForward:
    """down(bend(up x)); gated: down(bend(gate x) * up x)."""

    hidden: int | None = None  # units; none: 16 x width
    bend: Literal["relu", "gelu", "silu"] = "relu"
    gate: AnyProjection | None = None  # SwiGLU is silu with a gate, gated ReLU is relu with a gate
    up: AnyProjection = field(default_factory=_make_biased_projection)
    down: AnyProjection = field(default_factory=_make_biased_projection)

    def __post_init__(self) -> None:
        require_bounds(self, hidden=(1, 65_536))

    def units(self, width: int) -> int:
        return 16 * width if self.hidden is None else self.hidden

    def parameters(self, name: str, width: int) -> dict[str, Parameter]:
        units = self.units(width)
        return (
            (self.gate.parameters(f"{name}.gate", units, width) if self.gate else {})
            | self.up.parameters(f"{name}.up", units, width)
            | self.down.parameters(f"{name}.down", width, units)
        )

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, record: Record) -> Value:
        width = x.shape[0]
        units = self.units(width)
        up = self.up(ops, params, f"{name}.up", x, units)
        record("up", up)
        bend = {"relu": ops.relu, "gelu": ops.gelu, "silu": ops.silu}[self.bend]
        if self.gate:
            gate = self.gate(ops, params, f"{name}.gate", x, units)
            record("gate", gate)
            hidden = bend(gate) * up
        else:
            hidden = bend(up)
        record("hidden", hidden)
        return self.down(ops, params, f"{name}.down", hidden, width)
