"""The story of an adder: the digits, a column's attention, its number line and carry, the smallest margin."""

from functools import cached_property
from typing import Any

import numpy as np

from glassformer.models.adding import format_in_base, read_answer_number
from glassformer.pages.pack import unpack_array
from glassformer.pages.story import Chapter, StorySubject, describe_attention_row, make_chapter
from glassformer.pages.story_past import tell_parameters, tell_proof, tell_seeds, tell_training
from glassformer.pages.words import format_number, group_digits
from glassformer.pages.worst import describe_column
from glassformer.proofs.response import parse_pair, write_sums
from glassformer.tasks import to_digits

_SHOWN = 4  # positions that a sentence names


class _WrittenSum:
    """The page's first pair as the model adds it, in double precision."""

    def __init__(self, tale: StorySubject) -> None:
        self.tale, self.task = tale, tale.loaded.addition
        self.a, self.b = parse_pair(tale.input)
        self.layout = self.task.written()
        x, y = (to_digits([number], self.task.digits, self.task.base) for number in (self.a, self.b))
        self.x, self.y = np.append(x[:, 0], 0), np.append(y[:, 0], 0)
        self.sum = write_sums(tale.model, self.task, x, y)
        self.written = self.sum.tokens[self.layout.answer, 0]
        self.wanted, self.margins = self.sum.wanted[:, 0], self.sum.margins[:, 0]

    @property
    def focus(self) -> int:
        """The first wrong step, or the one with the smallest margin."""
        wrong = np.flatnonzero(self.written != self.wanted)
        return int(wrong[0]) if len(wrong) else int(self.margins.argmin())

    @property
    def place(self) -> int:
        """The position that writes the digit in focus."""
        return self.layout.prompt_length - 1 + self.focus

    @property
    def column(self) -> int:
        return list(self.layout.z_positions).index(self.place + 1)

    @property
    def carry(self) -> int:
        """Into the column in focus, in the right sum."""
        power = self.task.base**self.column
        return int((self.a % power + self.b % power) // power)

    @cached_property
    def trace(self) -> dict[str, np.ndarray]:
        return self.tale.model.trace(self.sum.tokens[:-1, 0])

    @property
    def logits(self) -> np.ndarray:
        return np.asarray(self.trace["logits"][self.place], np.float64)

    @property
    def where(self) -> str:
        """The column in focus, in words."""
        return describe_column(self.column, self.task.base)

    def named(self, place: int) -> str:
        """`x2 (a 9)`: the digit at a position, by its number and column; a mark as it is."""
        label = self.tale.page["task"]["positions"][place]
        token = self.tale.label(int(self.sum.tokens[place, 0]))
        article = "an" if token == "8" else "a"
        return f"{label} ({article} {token})" if label[0] in "xyz" and label[1:].isdigit() else f"'{label}'"


def tell_adder_story(tale: StorySubject) -> list[Chapter | None]:
    writing = _WrittenSum(tale)
    wrong, total = _count_wrong_sums(tale)
    return [
        _tell_pair(writing),
        _tell_column_attention(writing),
        _tell_carry(writing),
        _tell_worst_digit(writing),
        tell_proof(tale, float(writing.margins.min())),
        tell_parameters(tale, wrong, total),
        tell_training(tale, "digits"),
        tell_seeds(tale),
    ]


def _tell_pair(writing: _WrittenSum) -> Chapter:
    """The pair, how it is written, and the answer."""
    page, right = writing.tale.page, writing.a + writing.b
    order = "highest digit first" if writing.layout.answer_highest_first else "units first"
    got = read_answer_number(writing.layout, writing.layout.decode(writing.sum.tokens)[:, 0])
    verdict = "which is right" if (writing.written == writing.wanted).all() else f"but {right} is right"
    return make_chapter(
        "The digits",
        [
            f"The model reads two numbers digit by digit and writes their sum {order}: "
            f"{group_digits(len(writing.wanted))} digits, each from everything before it.",
            f"The pair is {writing.a} + {writing.b}: {page['start']['why']}.",
            f"The model writes {got}, {verdict}.",
        ],
        "digits",
    )


def _tell_column_attention(writing: _WrittenSum) -> Chapter | None:
    """What the column in focus attends to; the sharpest head is shown."""
    found = _list_attention_rows(writing)
    if not found:
        return None
    layer, head, row = max(found, key=lambda one: float(one[2].max()))
    whose = _describe_sharpest_head(layer, head, found)
    here = f"The digit of {writing.where} is predicted at {writing.named(writing.place)}"
    return make_chapter(
        "What a column attends to" if "column" in writing.where else f"What {writing.where} attend to",
        [
            f"{here}.",
            f"From there {whose} gives {describe_attention_row(row, writing.named, _SHOWN)}.",
            "x0 and y0 are the units of the two numbers; z0 is the units digit of the sum.",
        ],
        "attention",
        place=writing.place,
        layer=layer,
        head=head,
    )


def _describe_sharpest_head(layer: int, head: int, found: list[tuple[int, int, np.ndarray]]) -> str:
    """As short as the model allows."""
    if len(found) == 1:
        return "attention"
    is_deep = len({index for index, _, _ in found}) > 1
    return f"{f'layer {layer}, ' if is_deep else ''}head {head}, the sharpest of {len(found)} heads here,"


def _list_attention_rows(writing: _WrittenSum) -> list[tuple[int, int, np.ndarray]]:
    """The attention weights of the position in focus: layer, head, row."""
    place = writing.place
    return [
        (index, head, np.asarray(writing.trace[f"{layer['prefix']}attn.weights.{head}"][place, : place + 1]))
        for index, layer in enumerate(writing.tale.page["model"]["layers"])
        for head in range(layer["heads"])
    ]


def _tell_carry(writing: _WrittenSum) -> Chapter:
    """The column's sum and carry, and the two best digits."""
    total = int(writing.x[writing.column] + writing.y[writing.column]) + writing.carry
    x, y = (writing.tale.label(int(part[writing.column])) for part in (writing.x, writing.y))
    first, second = (int(token) for token in np.argsort(-writing.logits, kind="stable")[:2])
    gap = format_number(float(writing.logits[first] - writing.logits[second]))
    digit = writing.tale.label(int(writing.wanted[writing.focus]))
    return make_chapter(
        "The number line and the carry",
        [
            f"In {writing.where} the digits are {x} and {y}, and the carry into them is "
            f"{writing.carry}: they sum to {_name_total(total, writing.task.base)}, so the right digit is "
            f"{digit}.",
            f"The largest logit is that of {writing.tale.label(first)}, the next that of "
            f"{writing.tale.label(second)}; they differ by {gap}.",
            "The line shows where the answer would change.",
        ],
        "numberline",
        place=writing.place,
    )


def _name_total(total: int, base: int) -> str:
    """The sum of a column, at most twice the base minus 1: `12`, or `12, which is 15 in base 7`.

    >>> _name_total(12, 10), _name_total(12, 7)
    ('12', '12, which is 15 in base 7')
    """
    written = format_in_base(total, base)
    return str(total) if str(total) == written else f"{total}, which is {written} in base {base}"


def _tell_worst_digit(writing: _WrittenSum) -> Chapter:
    """The first wrong digit, or the one with the smallest margin."""
    margin, step = float(writing.margins[writing.focus]), writing.focus
    got, digit = (writing.tale.label(int(part[step])) for part in (writing.written, writing.wanted))
    where = writing.where
    if (writing.written == writing.wanted).all():
        largest = format_number(float(writing.margins.max()))
        text = [
            f"Every digit is right. The smallest margin is at {where}: the logit of {digit} is "
            f"{format_number(margin)} above the next.",
            f"The largest margin of this sum is {largest}.",
        ]
        return make_chapter("The smallest margin", text, "digits", place=writing.place)
    wrong = int((writing.written != writing.wanted).sum())
    before = f"The {step} digits written before it are right." if step > 1 else ""
    text = [
        f"At {where} the model writes {got} where {digit} is right: the logit of {digit} is "
        f"{format_number(-margin)} below the best.",
        before,
        f"{group_digits(wrong)} of the {group_digits(len(writing.wanted))} digits of this sum are wrong."
        if wrong > 1
        else "All other digits of this sum are right.",
    ]
    return make_chapter("The wrong digit", text, "digits", place=writing.place)


def _count_wrong_sums(tale: StorySubject) -> tuple[int, int]:
    """How many sums of the test set have a wrong digit, given the right ones before it."""
    test: dict[str, Any] = tale.page["test"]
    tokens, answers = unpack_array(test["tokens"]), unpack_array(test["answers"])
    logits = tale.model.logits(tokens, last=len(answers)).astype(np.float64)  # tok step batch
    right = (logits.argmax(0) == answers).all(0)
    return int((~right).sum()), len(right)
