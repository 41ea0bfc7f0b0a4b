"""The same adder for numbers of another length: nothing that is learned depends on how long they are.

any-8 was trained on ten digits. For two, 57 + 68 is read as `< 7 5 0 < 8 6 0 <`, four columns per number:

>>> from glassformer.runs.load import load_model
>>> model = load_model("any-8")
>>> short, task = lengthen_adder(model, model.addition, 2)
>>> short.architecture.context, task.written().length, short.params is model.params
(11, 12, True)
"""

from dataclasses import replace

from glassformer.core.errors import UserError, require_value
from glassformer.models.architecture import Architecture, Layer
from glassformer.models.model import Model
from glassformer.tasks import Addition, Task
from glassformer.tasks.addition import MOST_DIGITS_AT_ALL

ENDS = 2  # columns of a number beside its digits: the mark and the padding


def is_any_length(architecture: Architecture, task: Task) -> bool:
    """Whether task and positions are for numbers of every length."""
    return task.is_any_length and architecture.is_any_length


def lengthen_adder(model: Model, task: Addition, digits: int) -> tuple[Model, Addition]:
    """The model and its task for numbers of so many digits; an error where they have one length only."""
    if digits == task.digits:
        return model, task
    if not is_any_length(model.architecture, task):
        raise UserError(
            f"this model is made for numbers of {task.digits} digits and has no positions for {digits}"
        )
    require_value(
        1 <= digits <= MOST_DIGITS_AT_ALL, "digits", f"between 1 and {MOST_DIGITS_AT_ALL:,}", digits
    )
    longer = replace(task, digits=digits)
    return Model(lengthen_architecture(model.architecture, longer), model.params), longer


def lengthen_architecture(architecture: Architecture, task: Addition) -> Architecture:
    """With as many columns, and as much context, as the task has."""
    layers = tuple(_lengthen_layer(layer, task.digits + ENDS) for layer in architecture.layers)
    return replace(architecture, context=task.written().length - 1, layers=layers)


def _lengthen_layer(layer: Layer, columns: int) -> Layer:
    if layer.attention is None:
        return layer
    relation = layer.attention.relation.with_columns(columns)
    return replace(layer, attention=replace(layer.attention, relation=relation))
