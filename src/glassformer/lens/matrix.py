"""A matrix that is read a block at a time, whatever tensor, span or orientation it is stored in.

>>> from glassformer.lens.read.tensor import make_memory_tensor
>>> checkpoint = Checkpoint("toy", "toy", "safetensors", {}, {"w": make_memory_tensor("w", np.eye(4))}, "")
>>> view_matrix(checkpoint, View("w", spans=((3, 4), (0, 1)))).dense().tolist()
[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
from jaxtyping import Float

from glassformer.core.errors import UserError
from glassformer.lens.layout import Map, Spans, Vector, View
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import ALL, Block, do_nothing

PANEL = 4_000_000  # numbers that are held of a matrix at once: 32 MB in float64


@dataclass(frozen=True)
class Matrix:
    """Shape, and how to read a block `out in`; float32, or float64 where it is stored so."""

    name: str  # for errors: the tensor it comes from
    shape: tuple[int, int]
    read: Callable[[slice, slice], Block]  # both slices with start and stop
    forget: Callable[[], None] = do_nothing

    def block(self, rows: slice = ALL, columns: slice = ALL) -> Block:
        return self.read(slice(*rows.indices(self.shape[0])[:2]), slice(*columns.indices(self.shape[1])[:2]))

    def dense(self) -> Float[np.ndarray, "out in"]:
        """The whole of it in float64, for small ones; one sentence where a number is not finite."""
        return _require_finite_numbers(self.block(), self.name).astype(np.float64)

    def panels(self, numbers: int = PANEL) -> Iterator[Float[np.ndarray, "long short"]]:
        """Pieces along the long side, short side as columns: the sum of their P'P is the Gram matrix."""
        out, dims = self.shape
        step = max(1, numbers // min(self.shape))
        for start in range(0, max(self.shape), step):
            piece = slice(start, start + step)
            yield self.block(rows=piece) if out >= dims else self.block(columns=piece).T


def view_matrix(checkpoint: Checkpoint, view: View, is_folded: bool = False) -> Matrix:
    """A view as a matrix; folded, with the gains of the norms before and after it."""
    tensor = checkpoint.tensor(view.tensor)
    stored = tensor.matrix_shape[::-1] if view.is_transposed else tensor.matrix_shape
    outputs, inputs = fill_spans(view.spans, stored[0]), view.columns or (0, stored[1])
    gain = read_vector(checkpoint, view.gain) if is_folded and view.gain else None
    gain_after = read_vector(checkpoint, view.gain_after) if is_folded and view.gain_after else None

    def read(rows: slice, columns: slice) -> Block:
        across = slice(inputs[0] + columns.start, inputs[0] + columns.stop)
        parts = [
            tensor.block(across, span).T if view.is_transposed else tensor.block(span, across)
            for span in cut_spans(outputs, rows)
        ]
        block = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if gain is not None:
            block = block * gain[columns]
        return block if gain_after is None else block * gain_after[rows, None]

    shape = sum(stop - start for start, stop in outputs), inputs[1] - inputs[0]
    return Matrix(view.tensor, shape, read, tensor.forget)


def fill_spans(spans: Spans, size: int) -> Spans:
    return spans or ((0, size),)


def cut_spans(spans: Spans, rows: slice) -> list[slice]:
    """The parts of spans that hold some of their rows, counted through.

    >>> cut_spans(((10, 14), (20, 24)), slice(2, 6))
    [slice(12, 14, None), slice(20, 22, None)]
    """
    parts, passed = [], 0
    for start, stop in spans:
        first, last = max(rows.start - passed, 0), min(rows.stop - passed, stop - start)
        if first < last:
            parts.append(slice(start + first, start + last))
        passed += stop - start
    return parts or [slice(0, 0)]


def read_vector(checkpoint: Checkpoint, part: Vector) -> Float[np.ndarray, "entry"]:
    """A bias or a gain, in float64."""
    whole = _require_finite_numbers(checkpoint.tensor(part.tensor).vector(), part.tensor)
    pieces = [whole[start:stop] for start, stop in fill_spans(part.spans, len(whole))]
    return np.concatenate(pieces) + part.offset


def read_map(checkpoint: Checkpoint, stack: Map, is_folded: bool = False) -> Float[np.ndarray, "out in"]:
    """A head's map, whole, in float64: its rows are stacked from products of views."""
    rows = []
    for product in stack:
        factors = [view_matrix(checkpoint, view, is_folded).dense() for view in product]
        rows.append(reduce(np.matmul, factors))
    return np.concatenate(rows)


def _require_finite_numbers(numbers: np.ndarray, name: str) -> np.ndarray:
    """The same numbers, if all of them are finite."""
    bad = numbers[~np.isfinite(numbers)]
    if bad.size:
        raise UserError(f"{name} has {bad[0]}, where a finite number was expected")
    return numbers
