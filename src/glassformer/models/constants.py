"""Chosen constants: the numbers of a forward pass that someone wrote down, by one rule for all models.

The rule. Every part lists the numbers of its formula by name (`Part.list_constants`); the scale of scores and
the entries that an architecture fixes are listed too. Of these

- 0, 1 and -1 do not count: they are wiring, as in a pattern of 0, 1, -1 and names;
- a name with the same value, whatever its sign, counts once: one norm at three sites has one gain, as tied
  parameters are one;
- everything else counts, however natural: a slot of 10 as much as one of 9.5.

What nobody chose is not listed: sizes and what follows from them (the column's own index, the digit that a
token stands for, the middle of ten digits), the numbers inside sine, GELU and softmax, and masks, which stand
for minus infinity. So equal functions count equally: a ramp that enters by a fixed factor of 1 is a ramp.

>>> from glassformer.models.norm import FlatNorm
>>> four, plain = FlatNorm(factor=4.0), FlatNorm()
>>> layer = Layer(None, None, four, four)
>>> [tuple(one) for one in list_constants(Architecture(layers=(layer,), final_norm=plain))]
[('norm.gain', 4.0), ('norm.eps', 1e-05)]
"""

from collections.abc import Iterator
from typing import NamedTuple

from glassformer.models.architecture import Architecture, Layer
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
    yield from _name_numbers("token", model.token)
    yield from _name_numbers("position", model.position)
    for layer in model.layers:
        yield from _list_layer_numbers(layer)
    yield from _name_numbers("norm", model.final_norm)
    yield from _name_numbers("head", model.head)
    for entry in model.fixed:
        is_gain = entry.name.endswith("norm.gain")  # a gain is one, fixed here or written into the norm
        yield Constant("norm.gain" if is_gain else entry.name, entry.value)


def _list_layer_numbers(layer: Layer) -> Iterator[Constant]:
    yield from _name_numbers("norm", layer.attention_norm)
    if attention := layer.attention:
        yield from _name_numbers("norm", attention.qk_norm)
        yield from _name_numbers("norm", attention.k_norm or attention.qk_norm)
        yield from _name_numbers("relation", attention.relation)
        yield Constant("attn.scale", attention.score_scale)
    yield from _name_numbers("norm", layer.feedforward_norm)


def _name_numbers(name: str, part: Part) -> Iterator[Constant]:
    for key, value in part.list_constants().items():
        yield Constant(f"{name}.{key}", value)
