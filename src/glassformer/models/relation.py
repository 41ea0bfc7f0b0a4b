"""What a position part inside attention is: a rotation of queries and keys, or a bias on the scores.

A new one is a class in `models/relations.py` with one of these bases. A bias of -3 on every other position:

>>> class Others(BiasRelation):
...     kind, label, formula = "others", "others", "minus 3 but for itself"
...     def list_constants(self, dims):
...         return {"others": -3.0}
...     def bias(self, head, heads, distance):
...         return -3.0 if distance else 0.0
>>> Others().measure_bias({}, "attn.relation", 0, 1, (0.0, 1.0, 2.0))
[0.0, -3.0, -3.0]
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from glassformer.models.ops import Ops, Value
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.parameter import Parameter, Parameters
from glassformer.models.part import Part

MASKED = -1e30  # added to the score of a key that is not seen; its exponential is 0 in float32 and float64
Distances = Sequence[float] | Float[np.ndarray, "query key"]  # plain numbers, for `ops.array`


class RelationPart(Part):
    """All that others ask of a relation; as it stands here it does nothing."""

    kind: ClassVar[str]  # its name in files
    label: ClassVar[str] = ""  # its name in sentences
    is_rotation: ClassVar[bool] = False
    is_bias: ClassVar[bool] = False
    is_any_length: ClassVar[bool] = False  # whether numbers of every length have the same bias
    distance_words: ClassVar[str] = "positions back"  # the axis of a drawing over distances

    def require_fit(self, heads: int, size: int) -> None:
        """One sentence where so many heads of this size cannot have it."""

    def parameters(self, name: str, heads: int) -> dict[str, Parameter]:
        return {}

    def parameter_words(self) -> dict[str, str]:
        """What each parameter is, by the last word of its name."""
        return {}

    def rates(self, size: int) -> tuple[float, ...]:
        """Radians per position, one per pair of dimensions that is turned."""
        return ()

    def with_columns(self, columns: int) -> Any:
        """The same relation for numbers that stand in so many columns; most know of no columns."""
        return self

    def turn(self, ops: Ops, x: Value, positions: range) -> Value:
        """Queries or keys `dim pos batch`, whose columns stand at `positions`, as they meet."""
        return x

    def distance(self, query: Any, key: Any) -> Any:
        """From a query's position back to a key's: of two integers, or of arrays of them."""
        return query - key

    def bias(self, head: int, heads: int, distance: float) -> float:
        """What is added to a score at this distance, in double precision; it is rounded once.

        Minus 0 leaves every number as it is, 0 with its sign included.
        """
        return -0.0

    def value_signs(self, positions: int) -> list[float] | None:
        """A sign per position that its value is mixed with; none: all as they are."""
        return None

    @property
    def has_fixed_bias(self) -> bool:
        """Whether `bias` ever adds anything."""
        return type(self).bias is not RelationPart.bias

    def learned_bias(
        self, ops: Ops, params: Parameters, name: str, head: int, heads: int, distances: Distances
    ) -> Value | None:
        """The part of the bias that depends on parameters, one number per distance; none: there is none."""
        return None

    def measure_bias(
        self, params: Parameters, name: str, head: int, heads: int, distances: Sequence[float]
    ) -> list[float]:
        """What is added to a score at each of these distances, parameters included, in double precision."""
        ops = NumpyOps("float64")
        fixed = np.array([self.bias(head, heads, distance) for distance in distances])
        wide = {key: ops.array(value) for key, value in params.items() if key.startswith(f"{name}.")}
        learned = self.learned_bias(ops, wide, name, head, heads, distances)
        total: list[float] = (fixed if learned is None else fixed + learned).tolist()
        return total

    def list_slopes(self, heads: int) -> list[float]:
        """One slope per head where the bias is minus slope x distance; else nothing."""
        return []

    @property
    def score_line(self) -> str:
        """Its line in a drawing of the scores; empty: it has none."""
        return ""

    @property
    def score_term(self) -> str:
        """What it does to a score beside the product of query and key, as a sentence; empty: nothing."""
        return ""

    @property
    def kernel_note(self) -> str:
        """The same in short, for those who look at weights alone."""
        return ""


class RotationRelation(RelationPart, ABC):
    """Turn pair (2i, 2i+1) of queries and keys by position x rate i."""

    is_rotation = True

    @abstractmethod
    def rates(self, size: int) -> tuple[float, ...]: ...

    def turn(self, ops: Ops, x: Value, positions: range) -> Value:
        """Rotate `dim pos batch`, whose rows stand at `positions`."""
        size = x.shape[0]
        turned: list[Value] = []
        for pair, frequency in enumerate(self.rates(size)):
            angle = ops.array([frequency * position for position in positions])[:, None]
            cosine, sine = ops.cos(angle), ops.sin(angle)
            even, odd = x[2 * pair], x[2 * pair + 1]
            turned += [even * cosine - odd * sine, even * sine + odd * cosine]
        return ops.rows(turned + [x[dim] for dim in range(len(turned), size)])

    @property
    def score_line(self) -> str:
        return f"rotated by position ({self.label})"


class BiasRelation(RelationPart):
    """Add a number to each score, by the distance of its key: a formula (`bias`), or a `learned_bias`."""

    is_bias = True
    formula: ClassVar[str]  # what is added, in a few words: "minus slope x distance"

    def __init_subclass__(cls) -> None:
        """A bias that says none is a slip of the pen, and would be no relation at all."""
        says = cls.bias is not RelationPart.bias or cls.learned_bias is not RelationPart.learned_bias
        assert says, f"{cls.__name__} has neither a bias nor a learned_bias"

    @property
    def score_line(self) -> str:
        return f"{self.formula} ({self.label})"

    @property
    def score_term(self) -> str:
        return f"{self.label} adds a bias by distance to every score"

    @property
    def kernel_note(self) -> str:
        return f"{self.label} changes scores by distance"
