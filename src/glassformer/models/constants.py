"""Chosen constants: the numbers of a forward pass that someone wrote down, by one rule for all models.

The rule. Every part lists the numbers of its formula by name (`Part.list_constants`); the scale of scores and
the entries that an architecture fixes are listed too. Of these

- 0, 1 and -1 do not count: they are wiring, as in a pattern of 0, 1, -1 and names;
- a name with the same value, whatever its sign, counts once: one norm at three sites has one gain, as tied
  parameters are one;
- everything else counts, however natural: a slot of 10 as much as one of 9.5.

What nobody chose is not listed: sizes and what follows from them (the column's own index, the digit that a
token stands for, the middle of ten digits), the numbers inside sine, GELU and softmax, and masks, which stand
for minus infinity. The scale of scores is listed always, although without a choice it follows from a size.

The rule counts formulas as they are written, so two formulas of one function may differ: a direction is free
as the pattern (-1, 1) and costs a number as an angle of 3/8 turn. Some are brought to one form first: a
parameter that is fixed and the same number written into the formula, a list of frequencies or slopes and the
formula that it follows, the scale of scores that are 0, and numbers that do nothing in so few dimensions.

>>> from glassformer.models.norm import FlatNorm
>>> four, plain = FlatNorm(factor=4.0), FlatNorm()
>>> layer = Layer(None, None, four, four)
>>> [tuple(one) for one in list_constants(Architecture(layers=(layer,), final_norm=plain))]
[('norm.gain', 4.0), ('norm.eps', 1e-05)]
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from glassformer.models.architecture import Architecture, FixedEntry, Layer
from glassformer.models.part import Part

_WIRING = (0.0, 1.0)  # sizes that do not count


class Constant(NamedTuple):
    """A number that someone chose, under the name of what it does."""

    name: str
    value: float


def list_constants(model: Architecture) -> list[Constant]:
    """All that count, in the order of the pass."""
    found: dict[tuple[str, float], Constant] = {}
    for one in _list_named_numbers(model):
        size = abs(one.value)
        if size not in _WIRING:
            found.setdefault((one.name, size), one)
    return list(found.values())


def count_constants(model: Architecture) -> int:
    """How many numbers someone chose: see the rule above."""
    return len(list_constants(model))


def count_fixed_nonzero(model: Architecture) -> int:
    """Fixed entries that are not 0: a file holds them, yet they are no parameters."""
    return sum(entry.value != 0 for entry in model.fixed)


def _list_named_numbers(model: Architecture) -> Iterator[Constant]:
    """Every number that a part or the architecture names, 0 and 1 among them."""
    width = model.width
    yield from _name_numbers("token", model.token, model.token_dims)
    yield from _name_numbers("position", model.position, model.position_dims or width)
    for layer in model.layers:
        yield from _list_layer_numbers(layer, width)
    yield from _name_numbers("norm", model.final_norm, width)
    yield from _name_numbers("head", model.head, width)
    for entry in model.fixed:
        if name := _name_fixed_entry(model, entry):
            yield Constant(name, entry.value)


def _name_fixed_entry(model: Architecture, entry: FixedEntry) -> str | None:
    """As a formula would call it that has the number written in; none for a column's own index."""
    part, _, key = entry.name.rpartition(".")
    if key == "gain" and part.endswith("norm"):
        return "norm.gain"
    if part != "position":
        return entry.name
    written = model.position.name_fixed_number(key, entry.value)
    return written and f"position.{written}"


def _list_layer_numbers(layer: Layer, width: int) -> Iterator[Constant]:
    yield from _name_numbers("norm", layer.attention_norm, width)
    if attention := layer.attention:
        size = attention.head_size
        yield from _name_numbers("norm", attention.qk_norm, size)
        yield from _name_numbers("norm", attention.k_norm or attention.qk_norm, size)
        yield from _name_numbers("relation", attention.relation, size)
        if attention.reads_content:
            yield Constant("attn.scale", attention.score_scale)
    yield from _name_numbers("norm", layer.feedforward_norm, width)


def _name_numbers(name: str, part: Part, dims: int) -> Iterator[Constant]:
    for key, given in part.list_constants(dims).items():
        for value in given if isinstance(given, Sequence) else (given,):
            yield Constant(f"{name}.{key}", value)
