"""Arrays as JSON, without loss: base64 of little-endian numbers.

>>> pack_array(np.array([[1.0, 2.0]], np.float32))
{'dtype': 'float32', 'shape': [1, 2], 'data': 'AACAPwAAAEA='}
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

_Packed = dict[str, Any]
_KINDS = ("float64", "float32", "int32", "uint8")  # that the page reads


def pack_array(array: np.ndarray) -> _Packed:
    """The array in a kind of number that the page reads and that holds every one of its values."""
    kept = _fit_dtype(np.asarray(array))
    little = np.ascontiguousarray(kept).astype(kept.dtype.newbyteorder("<"), copy=False)
    return {
        "dtype": kept.dtype.name,
        "shape": list(kept.shape),
        "data": base64.b64encode(little.tobytes()).decode("ascii"),
    }


def unpack_array(content: _Packed) -> np.ndarray:
    """The array again."""
    kind = np.dtype(content["dtype"]).newbyteorder("<")
    flat = np.frombuffer(base64.b64decode(content["data"]), kind)
    return flat.reshape(content["shape"]).astype(content["dtype"])


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, _Packed]:
    return {name: pack_array(array) for name, array in arrays.items()}


def _fit_dtype(array: np.ndarray) -> np.ndarray:
    """Truths as uint8, whole numbers as int32 (float64 where they are larger), other floats as they are."""
    if array.dtype.name in _KINDS:
        return array
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype.kind in "iu":
        fits = not array.size or max(abs(int(array.min())), abs(int(array.max()))) < 2**31
        return array.astype(np.int32 if fits else np.float64)
    return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)


def measure_packed_size(array: np.ndarray) -> int:
    """Characters that an array takes in the file, all but its name."""
    return -(-_fit_dtype(np.asarray(array)).nbytes // 3) * 4 + 60
