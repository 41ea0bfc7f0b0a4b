"""Numbers as files store them: a block is turned into floats when it is asked for, and only that block.

Three rows of two bfloat16 (1.0 is 0x3f80), of which one number is read:

>>> class Three:
...     place, size = "example", 12
...     def bytes(self, start, stop): return np.frombuffer(b"\\x80\\x3f" * 6, np.uint8)[start:stop]
...     def forget(self, start, stop): ...
>>> make_stored_tensor("w", (3, 2), "BF16", Three(), 0).block(slice(2, 3), slice(0, 1)).tolist()
[[1.0]]
"""

import math
from collections.abc import Callable, Sequence
from functools import cache

import ml_dtypes
import numpy as np
from jaxtyping import Float, Num

from glassformer.core.errors import UserError
from glassformer.lens.read.mapped import ByteSource
from glassformer.lens.read.quoted import quote_name
from glassformer.lens.read.tensor import Block, Tensor

_LARGEST = 2**62  # bytes that a shape may name, its empty axes left out: NumPy counts in 64 bits
_MOST_AXES = 32
STORED: dict[str, np.dtype] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "F8_E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "F8_E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "F8_E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("u1"),
}


def make_stored_tensor(
    name: str, shape: tuple[int, ...], dtype: str, source: ByteSource, start: int, strides: Sequence[int] = ()
) -> Tensor:
    """A tensor at a byte of a source; strides, in numbers, where it is not stored row after row."""
    rows, columns = math.prod(shape[:-1]), shape[-1] if shape else 1
    down, across = strides if strides else (columns, 1)
    item, convert = STORED[dtype], _make_converter(dtype)

    def read(down_to: slice, across_to: slice) -> Block:
        height, width = down_to.stop - down_to.start, across_to.stop - across_to.start
        if height <= 0 or width <= 0:
            return convert(np.zeros((max(height, 0), max(width, 0)), item))
        first = start + (down_to.start * down + across_to.start * across) * item.itemsize
        span = ((height - 1) * down + (width - 1) * across + 1) * item.itemsize
        steps = down * item.itemsize, across * item.itemsize
        return convert(np.ndarray((height, width), item, source.bytes(first, first + span), strides=steps))

    def forget() -> None:
        if rows and columns:
            span = ((rows - 1) * down + (columns - 1) * across + 1) * item.itemsize
            source.forget(start, start + span)

    return Tensor(name, shape, dtype, source.place, read, forget)


def _make_converter(dtype: str) -> Callable[[Num[np.ndarray, "row column"]], Block]:
    """From stored numbers to float64 where they are that, else to float32."""
    if dtype.startswith("F8"):
        table = _list_float8_values(dtype)  # a look into a table is three times faster than a conversion
        return lambda stored: table[stored.view(np.uint8)]
    width = np.float64 if dtype == "F64" else np.float32
    return lambda stored: np.require(stored, width, "A")


@cache
def _list_float8_values(dtype: str) -> Float[np.ndarray, "256"]:
    """What each of the 256 bytes stands for."""
    return np.arange(256, dtype=np.uint8).view(STORED[dtype]).astype(np.float32)


def require_tensor_shape(shape: object, dtype: str, tensor: str, place: str) -> tuple[int, ...]:
    """A shape that a file names, once it is known to be one."""
    is_shape = isinstance(shape, list | tuple) and len(shape) <= _MOST_AXES
    if not is_shape or any(type(side) is not int or side < 0 for side in shape):  # type: ignore[attr-defined]
        raise UserError(f"{place} gives tensor {quote_name(tensor)} a shape that is no list of sizes")
    sides: tuple[int, ...] = tuple(shape)  # type: ignore[arg-type]
    if math.prod(max(side, 1) for side in sides) * STORED[dtype].itemsize > _LARGEST:
        raise UserError(f"{place} gives tensor {quote_name(tensor)} a shape that no machine can hold")
    return sides


def require_tensor_name(name: object, place: str) -> str:
    """A tensor's name, once it is known to be fit for a table and a sentence."""
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= 1000:
        raise UserError(f"{place} has a tensor with an unreadable name, {quote_name(name)}")
    return name
