"""What changed between two models, as a checkpoint of its own: every weight is the second less the first.

Weights are paired by layer, type, expert and shape, whatever files they lie in, so that a fine-tune can be
looked at beside its base, and a quantised file beside what it was made from.

>>> in_pairs(Rope((1.0, 0.5), "adjacent"), 4)  # dimensions (0, 1), (2, 3) become (0, 2), (1, 3)
(0, 2, 1, 3)
"""

from dataclasses import dataclass, replace

import numpy as np

from glassformer.errors import UserError
from glassformer.spectra.layout import Layout, Rope, Spans, View, Weight
from glassformer.spectra.matrix import Matrix, cut, spread_out, view_matrix
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.read.tensor import Block, Tensor

Key = tuple[int | None, str, int | None]  # layer, type, expert
TURNED = ("W_Q", "W_K")  # whose rows RoPE pairs up, and some files store pair by pair


@dataclass(frozen=True)
class Model:
    """A checkpoint and where its matrices lie in it."""

    checkpoint: Checkpoint
    layout: Layout


def difference(first: Model, second: Model) -> Model:
    """All weights that both have in the same shape; one sentence where there is none."""
    tensors: dict[str, Tensor] = {}
    weights: list[Weight] = []
    others = by_key(second.layout)
    for key, weight in by_key(first.layout).items():
        if key not in others:
            continue
        one, other = alike(first, weight, second, others[key])
        if one.shape == other.shape:
            name = key_name(key)
            tensors[name] = less(name, other, one, dtypes(first, weight, second, others[key]))
            weights.append(replace(weight, view=View(name)))
    if not tensors:
        raise UserError(f"{first.checkpoint.name} and {second.checkpoint.name} share no weight of one shape")
    name = f"{second.checkpoint.name} less {first.checkpoint.name}"
    marks = f"{first.checkpoint.fingerprint}-{second.checkpoint.fingerprint}"
    layout = replace(first.layout, weights=tuple(weights), attention=(), notes=())
    return Model(Checkpoint(name, name, first.checkpoint.kind, {}, tensors, marks), layout)


def by_key(layout: Layout) -> dict[Key, Weight]:
    return {(weight.layer, weight.type, weight.expert): weight for weight in layout.weights}


def key_name(key: Key) -> str:
    """A name for the tensor that is made: `3.W_gate.7`."""
    return ".".join(str(part) for part in key if part is not None)


def dtypes(first: Model, weight: Weight, second: Model, other: Weight) -> str:
    """How both are stored: `F32`, or `F32 less Q4_1`."""
    one = first.checkpoint.tensor(weight.view.tensor).dtype
    two = second.checkpoint.tensor(other.view.tensor).dtype
    return one if one == two else f"{two} less {one}"


def less(name: str, second: Matrix, first: Matrix, dtype: str) -> Tensor:
    def read(rows: slice, columns: slice) -> Block:
        change: Block = second.read(rows, columns).astype(np.float64) - first.read(rows, columns)
        return change

    def forget() -> None:
        second.forget()
        first.forget()

    return Tensor(name, second.shape, dtype, name, read, forget)


def alike(first: Model, weight: Weight, second: Model, other: Weight) -> tuple[Matrix, Matrix]:
    """Both weights, with the rows of queries and keys in one order, however the files pair them for RoPE."""
    one, two = rope_of(first.layout, weight), rope_of(second.layout, other)
    if one is None or two is None or one.pairs == two.pairs:
        return view_matrix(first.checkpoint, weight.view), view_matrix(second.checkpoint, other.view)
    return in_halves(first, weight, one), in_halves(second, other, two)


def rope_of(layout: Layout, weight: Weight) -> Rope | None:
    """How a head's rows of this weight are turned; none where nothing turns them."""
    heads = (head for head in layout.attention if head.layer == weight.layer)
    return next((head.rope for head in heads), None) if weight.type in TURNED else None


def in_halves(model: Model, weight: Weight, rope: Rope) -> Matrix:
    """The weight with pair i of every head in rows i and i + n."""
    whole = view_matrix(model.checkpoint, weight.view)
    if rope.pairs == "halves":
        return whole
    order = in_pairs(rope, model.layout.head_dim)
    heads = range(0, whole.shape[0], model.layout.head_dim)
    outputs = spread_out(weight.view.spans, whole.shape[0])
    places = tuple((head + row, head + row + 1) for head in heads for row in order)
    return view_matrix(model.checkpoint, replace(weight.view, spans=stored_places(outputs, places)))


def in_pairs(rope: Rope, head_dim: int) -> tuple[int, ...]:
    """Where the rows of a head that are turned as (2i, 2i + 1) go when they are turned as (i, i + n)."""
    count, first = len(rope.rates), rope.first
    turned = [first + 2 * pair + part for part in (0, 1) for pair in range(count)]
    return (*range(first), *turned, *range(first + 2 * count, head_dim))


def stored_places(outputs: Spans, places: Spans) -> Spans:
    """Places counted through the outputs, as places of the tensor."""
    return tuple((part.start, part.stop) for place in places for part in cut(outputs, slice(*place)))
