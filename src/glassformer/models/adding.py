"""One sum as a model writes it: 57 + 68 is asked as tokens, and what comes back is read as a number.

>>> from glassformer.tasks import make_layout
>>> layout = make_layout("msb", digits=2, base=10)
>>> read_answer_number(layout, np.array([5, 2, 1])), read_answer_number(layout, np.array([5, 10, 1]))
(125, '1=5')
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import require_value
from glassformer.core.waiting import TellCount
from glassformer.models.generate import measure_top_margin, write_greedy
from glassformer.models.lengths import is_any_length, lengthen_adder
from glassformer.models.model import Model
from glassformer.tasks import Addition, Layout, Operation, to_digits, to_numbers
from glassformer.tasks.addition import count_digits, split_digits
from glassformer.tasks.layouts import DIGIT_LABELS
from glassformer.tasks.operations import ADD, OPERATIONS

_SHOWN = 300  # digits of a number that a sentence still writes out


@dataclass(frozen=True)
class _AnswerDigit:
    """One token of an answer and how sure the model was of it."""

    place: int  # 0 is the units
    token: int
    label: str
    margin: float  # logits between this token and the next best


@dataclass(frozen=True)
class SumAnswer:
    """What a model answers to a + b, or a - b; an answer with tokens that are no digits is a text."""

    a: int
    b: int
    expected: int
    got: int | str
    right: bool
    margin: float  # the smallest of all digits
    digits: tuple[_AnswerDigit, ...]  # in the order of writing
    base: int  # of these digits; the numbers themselves are integers
    operation: str = ADD.name

    @property
    def does(self) -> Operation:
        """What was done with the numbers."""
        return OPERATIONS[self.operation]


def write_sum(
    model: Model,
    task: Addition,
    a: object,
    b: object,
    digits: int | None = None,
    tell: TellCount | None = None,
) -> SumAnswer:
    """The sum, digit by digit, each fed back as the model wrote it; `digits` of each number: the task's."""
    model, task = lengthen_adder(model, task, task.digits if digits is None else digits)
    first, second = require_summand("a", a, task), require_summand("b", b, task)
    layout, gaps = task.written(), list[float]()

    def watch(logits: Float[np.ndarray, "tok batch"]) -> None:
        gaps.append(float(measure_top_margin(logits)[0]))
        if tell:
            tell(1)

    prompt = layout.prompt(*(to_digits([number], task.digits, task.base) for number in (first, second)))
    tokens = write_greedy(model, prompt, task.digits + 1, watch)
    got = read_answer_number(layout, layout.decode(tokens)[:, 0])
    places = {position: place for place, position in enumerate(layout.z_positions)}
    written = tuple(
        _AnswerDigit(
            places[place],
            int(tokens[place, 0]),
            label_token(layout, int(tokens[place, 0])),
            gap,
        )
        for place, gap in zip(range(layout.prompt_length, layout.length), gaps, strict=True)
    )
    total = task.solve(first, second)
    return SumAnswer(first, second, total, got, got == total, min(gaps), written, task.base, task.operation)


def choose_sum_digits(model: Model, task: Addition, *summands: object) -> int:
    """Digits to write numbers with: the task's, or their own where the model takes every length."""
    whole = [int(one) for one in summands if isinstance(one, int | np.integer) and not isinstance(one, bool)]
    if not is_any_length(model.architecture, task) or len(whole) < len(summands) or min(whole) < 0:
        return task.digits
    return max(count_digits(number, task.base) for number in whole)


def read_answer_number(layout: Layout, digits: Int[np.ndarray, " digit"]) -> int | str:
    """The number that these tokens, units first, spell; a text where they are not all digits."""
    if (digits < layout.base).all():
        return to_numbers(digits[:, None], layout.base)[0]
    return "".join(label_token(layout, int(digit)) for digit in digits[::-1])


def format_in_base(number: int, base: int) -> str:
    """The number as its digits are labelled, highest first.

    >>> format_in_base(66, 7), format_in_base(255, 16), format_in_base(0, 2)
    ('123', 'ff', '0')
    """
    digits = split_digits(number, count_digits(number, base), base)
    return "".join(DIGIT_LABELS[digit] for digit in reversed(digits))


def label_token(layout: Layout, token: int) -> str:
    """What stands for a token; the layout has no label for those that only the model knows."""
    return layout.labels[token] if token < len(layout.labels) else f"<{token}>"


def require_summand(name: str, value: object, task: Addition) -> int:
    """The value, if it is an integer that the task can write."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    number, most = int(value) if isinstance(value, int | np.integer) else -1, task.base**task.digits - 1
    named = most if task.digits <= _SHOWN else f"{task.base}^{task.digits} - 1"
    require_value(is_whole and 0 <= number <= most, name, f"an integer between 0 and {named}", value)
    return number
