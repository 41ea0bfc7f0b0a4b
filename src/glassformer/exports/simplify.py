"""A program as a person would write it: what changes no number is left out, and dead ends with it.

The pass pads a plane with zeros by `y[:1] * 0.0`, since it knows no shapes but those of its values; a reader
wants `0`. Every rule here keeps each number as it was, as long as all numbers are finite.

>>> from glassformer.models.architecture import make_reference_architecture
>>> from glassformer.models.program import trace_whole
>>> traced = trace_whole(make_reference_architecture(vocab=12), positions=8)
>>> len(traced["nodes"]), len(simplify_program(traced).steps)
(41, 32)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from glassformer.models.program import Program

BATCH = -1  # the size of an axis with one entry per sequence
POSITIONS = -2  # the size of an axis with one entry per position, where any number of them may be given


class ProgramStep(NamedTuple):
    """One operation, the steps it reads, what else it must know, and the shape of its result."""

    operation: str
    reads: tuple[int, ...]
    option: Any
    shape: tuple[int, ...]


@dataclass
class SimplifiedProgram:
    """Steps in their order, the last of which makes the logits, and the names of some."""

    steps: list[ProgramStep] = field(default_factory=list)
    names: dict[int, list[str]] = field(default_factory=dict)  # step -> names of the trace, in its order
    places: dict[str, int] = field(default_factory=dict)  # a step, written out -> where it is

    def add(self, step: ProgramStep) -> int:
        """Where this step is; the same one is made once."""
        place = self.places.setdefault(repr(step), len(self.steps))
        if place == len(self.steps):
            self.steps.append(step)
        return place

    def count_positions(self) -> int:
        """How many the tokens have; 0 where nothing reads them."""
        return next((step.shape[0] for step in self.steps if step.operation == "input"), 0)

    def uses(self) -> list[int]:
        """How often each step is read."""
        counts = [0] * len(self.steps)
        for step in self.steps:
            for place in step.reads:
                counts[place] += 1
        return counts


def simplify_program(program: Program) -> SimplifiedProgram:
    """The steps to the logits, each rule applied where it fits."""
    made, moved = SimplifiedProgram(), list[int]()
    for operation, reads, option, shape in program["nodes"]:
        step = ProgramStep(operation, tuple(moved[place] for place in reads), option, tuple(shape))
        moved.append(_reduce_step(made, step))
    names: dict[int, list[str]] = {}
    for name, place in program["names"].items():
        names.setdefault(moved[place], []).append(name)
    return _keep_needed_steps(made, moved[program["names"]["logits"]], names)


def _reduce_step(made: SimplifiedProgram, step: ProgramStep) -> int:
    """Where the step's result is to be found, after the first rule that fits, if any."""
    rule = _RULES.get(step.operation)
    found = rule(made, step) if rule else None
    if found is None or isinstance(found, ProgramStep):
        return made.add(found or step)
    return found


def _keep_needed_steps(made: SimplifiedProgram, last: int, names: dict[int, list[str]]) -> SimplifiedProgram:
    """The steps that the last one rests on, numbered anew."""
    kept = {last}
    for place in range(last, -1, -1):
        if place in kept:
            kept.update(made.steps[place].reads)
    found, moved = SimplifiedProgram(), dict[int, int]()
    for place in sorted(kept):
        step = made.steps[place]
        moved[place] = found.add(step._replace(reads=tuple(moved[read] for read in step.reads)))
    found.names = {moved[place]: given for place, given in names.items() if place in moved}
    return found


_Found = int | ProgramStep | None  # a step that is there already, another one to make, or no change


def _drop_view(made: SimplifiedProgram, step: ProgramStep) -> _Found:
    """A view of everything, as it is; any view of one number again and again."""
    (source,) = step.reads
    if made.steps[source].operation == "fill":
        return made.steps[source]._replace(shape=step.shape)
    option, ndim = step.option, len(made.steps[source].shape)
    is_whole = not any(option["start"]) and all(size == 1 for size in option["step"])
    same = option["axes"] == list(range(ndim)) and step.shape == made.steps[source].shape
    return source if is_whole and same else None


def _drop_reshape(made: SimplifiedProgram, step: ProgramStep) -> _Found:
    (source,) = step.reads
    if made.steps[source].operation == "fill":
        return made.steps[source]._replace(shape=step.shape)
    return source if step.shape == made.steps[source].shape else None


def _shorten_sum(made: SimplifiedProgram, step: ProgramStep) -> _Found:
    """x + 0; where the zeros have more entries, x once for each."""
    left, right = step.reads
    if _find_repeated_number(made, right) == 0:
        return _spread_step(made, left, step.shape)
    if _find_repeated_number(made, left) == 0 and step.operation == "add":
        return _spread_step(made, right, step.shape)
    return _use_scalars(made, step)


def _shorten_product(made: SimplifiedProgram, step: ProgramStep) -> _Found:
    """x * 0, x * 1 and x / 1."""
    left, right = step.reads
    if step.operation == "mul" and 0 in (
        _find_repeated_number(made, left),
        _find_repeated_number(made, right),
    ):
        return ProgramStep("fill", (), 0.0, step.shape)
    if _find_repeated_number(made, right) == 1 and made.steps[left].shape == step.shape:
        return left
    if (
        step.operation == "mul"
        and _find_repeated_number(made, left) == 1
        and made.steps[right].shape == step.shape
    ):
        return right
    return _use_scalars(made, step)


def _use_scalars(made: SimplifiedProgram, step: ProgramStep) -> _Found:
    """An array of one number again and again, beside one of the whole shape: the number alone."""
    left, right = step.reads
    for side, other in ((left, right), (right, left)):
        number = _find_repeated_number(made, side)
        if number is not None and made.steps[side].shape and made.steps[other].shape == step.shape:
            scalar = made.add(ProgramStep("constant", (), [number], ()))
            return step._replace(reads=tuple(scalar if place == side else place for place in step.reads))
    return None


def _spread_step(made: SimplifiedProgram, place: int, shape: tuple[int, ...]) -> _Found:
    """The same numbers, once for every entry of the new axes."""
    step = made.steps[place]
    if step.shape == shape:
        return place
    number = _find_repeated_number(made, place)
    return (
        ProgramStep("spread", (place,), None, shape)
        if number is None
        else ProgramStep("fill", (), number, shape)
    )


def _drop_identity(made: SimplifiedProgram, step: ProgramStep) -> _Found:
    """A weight with ones on its diagonal, and no bias."""
    weight = made.steps[step.reads[0]]
    if len(step.reads) > 2 or weight.operation != "constant" or weight.shape[0] != weight.shape[1]:
        return None
    is_identity = np.array_equal(np.reshape(weight.option, weight.shape), np.eye(weight.shape[0]))
    return step.reads[1] if is_identity else None


def _shorten_join(made: SimplifiedProgram, step: ProgramStep) -> _Found:
    """Zeros beside zeros as one piece; pieces that were given an axis to be joined along it: a stack."""
    axis, shape = step.option, step.shape
    flat = shape[:axis] + shape[axis + 1 :]
    sources = [_find_grown_source(made, place, axis, flat) for place in step.reads]
    if all(source is not None for source in sources):
        return ProgramStep("stack", tuple(source for source in sources if source is not None), axis, shape)
    merged = list[int]()
    for place in step.reads:
        one, last = made.steps[place], made.steps[merged[-1]] if merged else None
        if last and one.operation == last.operation == "fill" and one.option == last.option:
            size = last.shape[axis] + one.shape[axis]
            merged[-1] = made.add(one._replace(shape=(*shape[:axis], size, *shape[axis + 1 :])))
        else:
            merged.append(place)
    return merged[0] if len(merged) == 1 else step._replace(reads=tuple(merged))


def _find_grown_source(made: SimplifiedProgram, place: int, axis: int, flat: tuple[int, ...]) -> int | None:
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


def _find_repeated_number(made: SimplifiedProgram, place: int) -> float | None:
    """The number that a fixed array repeats; none where it has several, or is not fixed."""
    step = made.steps[place]
    if step.operation == "fill":
        return float(step.option)
    if step.operation != "constant" or any(number != step.option[0] for number in step.option):
        return None
    return float(step.option[0])


_RULES: dict[str, Callable[[SimplifiedProgram, ProgramStep], _Found]] = {
    "view": _drop_view,
    "reshape": _drop_reshape,
    "add": _shorten_sum,
    "sub": _shorten_sum,
    "mul": _shorten_product,
    "div": _shorten_product,
    "linear": _drop_identity,
    "join": _shorten_join,
}
