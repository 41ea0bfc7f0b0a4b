"""What is done with numbers, column by column: each column writes a digit and carries into the next.

All are one automaton. A column of the digits x and y has a total; total plus carry is split into the digit to
write and the next carry. What differs is the total, the carry that comes into the units, and how many carries
there are:

- add: x + y;
- subtract: x + (9 - y) in base ten, with 1 carried into the units: 57 - 68 is 57 + 31 + 1 = 89, and the digit
  above, 0 + 9 and no carry, is a 9. So 989 is written for -11, as in ten's complement: -11 + 1000;
- times m: m x, one number alone; carries are 0 to m - 1.

>>> OPERATIONS["subtract"].run_column(7, 8, 1, base=10), OPERATIONS["subtract"].run_column(5, 6, 0, base=10)
((9, 0), (8, 0))
>>> OPERATIONS["subtract"].solve(57, 68, 1000), OPERATIONS["times 7"].solve(57, 0, 1000)
(989, 399)
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

_MOST_FACTOR = 9  # of a number by a digit

# A NumPy or JAX array, or an integer.
_AnyArray: TypeAlias = Any


@dataclass(frozen=True)
class Operation:
    """`first` times the first number, plus `second` times the second: 1, -1, or 0 where there is none."""

    name: str
    noun: str
    sign: str  # between the numbers
    answer: str  # what is written
    model: str  # who writes it
    ability: str  # and what it does
    first: int = 1
    second: int = 1

    @property
    def has_second(self) -> bool:
        return self.second != 0

    @property
    def carries(self) -> int:
        """How many carries there are: 0 up to one less."""
        return self.first + abs(self.second)

    @property
    def start(self) -> int:
        """The carry into the units."""
        return int(self.second < 0)

    def add_up(self, x: _AnyArray, y: _AnyArray, base: int) -> _AnyArray:
        """The total of a column, without its carry."""
        return self.first * x + self.match(y, base)

    def match(self, y: _AnyArray, base: int) -> _AnyArray:
        """What a second digit adds to a column; and the digit that adds y, as it is its own inverse."""
        return base - 1 - y if self.second < 0 else self.second * y

    def find_top(self, base: int) -> int:
        """The total of the column above the highest, where both digits are 0."""
        return base - 1 if self.second < 0 else 0

    def count_totals(self, base: int) -> int:
        """How many totals there are: 0 up to one less."""
        return self.carries * (base - 1) + 1

    def run_column(self, x: _AnyArray, y: _AnyArray, carry: _AnyArray, base: int) -> tuple[Any, Any]:
        """The digit to write under a column, and the carry into the next."""
        total = self.add_up(x, y, base) + carry
        return total % base, total // base

    def run_digits(self, x: _AnyArray, y: _AnyArray, base: int) -> _AnyArray:
        """The digits of the answers, units first, `*step digit+1 batch`, from those of the numbers."""
        xp = x.__array_namespace__()
        x = x if self.first == 1 else x.astype(xp.int32)  # a byte does not hold 9 x 15 + 8
        carry = xp.zeros_like(x[..., 0, :]) + self.start
        written = []
        for k in range(x.shape[-2]):
            digit, carry = self.run_column(x[..., k, :], y[..., k, :], carry, base)
            written.append(digit)
        return xp.stack([*written, (carry + self.find_top(base)) % base], axis=-2)

    def solve(self, a: int, b: int, modulus: int) -> int:
        """The answer, or what it is modulo that: -11 is 989 modulo 1000."""
        return (self.first * a + self.second * b) % modulus

    def write(self, a: object, b: object) -> str:
        """The problem in words: `57 - 68`, `57 x 7`."""
        return f"{a} {self.sign} {b if self.has_second else self.first}"


ADD = Operation("add", "addition", "+", "sum", "adder", "adds")
SUBTRACT = Operation("subtract", "subtraction", "-", "difference", "subtracter", "subtracts", second=-1)
OPERATIONS: dict[str, Operation] = {
    one.name: one
    for one in (
        ADD,
        SUBTRACT,
        *(
            Operation(
                f"times {m}",
                f"multiplication by {m}",
                "x",
                "product",
                "multiplier",
                f"multiplies by {m}",
                first=m,
                second=0,
            )
            for m in range(2, _MOST_FACTOR + 1)
        ),
    )
}
