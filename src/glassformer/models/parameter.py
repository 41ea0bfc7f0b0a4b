"""A parameter: its shape, where it starts, whether it is learned. Names are dotted: `attn.q.weight`.

The same name is the key in the file, the label in a figure and the name on the page.

>>> make_normal_parameter((12, 2)).size
24
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from glassformer.core.errors import require_value
from glassformer.models.ops import Value

Shape = tuple[int, ...]
Start = Literal["fan_in", "xavier", "unit", "zero", "gram"]


@dataclass(frozen=True)
class Parameter:
    """One stored array and the law that its first values follow."""

    shape: Shape
    law: Literal["normal", "uniform", "constant", "gram"] = "constant"
    scale: float = 0.0  # standard deviation, half width, the value itself, or the factor of the gram matrix
    learned: bool = True
    fixed: tuple[tuple[Shape, float], ...] = ()  # entries that are not free: index and value

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def free(self) -> int:
        """Entries that the architecture leaves open."""
        return self.size - len(self.fixed)

    @property
    def free_places(self) -> list[int]:
        """The same entries, counted row by row: of 2 x 2 with (0, 1) fixed they are 0, 2 and 3."""
        taken = {place for place, _ in self.fixed}
        return [at for at, place in enumerate(product(*map(range, self.shape))) if place not in taken]

    def frozen(self) -> "Parameter":
        """The same array, stored but never trained."""
        return replace(self, learned=False)


def make_normal_parameter(shape: Shape, deviation: float = 1.0) -> Parameter:
    return Parameter(shape, "normal", deviation)


def make_uniform_parameter(shape: Shape, half_width: float) -> Parameter:
    return Parameter(shape, "uniform", half_width)


def make_constant_parameter(shape: Shape, value: float) -> Parameter:
    return Parameter(shape, "constant", value)


def _make_gram_parameter(size: int) -> Parameter:
    """Where the scores' form W^T W / sqrt(rows) starts, W a xavier weight with one row more than columns.

    The law is scale U^T U with U uniform in -1..1: positive semidefinite, so each position attends to its
    like.
    """
    return Parameter((size, size), "gram", 6 / (2 * size + 1) / math.sqrt(size + 1))


def make_weight_parameter(outputs: int, inputs: int, start: Start) -> Parameter:
    """A weight: uniform, as wide as its inputs (and outputs) ask for; a gram matrix; or zero."""
    if start == "zero":
        return make_constant_parameter((outputs, inputs), 0.0)
    if start == "gram":
        require_value(
            outputs == inputs, "a weight that starts as a gram matrix", "square", f"{outputs} x {inputs}"
        )
        return _make_gram_parameter(outputs)
    widths = {"fan_in": inputs**-0.5, "xavier": math.sqrt(6 / (inputs + outputs)), "unit": 1.0}
    return make_uniform_parameter((outputs, inputs), widths[start])


Parameters = Mapping[str, Value]  # a flat dict: dotted name to array
