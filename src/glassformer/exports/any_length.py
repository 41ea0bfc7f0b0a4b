"""The pass of an adder for numbers of any length: the steps of two lengths, with what differs between them.

any-8 has 11 positions for numbers of two digits, and 14 for three. Where one trace says 11 and the other 14
an axis has one entry per position; everything else, the mask and the distances of columns aside, is the same:

>>> from glassformer.zoo import ZOO
>>> steps = trace_any_length(ZOO["any-8"].architecture, ZOO["any-8"].task).steps
>>> [step.shape for step in steps if step.operation == "input"]  # -2: positions, -1: the batch
[(-2, -1)]
"""

from dataclasses import replace

from glassformer.core.errors import UserError
from glassformer.exports.fixed import find_fixed_arrays
from glassformer.exports.simplify import POSITIONS, ProgramStep, SimplifiedProgram, simplify_program
from glassformer.models.architecture import Architecture
from glassformer.models.lengths import is_any_length, lengthen_architecture
from glassformer.models.program import trace_whole
from glassformer.runs.load import LoadedModel
from glassformer.tasks import Addition

_COMPARED = (1, 3, 25)  # digits beside the model's own: the shortest, a short and a longer sum
_SHORT, _LONG = 2, 3  # digits of the two traces: the smallest with a digit between others, and one more


def is_any_length_adder(loaded: LoadedModel) -> bool:
    """Whether one file can hold the model for every length: its own must be as all others are."""
    if not is_any_length(loaded.architecture, loaded.task):
        return False
    own = lengthen_architecture(loaded.architecture, loaded.addition)
    return replace(own, context=loaded.architecture.context) == loaded.architecture


def list_compared_models(loaded: LoadedModel) -> list[LoadedModel]:
    """The model at each length that a file is compared at; one of a single length as it is.

    >>> from glassformer.runs.load import load_model
    >>> [one.addition.digits for one in list_compared_models(load_model("any-8"))]
    [1, 3, 10, 25]
    """
    if not is_any_length_adder(loaded):
        return [loaded]
    return [loaded.with_digits(digits) for digits in sorted({*_COMPARED, loaded.addition.digits})]


def trace_short_length(architecture: Architecture, task: Addition) -> SimplifiedProgram:
    """The steps for numbers of two digits, in which every constant is an array of numbers."""
    return _trace_length(architecture, task, _SHORT)


def trace_any_length(architecture: Architecture, task: Addition) -> SimplifiedProgram:
    """The same steps; axes of positions have no size, and arrays over them must be rules."""
    short, long = (_trace_length(architecture, task, digits) for digits in (_SHORT, _LONG))
    if len(short.steps) != len(long.steps) or short.names != long.names:
        raise _make_length_error()
    rules = {place for place, one in find_fixed_arrays(short, architecture.precision).items() if one.is_rule}
    marked = SimplifiedProgram(names=short.names)
    positions = (short.count_positions(), long.count_positions())
    for place, (one, other) in enumerate(zip(short.steps, long.steps, strict=True)):
        marked.add(_mark_positions(one, other, positions, place in rules))
    return marked


def _trace_length(architecture: Architecture, task: Addition, digits: int) -> SimplifiedProgram:
    one = lengthen_architecture(architecture, replace(task, digits=digits))
    return simplify_program(trace_whole(one, one.context))


def _mark_positions(
    one: ProgramStep, other: ProgramStep, positions: tuple[int, int], is_rule: bool
) -> ProgramStep:
    """The step of both lengths; an error where they differ in anything but the positions."""
    pairs = list(zip(one.shape, other.shape, strict=False))
    is_same = one._replace(shape=(), option=None) == other._replace(shape=(), option=None)
    is_known = all(short == long or (short, long) == positions for short, long in pairs)
    if not is_same or not is_known or len(one.shape) != len(other.shape):
        raise _make_length_error()
    if one.option != other.option and not is_rule:
        raise _make_length_error()
    return one._replace(shape=tuple(short if short == long else POSITIONS for short, long in pairs))


def _make_length_error() -> UserError:
    return UserError(
        "the pass of this model depends on the length of numbers by more than the mask and the columns of "
        "keys, which is all that a file for every length can say"
    )
