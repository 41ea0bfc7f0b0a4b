"""The largest of k numbers, the benchmark of the compact-proofs literature (64 numbers, k = 4).

>>> task = MaxOf()
>>> task.answer(task.read(task.read(task.begin(), 3), 7))
7
"""

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.core.errors import require_bounds
from glassformer.tasks.question import Question
from glassformer.tasks.task import register


@register
@dataclass(frozen=True)
class MaxOf(Question):
    """The largest of k numbers: `3 7 5 2` gives 7."""

    name = "max_of"
    numbers: int = 64  # the numbers are 0 to numbers - 1
    k: int = 4  # how many are read

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bounds(self, numbers=(2, 1_000), k=(1, 64))

    def slots(self) -> Sequence[Sequence[int]]:
        return (range(self.numbers),) * self.k

    def begin(self) -> int:
        return 0

    def read(self, memory: int, token: int) -> int:
        return max(memory, token)

    def answer(self, memory: int) -> int:
        return memory
