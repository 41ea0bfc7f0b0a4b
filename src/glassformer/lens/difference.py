"""What changed between two models, as a checkpoint of its own: every weight is the second minus the first.

Weights are paired by layer, type, expert and shape, whatever files they lie in, so that a fine-tune can be
looked at beside its base, and a quantised file beside what it was made from.

>>> _list_pair_spans(RopeLayout((1.0, 0.5), "adjacent"), 4)  # dimensions (0, 1), (2, 3) become (0, 2), (1, 3)
(0, 2, 1, 3)
"""

from dataclasses import dataclass, replace

import numpy as np

from glassformer.core.errors import UserError
from glassformer.lens.layout import ModelLayout, RopeLayout, Spans, View, Weight
from glassformer.lens.matrix import Matrix, cut_spans, fill_spans, view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import Block, Tensor

Key = tuple[int | None, str, int | None]  # layer, type, expert
_TURNED = ("W_Q", "W_K")  # whose rows RoPE pairs up, and some files store pair by pair


@dataclass(frozen=True)
class LensModel:
    """A checkpoint and where its matrices lie in it."""

    checkpoint: Checkpoint
    layout: ModelLayout


def subtract_models(first: LensModel, second: LensModel) -> LensModel:
    """All weights that both have in the same shape; one sentence where there is none."""
    tensors: dict[str, Tensor] = {}
    weights: list[Weight] = []
    others = _index_weights(second.layout)
    for key, weight in _index_weights(first.layout).items():
        if key not in others:
            continue
        one, other = _align_weights(first, weight, second, others[key])
        if one.shape == other.shape:
            name = _name_difference(key)
            tensors[name] = _subtract_matrices(
                name, other, one, _describe_both_dtypes(first, weight, second, others[key])
            )
            weights.append(replace(weight, view=View(name)))
    if not tensors:
        raise UserError(f"{first.checkpoint.name} and {second.checkpoint.name} share no weight of one shape")
    name = f"{second.checkpoint.name} minus {first.checkpoint.name}"
    marks = f"{first.checkpoint.fingerprint}-{second.checkpoint.fingerprint}"
    layout = replace(first.layout, weights=tuple(weights), attention=(), notes=())
    return LensModel(Checkpoint(name, name, first.checkpoint.kind, {}, tensors, marks), layout)


def _index_weights(layout: ModelLayout) -> dict[Key, Weight]:
    return {(weight.layer, weight.type, weight.expert): weight for weight in layout.weights}


def _name_difference(key: Key) -> str:
    """A name for the tensor that is made: `3.W_gate.7`."""
    return ".".join(str(part) for part in key if part is not None)


def _describe_both_dtypes(first: LensModel, weight: Weight, second: LensModel, other: Weight) -> str:
    """How both are stored: `F32`, or `F32 minus Q4_1`."""
    one = first.checkpoint.tensor(weight.view.tensor).dtype
    two = second.checkpoint.tensor(other.view.tensor).dtype
    return one if one == two else f"{two} minus {one}"


def _subtract_matrices(name: str, second: Matrix, first: Matrix, dtype: str) -> Tensor:
    def read(rows: slice, columns: slice) -> Block:
        change: Block = second.read(rows, columns).astype(np.float64) - first.read(rows, columns)
        return change

    def forget() -> None:
        second.forget()
        first.forget()

    return Tensor(name, second.shape, dtype, name, read, forget)


def _align_weights(
    first: LensModel, weight: Weight, second: LensModel, other: Weight
) -> tuple[Matrix, Matrix]:
    """Both weights, with the rows of queries and keys in one order, however the files pair them for RoPE."""
    one, two = _find_rope(first.layout, weight), _find_rope(second.layout, other)
    if one is None or two is None or one.pairs == two.pairs:
        return view_matrix(first.checkpoint, weight.view), view_matrix(second.checkpoint, other.view)
    return _view_in_halves(first, weight, one), _view_in_halves(second, other, two)


def _find_rope(layout: ModelLayout, weight: Weight) -> RopeLayout | None:
    """How a head's rows of this weight are turned; none where nothing turns them."""
    heads = (head for head in layout.attention if head.layer == weight.layer)
    return next((head.rope for head in heads), None) if weight.type in _TURNED else None


def _view_in_halves(model: LensModel, weight: Weight, rope: RopeLayout) -> Matrix:
    """The weight with pair i of every head in rows i and i + n."""
    whole = view_matrix(model.checkpoint, weight.view)
    if rope.pairs == "halves":
        return whole
    order = _list_pair_spans(rope, model.layout.head_dim)
    heads = range(0, whole.shape[0], model.layout.head_dim)
    outputs = fill_spans(weight.view.spans, whole.shape[0])
    places = tuple((head + row, head + row + 1) for head in heads for row in order)
    return view_matrix(model.checkpoint, replace(weight.view, spans=_to_stored_spans(outputs, places)))


def _list_pair_spans(rope: RopeLayout, head_dim: int) -> tuple[int, ...]:
    """Where the rows of a head that are turned as (2i, 2i + 1) go when they are turned as (i, i + n)."""
    count, first = len(rope.rates), rope.first
    turned = [first + 2 * pair + part for part in (0, 1) for pair in range(count)]
    return (*range(first), *turned, *range(first + 2 * count, head_dim))


def _to_stored_spans(outputs: Spans, places: Spans) -> Spans:
    """Indices counted through the outputs, as indices into the tensor."""
    return tuple((part.start, part.stop) for place in places for part in cut_spans(outputs, slice(*place)))
