"""Heads: from the last state of a position to one score (logit) per token.

The parabola 2 d y - d^2 is largest at the digit d nearest to y: y = 3.2 gives digit 3.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from glassformer.core.errors import require_value
from glassformer.models.blocks import to_dense
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import Parameter, Parameters, make_constant_parameter
from glassformer.models.part import Part
from glassformer.models.projection import AnyProjection, FullProjection

CLOSED = -1e30  # score of a token that a head never writes


@dataclass(frozen=True)
class LinearHead(Part):
    """A projection of its own."""

    kind: ClassVar[str] = "linear"
    weight: AnyProjection = field(default_factory=lambda: FullProjection(bias=True))

    def parameters(self, name: str, vocab: int, width: int, token_dims: int) -> dict[str, Parameter]:
        return self.weight.parameters(name, vocab, width)

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, table: Value) -> Value:
        return self.weight(ops, params, name, x, table.shape[0])


@dataclass(frozen=True)
class TiedHead(Part):
    """Scores against the token table itself, after an optional projection to the table's dimensions."""

    kind: ClassVar[str] = "tied"
    weight: AnyProjection | None = None

    def parameters(self, name: str, vocab: int, width: int, token_dims: int) -> dict[str, Parameter]:
        return self.weight.parameters(name, token_dims, width) if self.weight else {}

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, table: Value) -> Value:
        if self.weight:
            x = self.weight(ops, params, name, x, table.shape[1])
        return ops.linear(table, x[: table.shape[1]])


@dataclass(frozen=True)
class ParabolicHead(Part):
    """Token d scores slope d y + bend d^2, where y is `read` times one dimension of the state."""

    kind: ClassVar[str] = "parabolic"
    reads: int = -1  # dimension y

    def parameters(self, name: str, vocab: int, width: int, token_dims: int) -> dict[str, Parameter]:
        require_value(-width <= self.reads < width, f"{name}.reads", f"a dimension below {width}", self.reads)
        first = {"slope": 2.0, "bend": -1.0, "read": 1.0}
        return {f"{name}.{key}": make_constant_parameter((), value) for key, value in first.items()}

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, table: Value) -> Value:
        digit = ops.array(range(table.shape[0]))[:, None, None]
        y = x[self.reads][None] * params[f"{name}.read"]
        return params[f"{name}.slope"] * digit * y + params[f"{name}.bend"] * (digit * digit)


@dataclass(frozen=True)
class LowestHead(Part):
    """Token t scores minus dimension t of the state, so that the lowest dimension wins; nothing is stored.

    Only the first `tokens` tokens have a dimension; the others score CLOSED, as good as minus infinity.
    """

    kind: ClassVar[str] = "lowest"
    tokens: int = 10

    def parameters(self, name: str, vocab: int, width: int, token_dims: int) -> dict[str, Parameter]:
        most = min(vocab, width)
        require_value(1 <= self.tokens <= most, f"{name}.tokens", f"between 1 and {most}", self.tokens)
        return {}

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value, table: Value) -> Value:
        scores = to_dense(x)[: self.tokens] * -1.0
        closed = scores[:1] * 0.0 + CLOSED
        return ops.join([scores] + [closed] * (table.shape[0] - self.tokens))


Head = LinearHead | TiedHead | ParabolicHead | LowestHead
