"""The steps of a model as lines of Python, the same for PyTorch and for plain lists but for a few words.

A step that has a name in the trace becomes a line: `attn_scores_0 = scores(attn_q, attn_k) + self.mask`. A
step that is read once is written where it is read, as long as the line stays short; others are `t1`, `t2`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from glassformer.exports.literals import LINE
from glassformer.exports.simplify import BATCH, POSITIONS, ProgramStep, SimplifiedProgram

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_OPEN = {BATCH: "batch", POSITIONS: "length"}  # sizes that the tokens say
_SHORT = 16  # characters that the name of a line may have; longer ones leave less for the rest
_SUM, _PRODUCT, _SIGN, _WHOLE = 1, 2, 3, 4  # how tightly an expression holds together


@dataclass(frozen=True)
class Dialect:
    """The words in which one kind of file differs from the other."""

    leaf: str  # before the name of a parameter: "self."
    words: Mapping[str, str]  # operation -> function
    full: str  # an array of one number, with {shape} and {number}


@dataclass
class LineWriter:
    """Goes through the steps; `lines` is the body of the forward pass, without indent."""

    steps: SimplifiedProgram
    dialect: Dialect
    fixed: Mapping[int, str]  # constant, or scatter -> the array as the file says it; others are numbers
    room: int = LINE - 8  # for a line: the indent is taken off
    lines: list[str] = field(default_factory=list)
    texts: dict[int, tuple[str, int]] = field(default_factory=dict)  # step -> expression, how tight
    made: int = 0  # lines without a name of the trace
    waiting: list[str] = field(default_factory=list)  # lines before that of the next name
    group: str = ""  # of the last line's name

    def write(self) -> list[str]:
        uses, last = self.steps.uses(), len(self.steps.steps) - 1
        for place, step in enumerate(self.steps.steps):
            names = self.steps.names.get(place, [])
            name = to_python_name(names[0]) if names else ""
            self.texts[place] = self.expression(step, self.room - max(len(name), _SHORT) - len(" = "))
            if place == last or (not self.is_leaf(place) and (names or uses[place] > 1)):
                self.assign(place, names)
        return self.lines

    def assign(self, place: int, names: list[str]) -> None:
        """A line of its own, under the first of its names; it waits for the part that it belongs to."""
        self.made += not names
        name = to_python_name(names[0]) if names else f"t{self.made}"
        self.waiting.append(f"{name} = {self.texts[place][0]}")
        self.texts[place] = (name, _WHOLE)
        if names:
            group = _find_line_group(names[0])
            self.lines += [""] if self.group and group != self.group else []
            self.lines, self.waiting, self.group = [*self.lines, *self.waiting], [], group

    def expression(self, step: ProgramStep, room: int) -> tuple[str, int]:
        """The text of a step, given those of what it reads; what gets too long is given a line before it."""
        found = self.compose(step)
        while len(found[0]) > room:
            longest = max(step.reads, key=lambda place: len(self.texts[place][0]), default=None)
            if longest is None or self.is_leaf(longest) or self.texts[longest][0].isidentifier():
                return self.exploded(step, found)
            self.assign(longest, [])
            found = self.compose(step)
        return found

    def is_leaf(self, place: int) -> bool:
        return self.steps.steps[place].operation in ("parameter", "constant", "input")

    def exploded(self, step: ProgramStep, found: tuple[str, int]) -> tuple[str, int]:
        """A long list of parts as lines of its own."""
        if step.operation not in ("join", "stack"):
            return found
        self.made += 1
        name = f"t{self.made}"
        self.waiting += [f"{name} = [", *(f"    {self.texts[place][0]}," for place in step.reads), "]"]
        return f"{self.dialect.words[step.operation]}({name}, {step.option})", _WHOLE

    def compose(self, step: ProgramStep) -> tuple[str, int]:
        operation, option = step.operation, step.option
        if operation in _INFIX:
            return self.infix(step)
        if operation in ("view", "reshape", "sum", "spread", "neg"):
            return self.suffix(step)
        if operation == "input":
            return "tokens", _WHOLE
        if operation == "parameter":
            return self.dialect.leaf + to_python_name(option), _WHOLE
        if operation == "constant":
            place = self.steps.places[repr(step)]
            return (self.fixed[place], _WHOLE) if place in self.fixed else _format_scalar(option[0])
        if operation == "fill":
            return self.dialect.full.format(
                shape=_format_shape_tuple(step.shape), number=_format_scalar(option)[0]
            ), _WHOLE
        return f"{self.dialect.words[choose_dialect_key(step)]}({', '.join(self.arguments(step))})", _WHOLE

    def arguments(self, step: ProgramStep) -> list[str]:
        """What stands between the parentheses of a function."""
        texts = [self.texts[place][0] for place in step.reads]
        if step.operation in ("join", "stack"):
            return [f"[{', '.join(texts)}]", str(step.option)]
        if step.operation == "softmax":
            return [*texts, *([repr(step.option)] if step.option else [])]
        if step.operation == "scatter":
            return [*texts, self.fixed[self.steps.places[repr(step)]], repr(step.shape)]
        return texts

    def infix(self, step: ProgramStep) -> tuple[str, int]:
        tight = _SUM if step.operation in ("add", "sub") else _PRODUCT
        left, right = step.reads
        # On the right side an equal rank is not enough: a - (b - c), and sums keep the order of the pass.
        return f"{self.held(left, tight)} {_INFIX[step.operation]} {self.held(right, tight + 1)}", tight

    def suffix(self, step: ProgramStep) -> tuple[str, int]:
        (place,) = step.reads
        if step.operation == "neg":
            return f"-{self.held(place, _SIGN)}", _SIGN
        source, sizes = self.held(place, _WHOLE), _format_axis_sizes(step.shape)
        if step.operation == "sum":
            return f"{source}.sum({step.option})", _WHOLE
        if step.operation == "view":
            return f"{source}{format_view(step, self.steps.steps[place].shape)}", _WHOLE
        return f"{source}.{'reshape' if step.operation == 'reshape' else 'expand'}({sizes})", _WHOLE

    def held(self, place: int, tight: int) -> str:
        """An operand, in parentheses where it would fall apart."""
        text, rank = self.texts[place]
        return text if rank >= tight else f"({text})"


def choose_dialect_key(step: ProgramStep) -> str:
    """The operation as dialects know it: a softmax with one more part of the whole has a name of its own."""
    return "softmax1" if step.operation == "softmax" and step.option else step.operation


def format_view(step: ProgramStep, sizes: tuple[int, ...]) -> str:
    """What follows the array: `.T`, or the keys of its axes, as in `[:2]` and `[:, None]`."""
    axes, starts, strides = (step.option[key] for key in ("axes", "start", "step"))
    if axes == list(range(len(sizes)))[::-1] and len(sizes) > 1:
        return ".T"
    keys, shape = list[str](), iter(step.shape)
    kept = iter(axes)
    ahead = next(kept, None)
    for axis, size in enumerate(sizes):
        while ahead == -1:
            keys, ahead, _ = [*keys, "None"], next(kept, None), next(shape)
        if ahead == axis:
            keys.append(_format_slice(starts[axis], strides[axis], next(shape), size))
            ahead = next(kept, None)
        else:
            keys.append(str(starts[axis]))
    keys += ["None" for axis in (ahead, *kept) if axis == -1]
    while keys[-1:] == [":"]:
        keys.pop()
    return f"[{', '.join(keys)}]"


def _format_slice(start: int, stride: int, count: int, size: int) -> str:
    """Of `count` entries from `start` on; batch and open positions are whole or their first entry."""
    if count in _OPEN:
        return ":"
    stop = start + (count - 1) * stride + 1
    first, last = str(start or ""), "" if stop == size else str(stop)
    return f"{first}:{last}" + (f":{stride}" if stride != 1 else "")


def _format_axis_sizes(shape: tuple[int, ...]) -> str:
    return ", ".join(_OPEN.get(size, str(size)) for size in shape)


def _format_shape_tuple(shape: tuple[int, ...]) -> str:
    return f"({_format_axis_sizes(shape)}{',' if len(shape) == 1 else ''})"


def _format_scalar(number: float) -> tuple[str, int]:
    return repr(number).replace("e+", "e"), _SIGN if number < 0 else _WHOLE


def to_python_name(name: str) -> str:
    """`attn.q.weight` as a name of Python's."""
    return name.replace(".", "_")


def _find_line_group(name: str) -> str:
    """Lines of the same part stand together: `attn` of `attn.scores.0`, `layer1.ff` of `layer1.ff.up`."""
    words = name.split(".")
    return ".".join(words[: 2 if words[0].startswith("layer") else 1])
