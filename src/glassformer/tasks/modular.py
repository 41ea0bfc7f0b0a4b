"""Addition modulo p, the field's most studied toy: a, b and a mark, then the sum.

>>> task = Modular(p=113)
>>> task.answer(task.read(task.read(task.begin(), 100), 20))
7
"""

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.core.errors import require_bounds
from glassformer.tasks.choice import Token
from glassformer.tasks.question import Question
from glassformer.tasks.task import register

_EQUALS = "="


@register
@dataclass(frozen=True)
class Modular(Question):
    """The sum of two numbers modulo p: `100 20 =` gives 7 where p is 113."""

    name = "modular"
    p: int = 113  # the modulus; the numbers are 0 to p - 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bounds(self, p=(2, 1_000))

    def slots(self) -> Sequence[Sequence[Token]]:
        return range(self.p), range(self.p), (_EQUALS,)

    def begin(self) -> int:
        return 0

    def read(self, memory: int, token: Token) -> int:
        return memory if isinstance(token, str) else (memory + token) % self.p

    def answer(self, memory: int) -> int:
        return memory
