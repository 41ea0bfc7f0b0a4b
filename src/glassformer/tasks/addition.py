"""Addition as an automaton: it reads columns of two digits, and its state is the carry.

57 + 68, units first: column (7, 8) gives 5 carry 1, column (5, 6) gives 2 carry 1, then 1 is left.

>>> add_digits(to_digits([57], 2, base=10), to_digits([68], 2, base=10), base=10)[:, 0].tolist()
[5, 2, 1]

In base 7 the same numbers are 111 and 125, and their sum is 236:

>>> add_digits(to_digits([57], 3, base=7), to_digits([68], 3, base=7), base=7)[:, 0].tolist()
[6, 3, 2, 0]
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError, make_unknown_error, require_bounds, require_value
from glassformer.core.values import LATER
from glassformer.tasks.layouts import LAYOUTS, LEAST_BASE, MOST_BASE, Layout, make_layout
from glassformer.tasks.operations import ADD, OPERATIONS, Operation
from glassformer.tasks.sequences import Sequences
from glassformer.tasks.task import Task, TaskWords, register

if TYPE_CHECKING:
    from glassformer.tasks.sampler import Sampler

_MOST_DIGITS = 200  # of a number: a problem has about three tokens per digit
MOST_DIGITS_AT_ALL = 10**6  # where no length is built in: seconds per digit of the answer
_DEFAULT_BASE = 10
SCHEDULE_SETTINGS = ("digit_stages", "carry_mix", "carry_until", "carry_gone")  # not about what is right
_FEW_DIGITS = 32  # that are split and joined one by one
_MOST_INT64 = 2**63  # from here on numbers are Python's own

# A NumPy or JAX array: this module asks the array for its namespace and imports neither by name.
_AnyArray: TypeAlias = Any


@register
@dataclass(frozen=True)
class Addition(Task):
    """The sum of two numbers of up to `digits` digits, written digit by digit; short numbers train first."""

    name = "addition"
    family = "addition"
    # A sum is right as a whole; of the seeds that miss none the one with the widest margin is kept.
    best_by = ("whole_accuracy", "smallest_margin")
    proves_seeds = True
    has_one_answer = True
    is_mined = True
    heft = 4

    digits: int = 10  # of each number; the sum has one more
    layout: str = "lsb"  # how a problem is written as tokens
    digit_stages: tuple[tuple[int, int], ...] = ((2_000, 3), (7_000, 6))  # (until step, most digits)
    carry_mix: float = 0.8  # share of carry-heavy pairs at first
    carry_until: int = 15_000  # step at which that share begins to fade
    carry_gone: int = 45_000  # step at which it is zero
    base: int = field(default=_DEFAULT_BASE, metadata=LATER)  # of the numbers: digits 0 to 9, then a to f
    operation: str = field(default=ADD.name, metadata=LATER)  # add, subtract, or times 2 to times 9

    def __post_init__(self) -> None:
        most = (
            MOST_DIGITS_AT_ALL
            if self.layout in LAYOUTS and LAYOUTS[self.layout].is_any_length
            else _MOST_DIGITS
        )
        require_bounds(self, base=(LEAST_BASE, MOST_BASE), digits=(1, most))
        require_bounds(self, carry_until=(0, 10**9), carry_gone=(0, 10**9))
        require_value(0 <= self.carry_mix <= 1, "carry_mix", "a share between 0 and 1", self.carry_mix)
        expected = f"above carry_until = {self.carry_until}"
        require_value(self.carry_gone > self.carry_until, "carry_gone", expected, self.carry_gone)
        if self.layout not in LAYOUTS:
            raise make_unknown_error("layout", self.layout, LAYOUTS)
        if self.operation not in OPERATIONS:
            raise make_unknown_error("operation", self.operation, OPERATIONS)
        self._require_operation()
        rising = all(a < b for a, b in zip((-1, *self._untils()), self._untils(), strict=False))
        sized = all(most >= 1 and until <= 10**9 for until, most in self.digit_stages)
        expected = "(until step, most digits) pairs with rising steps and at least 1 digit"
        require_value(rising and sized, "digit_stages", expected, self.digit_stages)

    @property
    def words(self) -> TaskWords:
        does = self.does
        return TaskWords(
            model=does.model,
            ability=does.ability,
            input="pair" if does.has_second else "number",
            inputs="inputs",
            held_out=f"{does.answer}s",
            progress=f"of {does.answer}s right",
            error=f"{does.answer}s that are wrong",
            demand=f"the {does.answer} needs",
            counted="pairs" if does.has_second else "numbers",
            fails="come out wrong",
        )

    def write_problem(self, a: object, b: object) -> str:
        return self.does.write(a, b)

    @property
    def does(self) -> Operation:
        """What is done with the numbers."""
        return OPERATIONS[self.operation]

    def solve(self, a: int, b: int) -> int:
        """The number that is written: a sum; a difference below 0 is one modulo base^(digits + 1)."""
        return self.does.solve(a, b, self.base ** (self.digits + 1))

    def solve_digits(
        self, x: Int[_AnyArray, "*step digit batch"], y: Int[_AnyArray, "*step digit batch"]
    ) -> Int[_AnyArray, "*step digit+1 batch"]:
        """Its digits, units first."""
        return self.does.run_digits(x, y, self.base)

    def match_pair(self, x: _AnyArray, y: _AnyArray) -> tuple[_AnyArray, _AnyArray]:
        """The numbers whose columns have the totals that x and y have in a sum, with the same carries."""
        return x, self.does.match(y, self.base)

    @property
    def is_any_length(self) -> bool:
        return self.written().is_any_length

    def written(self) -> Layout:
        """The layout for this base and number of digits."""
        return make_layout(self.layout, self.digits, self.base, self.does)

    def tokens(self) -> tuple[str, ...]:
        return self.written().labels

    def sampler(self, data: Sequences, context: int) -> "Sampler":
        from glassformer.tasks.sampler import SumSampler

        return SumSampler(self)

    def require_fit(self, context: int, data: Sequences) -> None:
        needed = self.written().length - 1
        # MicroAdder has one more, which no digit is predicted at.
        require_value(context >= needed, "model.context", f"at least {needed}, as the layout needs", context)

    def positions(self, context: int) -> int:
        """A sum's last digit is written, not read."""
        return self.written().length - 1

    def count_inputs(self, context: int) -> int:
        """Pairs of numbers, or numbers."""
        return int(self.base ** ((1 + self.does.has_second) * self.digits))

    def name_inputs(self, count: str, context: int) -> str:
        what = "pairs of numbers" if self.does.has_second else "numbers"
        return f"{count} {what} of up to {self.digits} digits{self.name_base()}"

    def name_base(self) -> str:
        """` in base 7`; nothing for base ten, in which numbers are shown anyway."""
        return "" if self.base == _DEFAULT_BASE else f" in base {self.base}"

    def random_inputs(self, size: int, count: int) -> tuple[Int[np.ndarray, "pos batch"], int]:
        """Pairs of numbers with their sums."""
        x, y = np.random.default_rng(0).integers(0, self.base, (2, self.digits, count))
        return self.written().encode(x, y, self.solve_digits(x, y))[:-1], self.digits + 1

    def example_inputs(self, size: int, count: int) -> Int[np.ndarray, "pos batch"]:
        """Hard pairs among them, as much of each as the model sees."""
        from glassformer.tasks.examples import encode_example_sums

        return encode_example_sums(self, count)[-size:]

    def _require_operation(self) -> None:
        """Other operations than addition have the layout for every length, and factors up to the base."""
        is_plain = self.does == ADD or self.layout == "columns"
        require_value(is_plain, "layout", f"columns, as for {self.does.noun}", self.layout)
        fits = f"times {self.base} at most, in base {self.base}"
        require_value(self.does.carries <= self.base, "operation", fits, self.operation)

    def _untils(self) -> tuple[int, ...]:
        return tuple(until for until, _ in self.digit_stages)


def require_addition(task: Task, model: str) -> Addition:
    """The task of an adder; one sentence for any other model."""
    if not isinstance(task, Addition):
        raise UserError(f"{model} cannot add: it was made for {task.name}")
    return task


def add_column(x: _AnyArray, y: _AnyArray, carry: _AnyArray, base: int) -> tuple[_AnyArray, _AnyArray]:
    """The digit to write under a column, and the carry into the next: in base ten 7 + 8 + 1 is 6 carry 1."""
    return ADD.run_column(x, y, carry, base)


def add_digits(
    x: Int[_AnyArray, "*step digit batch"], y: Int[_AnyArray, "*step digit batch"], base: int
) -> Int[_AnyArray, "*step digit+1 batch"]:
    """The digits of the sums, units first, by running the columns through `add_column`."""
    return ADD.run_digits(x, y, base)


def schedule_digits(addition: Addition, step: Int[_AnyArray, "*step"]) -> Int[_AnyArray, "*step"]:
    """How many digits the numbers of a training step may have."""
    xp = step.__array_namespace__()
    most = xp.full_like(step, addition.digits)
    for until, digits in reversed(addition.digit_stages):
        most = xp.where(step < until, min(digits, addition.digits), most)
    return most


def schedule_carry_share(addition: Addition, step: Int[_AnyArray, "*step"]) -> Float[_AnyArray, "*step"]:
    """The share of carry-heavy pairs in a training step: level, then falling in a line to zero."""
    xp = step.__array_namespace__()
    faded = (step - addition.carry_until) / (addition.carry_gone - addition.carry_until)
    return addition.carry_mix * (1 - xp.clip(faded, 0, 1))


def to_digits(numbers: Iterable[int], count: int, base: int) -> Int[np.ndarray, "digit batch"]:
    """The last `count` digits of each number, units first."""
    every = [int(number) for number in numbers]
    most = base**count - 1 if count <= _MOST_DIGITS else f"{base}^{count} - 1"
    for number in every:
        require_value(0 <= number < base**count, "a number", f"between 0 and {most}", number)
    if base**count > _MOST_INT64:
        return np.array([split_digits(number, count, base) for number in every], np.int32).T.reshape(
            count, -1
        )
    rest = np.array(every, np.int64)
    rows = []
    for _ in range(count):
        rows.append(rest % base)
        rest = rest // base
    return np.array(rows).astype(np.int32).reshape(count, len(every))


def to_numbers(digits: Int[_AnyArray, "digit batch"], base: int) -> list[int]:
    """The numbers, as Python integers of any size, whose digits these are, units first."""
    return [join_digits(column, base) for column in np.asarray(digits).T.tolist()]


def join_digits(digits: list[int], base: int) -> int:
    """The number with these digits, units first; halves are joined, so that a million take seconds."""
    if len(digits) <= _FEW_DIGITS:
        return sum(digit * base**place for place, digit in enumerate(digits))
    half = len(digits) // 2
    high: int = base**half * join_digits(digits[half:], base)
    return high + join_digits(digits[:half], base)


def count_digits(number: int, base: int) -> int:
    """How many digits a number has; 0 has one.

    >>> [count_digits(number, base=10) for number in (0, 99, 100)], count_digits(8, base=2)
    ([1, 2, 3], 4)
    """
    count = max(1, int(number.bit_length() / math.log2(base)) - 1)
    while base**count <= number:
        count += 1
    return count


def split_digits(number: int, count: int, base: int) -> list[int]:
    """The last `count` digits of a number, units first, by halves.

    >>> split_digits(125, 4, base=10)
    [5, 2, 1, 0]
    """
    if count <= _FEW_DIGITS:
        return [number // base**place % base for place in range(count)]
    half = count // 2
    high, low = divmod(number, base**half)
    return split_digits(low, half, base) + split_digits(high, count - half, base)
