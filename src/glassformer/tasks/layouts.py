"""Ways to write an addition problem as tokens.

`lsb` writes 57 + 68 units first, as 7 5 + 8 6 = 5 2 1, with `+` and `=` sharing token 0:

>>> import numpy as np
>>> x, y, z = np.array([[7], [5]]), np.array([[8], [6]]), np.array([[5], [2], [1]])
>>> make_layout("lsb", digits=2, base=10).encode(x, y, z)[:, 0].tolist()
[7, 5, 0, 8, 6, 0, 5, 2, 1]

The first tokens are the digits, as many as the base has; marks with a label of their own come after them:

>>> make_layout("msb", digits=2, base=3).labels
('0', '1', '2', '=', '<bos>', '<eos>', '+')
"""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from jaxtyping import Int

from glassformer.core.errors import make_unknown_error, require_bounds, require_value
from glassformer.tasks.operations import ADD, Operation

DIGIT_LABELS = tuple("0123456789abcdef")
LEAST_BASE, MOST_BASE = 2, len(DIGIT_LABELS)

# A NumPy or JAX array: this module asks the array for its namespace and imports neither by name.
_AnyArray: TypeAlias = Any


@dataclass(frozen=True)
class Layout:
    """Marks, two numbers and their sum in a row; a mark without a label of its own is token 0."""

    name: str
    opening: tuple[str, ...]  # marks before the first number
    plus: tuple[str, ...]  # marks between the numbers
    equals: tuple[str, ...]  # marks before the answer
    own_marks: tuple[str, ...] = ()  # labels of the tokens after the digits
    numbers_highest_first: bool = False
    answer_highest_first: bool = False
    is_any_length: bool = False  # whether a model may read numbers of every length
    digits: int = 1  # of each number; the answer has one more
    base: int = LEAST_BASE  # digits that there are: tokens 0 to base - 1
    operation: Operation = ADD  # what the answer is

    @property
    def labels(self) -> tuple[str, ...]:
        """Token id -> label."""
        return (*DIGIT_LABELS[: self.base], *self.own_marks)

    @property
    def x_positions(self) -> range:
        """The position of digit k of the first number, for k = 0 (units), 1, ..."""
        return _list_positions(len(self.opening), self.digits, self.numbers_highest_first)

    @property
    def y_positions(self) -> range:
        """The position of digit k of the second number, for k = 0 (units), 1, ..."""
        if not self.operation.has_second:
            return range(0)
        before = len(self.opening) + self.digits + len(self.plus)
        return _list_positions(before, self.digits, self.numbers_highest_first)

    @property
    def z_positions(self) -> range:
        """The position of digit k of the answer, for k = 0 (units), 1, ..."""
        return _list_positions(self.prompt_length, self.digits + 1, self.answer_highest_first)

    @property
    def prompt_length(self) -> int:
        """Tokens up to and with the last mark before the answer."""
        second = len(self.plus) + self.digits if self.operation.has_second else 0
        return len(self.opening) + self.digits + second + len(self.equals)

    @property
    def length(self) -> int:
        """Tokens of the problem with its answer."""
        return self.prompt_length + self.digits + 1

    @property
    def answer(self) -> slice:
        """The positions that hold the answer."""
        return slice(self.prompt_length, self.length)

    @property
    def predicting(self) -> slice:
        """The positions whose output is the answer: each is one before the token it predicts."""
        return slice(self.prompt_length - 1, self.length - 1)

    def prompt(
        self, x: Int[_AnyArray, "*step digit batch"], y: Int[_AnyArray, "*step digit batch"]
    ) -> Int[_AnyArray, "*step pos batch"]:
        """The tokens of the problem, given its digits, units first."""
        require_value(x.shape[-2] == self.digits, "the number of digits", str(self.digits), x.shape[-2])
        x, y = _ordered(x, self.numbers_highest_first), _ordered(y, self.numbers_highest_first)
        opening, plus, equals = (self._marks(marks, x) for marks in (self.opening, self.plus, self.equals))
        second = [*plus, y] if self.operation.has_second else []
        return x.__array_namespace__().concat([*opening, x, *second, *equals], axis=-2)

    def encode(
        self,
        x: Int[_AnyArray, "*step digit batch"],
        y: Int[_AnyArray, "*step digit batch"],
        z: Int[_AnyArray, "*step digit+1 batch"],
    ) -> Int[_AnyArray, "*step pos batch"]:
        """The tokens of the problem and its answer, given all digits, units first."""
        answer = _ordered(z, self.answer_highest_first)
        return x.__array_namespace__().concat([self.prompt(x, y), answer], axis=-2)

    def solve_digits(
        self, x: Int[_AnyArray, "*step digit batch"], y: Int[_AnyArray, "*step digit batch"]
    ) -> Int[_AnyArray, "*step digit+1 batch"]:
        """The digits of the answers, units first."""
        return self.operation.run_digits(x, y, self.base)

    def decode(
        self, tokens: Int[_AnyArray, "*step pos batch"]
    ) -> Int[_AnyArray, "*step {self.digits}+1 batch"]:
        """The digits of the answer, units first."""
        return _ordered(tokens[..., self.answer, :], self.answer_highest_first)

    def position_labels(self) -> tuple[str, ...]:
        """What stands at each position: x0 is the units digit of the first number."""
        second = [*self.plus, *"?" * self.digits] if self.operation.has_second else []
        labels = [*self.opening, *"?" * self.digits, *second, *self.equals]
        labels += "?" * (self.digits + 1)
        for letter, positions in (("x", self.x_positions), ("y", self.y_positions), ("z", self.z_positions)):
            for k, position in enumerate(positions):
                labels[position] = f"{letter}{k}"
        return tuple(labels)

    def _marks(self, marks: tuple[str, ...], like: _AnyArray) -> list[_AnyArray]:
        """One constant row per mark."""
        tokens = [self.labels.index(mark) if mark in self.labels else 0 for mark in marks]
        xp = like.__array_namespace__()
        return [xp.full_like(like[..., :1, :], token) for token in tokens]


def make_layout(name: str, digits: int, base: int, operation: Operation = ADD) -> Layout:
    """The named layout for numbers of this many digits in this base, and what is done with them."""
    if name not in LAYOUTS:
        raise make_unknown_error("layout", name, LAYOUTS)
    require_value(digits >= 1, "digits", "at least 1", digits)
    layout = replace(LAYOUTS[name], digits=digits, base=base, operation=operation)
    require_bounds(layout, base=(LEAST_BASE, MOST_BASE))
    return layout


def _list_positions(start: int, count: int, highest_first: bool) -> range:
    """The positions of digits 0, 1, ... of a number that is written from `start` on."""
    positions = range(start, start + count)
    return positions[::-1] if highest_first else positions


def _ordered(digits: _AnyArray, highest_first: bool) -> _AnyArray:
    """Digits in the order of writing; the same turn brings them back."""
    return digits[..., ::-1, :] if highest_first else digits


LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout("lsb", opening=(), plus=("+",), equals=("=",)),
        # Every number between a mark and one more 0, all token 0: no end is special, whatever the length.
        Layout("columns", opening=("<",), plus=("0", "<"), equals=("0", "<"), is_any_length=True),
        # Both numbers at constant offsets from the answer, so that rotary positions can route.
        Layout("lsb24", opening=("0",), plus=("0", "0"), equals=("0",)),
        Layout(
            "msb",
            opening=("<bos>",),
            plus=("+",),
            equals=("=",),
            own_marks=("=", "<bos>", "<eos>", "+"),
            numbers_highest_first=True,
            answer_highest_first=True,
        ),
        Layout("nanogpt", opening=(), plus=("+",), equals=("=",), numbers_highest_first=True),
    )
}
