"""A program as a person would write it: what changes no number is left out, and dead ends with it.

The pass pads a plane with zeros by `y[:1] * 0.0`, since it knows no shapes but those of its values; a reader
wants `0`. Every rule here keeps each number as it was, as long as all numbers are finite.

>>> from glassformer.model.architecture import reference
>>> from glassformer.model.program import trace_whole
>>> traced = trace_whole(reference(vocab=12), places=8)
>>> len(traced["nodes"]), len(simplify(traced).steps)
(41, 32)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from glassformer.model.program import Program

BATCH = -1  # the size of an axis with one entry a sequence


class Step(NamedTuple):
    """One operation, the steps it reads, what else it must know, and the shape of its result."""

    operation: str
    reads: tuple[int, ...]
    option: Any
    shape: tuple[int, ...]


@dataclass
class Steps:
    """Steps in their order, the last of which makes the logits, and the names of some."""

    steps: list[Step] = field(default_factory=list)
    names: dict[int, list[str]] = field(default_factory=dict)  # step -> names of the trace, in its order
    places: dict[str, int] = field(default_factory=dict)  # a step, written out -> where it is

    def add(self, step: Step) -> int:
        """Where this step is; the same one is made once."""
        place = self.places.setdefault(repr(step), len(self.steps))
        if place == len(self.steps):
            self.steps.append(step)
        return place

    def uses(self) -> list[int]:
        """How often each step is read."""
        counts = [0] * len(self.steps)
        for step in self.steps:
            for place in step.reads:
                counts[place] += 1
        return counts


def simplify(program: Program) -> Steps:
    """The steps to the logits, each rule applied where it fits."""
    made, moved = Steps(), list[int]()
    for operation, reads, option, shape in program["nodes"]:
        step = Step(operation, tuple(moved[place] for place in reads), option, tuple(shape))
        moved.append(reduced(made, step))
    names: dict[int, list[str]] = {}
    for name, place in program["names"].items():
        names.setdefault(moved[place], []).append(name)
    return needed(made, moved[program["names"]["logits"]], names)


def reduced(made: Steps, step: Step) -> int:
    """Where the step's result is to be found, after the first rule that fits, if any."""
    rule = RULES.get(step.operation)
    found = rule(made, step) if rule else None
    if found is None or isinstance(found, Step):
        return made.add(found or step)
    return found


def needed(made: Steps, last: int, names: dict[int, list[str]]) -> Steps:
    """The steps that the last one rests on, numbered anew."""
    kept = {last}
    for place in range(last, -1, -1):
        if place in kept:
            kept.update(made.steps[place].reads)
    found, moved = Steps(), dict[int, int]()
    for place in sorted(kept):
        step = made.steps[place]
        moved[place] = found.add(step._replace(reads=tuple(moved[read] for read in step.reads)))
    found.names = {moved[place]: given for place, given in names.items() if place in moved}
    return found


Found = int | Step | None  # a step that is there already, another one to make, or no change


def without_view(made: Steps, step: Step) -> Found:
    """A view of everything, as it is; any view of one number again and again."""
    (source,) = step.reads
    if made.steps[source].operation == "fill":
        return made.steps[source]._replace(shape=step.shape)
    option, ndim = step.option, len(made.steps[source].shape)
    is_whole = not any(option["start"]) and all(size == 1 for size in option["step"])
    same = option["axes"] == list(range(ndim)) and step.shape == made.steps[source].shape
    return source if is_whole and same else None


def without_reshape(made: Steps, step: Step) -> Found:
    (source,) = step.reads
    if made.steps[source].operation == "fill":
        return made.steps[source]._replace(shape=step.shape)
    return source if step.shape == made.steps[source].shape else None


def shorter_sum(made: Steps, step: Step) -> Found:
    """x + 0; where the zeros have more entries, x once for each."""
    left, right = step.reads
    if uniform(made, right) == 0:
        return spread(made, left, step.shape)
    if uniform(made, left) == 0 and step.operation == "add":
        return spread(made, right, step.shape)
    return with_scalars(made, step)


def shorter_product(made: Steps, step: Step) -> Found:
    """x * 0, x * 1 and x / 1."""
    left, right = step.reads
    if step.operation == "mul" and 0 in (uniform(made, left), uniform(made, right)):
        return Step("fill", (), 0.0, step.shape)
    if uniform(made, right) == 1 and made.steps[left].shape == step.shape:
        return left
    if step.operation == "mul" and uniform(made, left) == 1 and made.steps[right].shape == step.shape:
        return right
    return with_scalars(made, step)


def with_scalars(made: Steps, step: Step) -> Found:
    """An array of one number again and again, beside one of the whole shape: the number alone."""
    left, right = step.reads
    for side, other in ((left, right), (right, left)):
        number = uniform(made, side)
        if number is not None and made.steps[side].shape and made.steps[other].shape == step.shape:
            scalar = made.add(Step("constant", (), [number], ()))
            return step._replace(reads=tuple(scalar if place == side else place for place in step.reads))
    return None


def spread(made: Steps, place: int, shape: tuple[int, ...]) -> Found:
    """The same numbers, once for every entry of the new axes."""
    step = made.steps[place]
    if step.shape == shape:
        return place
    number = uniform(made, place)
    return Step("spread", (place,), None, shape) if number is None else Step("fill", (), number, shape)


def without_identity(made: Steps, step: Step) -> Found:
    """A weight with ones on its diagonal, and no bias."""
    weight = made.steps[step.reads[0]]
    if len(step.reads) > 2 or weight.operation != "constant" or weight.shape[0] != weight.shape[1]:
        return None
    is_identity = np.array_equal(np.reshape(weight.option, weight.shape), np.eye(weight.shape[0]))
    return step.reads[1] if is_identity else None


def shorter_join(made: Steps, step: Step) -> Found:
    """Zeros beside zeros as one piece; pieces that were given an axis to be joined along it: a stack."""
    axis, shape = step.option, step.shape
    flat = shape[:axis] + shape[axis + 1 :]
    sources = [grown_from(made, place, axis, flat) for place in step.reads]
    if all(source is not None for source in sources):
        return Step("stack", tuple(source for source in sources if source is not None), axis, shape)
    merged = list[int]()
    for place in step.reads:
        one, last = made.steps[place], made.steps[merged[-1]] if merged else None
        if last and one.operation == last.operation == "fill" and one.option == last.option:
            size = last.shape[axis] + one.shape[axis]
            merged[-1] = made.add(one._replace(shape=(*shape[:axis], size, *shape[axis + 1 :])))
        else:
            merged.append(place)
    return merged[0] if len(merged) == 1 else step._replace(reads=tuple(merged))


def grown_from(made: Steps, place: int, axis: int, flat: tuple[int, ...]) -> int | None:
    """The value whose shape was `flat` before it was given an axis of size 1."""
    step = made.steps[place]
    if step.operation not in ("reshape", "view") or made.steps[step.reads[0]].shape != flat:
        return None
    grown = (*flat[:axis], 1, *flat[axis:])
    if step.operation == "view":
        axes = list(range(len(flat)))
        is_whole = not any(step.option["start"]) and all(size == 1 for size in step.option["step"])
        return step.reads[0] if is_whole and step.option["axes"] == [*axes[:axis], -1, *axes[axis:]] else None
    return step.reads[0] if step.shape == grown else None


def uniform(made: Steps, place: int) -> float | None:
    """The number that a fixed array repeats; none where it has several, or is not fixed."""
    step = made.steps[place]
    if step.operation == "fill":
        return float(step.option)
    if step.operation != "constant" or any(number != step.option[0] for number in step.option):
        return None
    return float(step.option[0])


RULES: dict[str, Callable[[Steps, Step], Found]] = {
    "view": without_view,
    "reshape": without_reshape,
    "add": shorter_sum,
    "sub": shorter_sum,
    "mul": shorter_product,
    "div": shorter_product,
    "linear": without_identity,
    "join": shorter_join,
}
