"""The story of an adder: the digits, where a column looks, its number line and carry, and the worst digit."""

from functools import cached_property
from typing import Any

import numpy as np

from glassformer.model.adding import read_number
from glassformer.page.pack import unpacked
from glassformer.page.story import Chapter, Tale, chapter, looked
from glassformer.page.story_past import learned_chapter, numbers_chapter, proof_chapter, seeds_chapter
from glassformer.page.words import grouped, short
from glassformer.page.worst import column_words
from glassformer.proof.response import read_pair, write_sums
from glassformer.tasks import digits_of

SHOWN = 4  # places that a sentence names


class Writing:
    """The page's first pair as the model adds it, in double precision."""

    def __init__(self, tale: Tale) -> None:
        self.tale, self.task = tale, tale.loaded.addition
        self.a, self.b = read_pair(tale.input)
        self.layout = self.task.written()
        x, y = (digits_of([number], self.task.digits) for number in (self.a, self.b))
        self.x, self.y = np.append(x[:, 0], 0), np.append(y[:, 0], 0)
        self.sum = write_sums(tale.model, self.task, x, y)
        self.written = self.sum.tokens[self.layout.answer, 0]
        self.wanted, self.margins = self.sum.wanted[:, 0], self.sum.margins[:, 0]

    @property
    def focus(self) -> int:
        """The step that goes wrong first, or the one with the smallest margin."""
        wrong = np.flatnonzero(self.written != self.wanted)
        return int(wrong[0]) if len(wrong) else int(self.margins.argmin())

    @property
    def place(self) -> int:
        """Where the digit in focus is predicted."""
        return self.layout.prompt_length - 1 + self.focus

    @property
    def column(self) -> int:
        return list(self.layout.z_places).index(self.place + 1)

    @property
    def carry(self) -> int:
        """Into the column in focus, in the right sum."""
        power = 10**self.column
        return int((self.a % power + self.b % power) // power)

    @cached_property
    def trace(self) -> dict[str, np.ndarray]:
        return self.tale.model.trace(self.sum.tokens[:-1, 0])

    @property
    def logits(self) -> np.ndarray:
        return np.asarray(self.trace["logits"][self.place], np.float64)

    def named(self, place: int) -> str:
        """`x2 (a 9)`: the digit of a place by its number and column; a mark as it is."""
        label = self.tale.page["task"]["positions"][place]
        token = self.tale.label(int(self.sum.tokens[place, 0]))
        article = "an" if token == "8" else "a"
        return f"{label} ({article} {token})" if label[0] in "xyz" and label[1:].isdigit() else f"'{label}'"


def adder_story(tale: Tale) -> list[Chapter | None]:
    writing = Writing(tale)
    wrong, total = test_error(tale)
    return [
        asked(writing),
        attended(writing),
        weighed(writing),
        worst_digit(writing),
        proof_chapter(tale, float(writing.margins.min())),
        numbers_chapter(tale, wrong, total),
        learned_chapter(tale, "digits"),
        seeds_chapter(tale),
    ]


def asked(writing: Writing) -> Chapter:
    """The pair, how it is written, and the answer."""
    page, right = writing.tale.page, writing.a + writing.b
    order = "highest digit first" if writing.layout.answer_highest_first else "units first"
    got = read_number(writing.layout, writing.layout.decode(writing.sum.tokens)[:, 0])
    verdict = "which is right" if (writing.written == writing.wanted).all() else f"but {right} is right"
    return chapter(
        "The digits",
        [
            f"The model reads two numbers digit by digit and writes their sum {order}: "
            f"{grouped(len(writing.wanted))} digits, each from all that stands before it.",
            f"The pair is {writing.a} + {writing.b}: {page['start']['why']}.",
            f"The model writes {got}, {verdict}.",
        ],
        "digits",
    )


def attended(writing: Writing) -> Chapter | None:
    """Where the column in focus looks, layer by layer and head by head; the sharpest is shown."""
    found = attention_rows(writing)
    if not found:
        return None
    layer, head, row = max(found, key=lambda one: float(one[2].max()))
    whose = head_words(layer, head, found)
    here = f"The digit of {column_words(writing.column)} is predicted at {writing.named(writing.place)}"
    return chapter(
        f"Where {column_words(writing.column)} look" if writing.column < 4 else "Where a column looks",
        [
            f"{here}.",
            f"From there {whose} gives {looked(row, writing.named, SHOWN)}.",
            "x0 and y0 are the units of the two numbers, z0 those of the sum.",
        ],
        "attention",
        place=writing.place,
        layer=layer,
        head=head,
    )


def head_words(layer: int, head: int, found: list[tuple[int, int, np.ndarray]]) -> str:
    """As short as the model allows."""
    if len(found) == 1:
        return "attention"
    is_deep = len({index for index, _, _ in found}) > 1
    return f"{f'layer {layer}, ' if is_deep else ''}head {head}, of {len(found)} the most sure here,"


def attention_rows(writing: Writing) -> list[tuple[int, int, np.ndarray]]:
    """The weights of the place in focus: layer, head, row."""
    place = writing.place
    return [
        (index, head, np.asarray(writing.trace[f"{layer['prefix']}attn.weights.{head}"][place, : place + 1]))
        for index, layer in enumerate(writing.tale.page["model"]["layers"])
        for head in range(layer["heads"])
    ]


def weighed(writing: Writing) -> Chapter:
    """The column's sum and carry, and the two best digits."""
    x, y, carry = int(writing.x[writing.column]), int(writing.y[writing.column]), writing.carry
    first, second = (int(token) for token in np.argsort(-writing.logits, kind="stable")[:2])
    gap = short(float(writing.logits[first] - writing.logits[second]))
    digit = int(writing.wanted[writing.focus])
    return chapter(
        "The number line and the carry",
        [
            f"In {column_words(writing.column)} stand {x} and {y}, and the carry from below is {carry}: "
            f"together {x + y + carry}, so the digit to write is {digit}.",
            f"The largest logit is {writing.tale.label(first)}'s, the next {writing.tale.label(second)}'s, "
            f"and {gap} lie between them.",
            "The line shows where the answer would change.",
        ],
        "numberline",
        place=writing.place,
    )


def worst_digit(writing: Writing) -> Chapter:
    """The digit that fails, or comes nearest to failing."""
    margin, step = float(writing.margins[writing.focus]), writing.focus
    got, digit = writing.tale.label(int(writing.written[step])), int(writing.wanted[step])
    where = column_words(writing.column)
    if (writing.written == writing.wanted).all():
        largest = short(float(writing.margins.max()))
        text = [
            f"Every digit is right. The least sure is that of {where}: its {digit} leads by {short(margin)}.",
            f"The surest digit of this sum leads by {largest}.",
        ]
        return chapter("The least sure digit", text, "digits", place=writing.place)
    wrong = int((writing.written != writing.wanted).sum())
    before = f"The {step} digits written before it are right." if step > 1 else ""
    text = [
        f"At {where} the model writes {got} where {digit} is right: the logit of {digit} is "
        f"{short(-margin)} below the best.",
        before,
        f"{grouped(wrong)} of the {grouped(len(writing.wanted))} digits of this sum are wrong."
        if wrong > 1
        else "All other digits of this sum are right.",
    ]
    return chapter("The digit that fails", text, "digits", place=writing.place)


def test_error(tale: Tale) -> tuple[int, int]:
    """How many sums of the test set have a wrong digit, given the right ones before it."""
    test: dict[str, Any] = tale.page["test"]
    tokens, answers = unpacked(test["tokens"]), unpacked(test["answers"])
    logits = tale.model.logits(tokens, last=len(answers)).astype(np.float64)  # tok step batch
    right = (logits.argmax(0) == answers).all(0)
    return int((~right).sum()), len(right)
