"""A coarse rounding that stays proved: each parameter in few mantissa bits, found by a greedy search.

First the fewest bits that are enough for all parameters alike; then each in turn gives up what it can, one
step a pass, those with the most bits first; at last each alone is tried with every smaller number of bits.
What is left is coarse in this sense: rounded to fewer bits, no parameter alone leaves the model proved. That
is no smallest number of bits: several together, or values that are no roundings of these, may need fewer.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from glassformer.core.waiting import TellCount
from glassformer.models.forward import list_parameters
from glassformer.models.mantissa import count_mantissa_bits, round_mantissa
from glassformer.models.model import Model

_Entry = tuple[str, tuple[int, ...]]  # an array's name and a place in it


@dataclass
class Rounding:
    """A search for few bits: `values` are proved at any moment."""

    model: Model
    is_proved: Callable[[Model], bool]
    until: float  # moment of `time.monotonic` after which nothing more is tried
    tell: TellCount | None = None
    values: dict[_Entry, float] = field(default_factory=dict)
    proofs: int = 0
    is_settled: bool = True  # nothing was left untried for want of time

    def __post_init__(self) -> None:
        self.original = {
            entry: float(self.model.params[entry[0]][entry[1]]) for entry in _list_free(self.model)
        }
        self.values = dict(self.original)

    @property
    def bits(self) -> int:
        """Mantissa bits of all learned parameters together."""
        return sum(map(count_mantissa_bits, self.values.values()))

    @property
    def is_out_of_time(self) -> bool:
        return time.monotonic() >= self.until

    def make_model(self, values: dict[_Entry, float]) -> Model:
        """The model with these values of its learned parameters."""
        params = {name: np.array(array) for name, array in self.model.params.items()}
        for (name, place), value in values.items():
            params[name][place] = value
        return Model(self.model.architecture, params)

    def search(self) -> None:
        """Round until no parameter alone can be rounded further, or the time is over."""
        self._round_alike()
        while self._pass_over(_list_next_width):
            pass
        while self._pass_over(_list_smaller_widths):
            pass

    def _round_alike(self) -> None:
        """The fewest bits that are enough for all alike."""
        most = max(map(count_mantissa_bits, self.values.values()), default=0)
        for bits in range(1, most):
            rounded = {entry: round_mantissa(value, bits) for entry, value in self.original.items()}
            if self._keep(rounded) or self.is_out_of_time:
                return

    def _pass_over(self, list_widths: Callable[[int], Iterator[int]]) -> bool:
        """Each parameter once, those with the most bits first; whether any could be rounded further."""
        before = self.bits
        for entry in sorted(self.values, key=lambda entry: -count_mantissa_bits(self.values[entry])):
            for bits in list_widths(count_mantissa_bits(self.values[entry])):
                if self._keep(self.values | {entry: round_mantissa(self.original[entry], bits)}):
                    break
        return self.bits < before

    def _keep(self, values: dict[_Entry, float]) -> bool:
        """Take these values if the model is proved with them."""
        if self.is_out_of_time:
            self.is_settled = False
            return False
        self.proofs += 1
        if self.tell:
            self.tell(1)
        if not self.is_proved(self.make_model(values)):
            return False
        self.values = values
        return True


def _list_free(model: Model) -> list[_Entry]:
    """Every entry that is not fixed."""
    found: list[_Entry] = []
    for name, one in list_parameters(model.architecture).items():
        fixed = {place for place, _ in one.fixed}
        found += [(name, place) for place in np.ndindex(one.shape) if place not in fixed]
    return found


def _list_next_width(bits: int) -> Iterator[int]:
    if bits:
        yield bits - 1


def _list_smaller_widths(bits: int) -> Iterator[int]:
    yield from range(bits)
