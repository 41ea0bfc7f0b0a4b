"""A tensor in a file, read a block at a time: nothing is loaded before it is asked for.

Tensors are matrices here: leading axes are rows (three experts of 4 x 5 are 12 rows of 5), and a vector is
one row.

>>> tensor = make_memory_tensor("w", np.arange(6.0).reshape(2, 3))
>>> tensor.matrix_shape, tensor.block(slice(1, 2), slice(0, 2)).tolist()
((2, 3), [[3.0, 4.0]])
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Block = Float[np.ndarray, "row column"]
ALL = slice(None)
INTEGERS = frozenset({"I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "BOOL"})


def do_nothing() -> None:
    """What a tensor in memory does to be forgotten."""


@dataclass(frozen=True)
class Tensor:
    """Name and shape of a tensor, and how to read a block of it."""

    name: str
    shape: tuple[int, ...]
    dtype: str  # as stored: F32, BF16, F8_E4M3, Q4_K
    place: str  # the file that it lies in, for errors
    read: Callable[[slice, slice], Block]  # rows and columns, both with start and stop; float32 or float64
    forget: Callable[[], None] = do_nothing  # lets go of the pages that were read

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Rows and columns, with all leading axes as rows."""
        return math.prod(self.shape[:-1]), self.shape[-1] if self.shape else 1

    @property
    def is_matrix(self) -> bool:
        """Whether it is a weight with a spectrum: at least two axes, of real numbers."""
        return len(self.shape) >= 2 and min(self.matrix_shape) > 1 and self.dtype not in INTEGERS

    def block(self, rows: slice = ALL, columns: slice = ALL) -> Block:
        """A block of the matrix, in float64 where it is stored so, else in float32."""
        down, across = self.matrix_shape
        return self.read(slice(*rows.indices(down)[:2]), slice(*columns.indices(across)[:2]))

    def vector(self) -> Float[np.ndarray, "entry"]:
        """All numbers in a row, in float64."""
        with np.errstate(invalid="ignore"):  # no number stays none; who asks for finite ones checks them
            return self.block().astype(np.float64).ravel()


def make_memory_tensor(name: str, array: np.ndarray, place: str = "memory") -> Tensor:
    """A tensor that is an array already."""
    kind = {"f8": "F64", "f4": "F32"}.get(array.dtype.str[1:], "F32")
    exact = array if kind == "F64" else array.astype(np.float32)
    flat = exact.reshape(-1, array.shape[-1] if array.shape else 1)
    return Tensor(name, array.shape, kind, place, lambda rows, columns: flat[rows, columns])
