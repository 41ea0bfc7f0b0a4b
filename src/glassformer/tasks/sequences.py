"""How many sequences the data holds, and how long they are.

>>> data = Sequences(count=2000, min_length=8, max_length=9)
>>> data.start_chances(size=8).tolist()       # length 8 leaves one start, length 9 two
[0.75, 0.25]
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from glassformer.core.errors import require_bounds, require_value

LONGEST = 2_048  # tokens of a sequence


@dataclass(frozen=True)
class Sequences:
    """A pool of sequences whose lengths are drawn uniformly between two bounds."""

    count: int = 2000  # sequences in the pool
    min_length: int = 20  # tokens
    max_length: int = 50  # tokens

    def __post_init__(self) -> None:
        require_bounds(self, count=(1, 10**8), min_length=(1, LONGEST), max_length=(1, LONGEST))
        expected = f"at least min_length = {self.min_length}"
        require_value(self.max_length >= self.min_length, "max_length", expected, self.max_length)

    def require_window(self, size: int) -> None:
        """A window must fit into the shortest sequence."""
        expected = f"between 1 and min_length = {self.min_length} tokens"
        require_value(1 <= size <= self.min_length, "the window", expected, size)

    def start_chances(self, size: int) -> Float[np.ndarray, " pos"]:
        """The chance that a window of this size starts at 0, 1, ..., max_length - size."""
        self.require_window(size)
        room = np.arange(self.min_length, self.max_length + 1)[:, None] - size
        start = np.arange(self.max_length - size + 1)
        given_length = np.where(start <= room, 1 / (room + 1), 0.0)  # length pos
        chances: Float[np.ndarray, " pos"] = given_length.mean(axis=0)
        return chances
