"""The header of a safetensors file, checked before it is believed: 8 bytes of length, JSON, then the numbers.

>>> import numpy as np
>>> header = b'{"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}'
>>> content = len(header).to_bytes(8, "little") + header + np.array([1, 2], "<f4").tobytes()
>>> class InMemory:
...     place, size = "example", len(content)
...     def bytes(self, start, stop): return np.frombuffer(content, np.uint8)[start:stop]
...     def forget(self, start, stop): ...
>>> read_safetensors(InMemory())["w"].block().tolist()
[[1.0, 2.0]]
"""

import math
from typing import Any

from glassformer.core.errors import UserError
from glassformer.lens.read.json_object import parse_json_object
from glassformer.lens.read.mapped import ByteSource, refuse_pointer
from glassformer.lens.read.quoted import quote_name
from glassformer.lens.read.stored import STORED, make_stored_tensor, require_tensor_name, require_tensor_shape
from glassformer.lens.read.tensor import Tensor

_LONGEST_HEADER = 100_000_000  # bytes; the format's own library sets the same limit

_Span = tuple[int, int, str]  # first byte, last byte + 1, and the tensor


def read_safetensors(source: ByteSource) -> dict[str, Tensor]:
    """All tensors by name; none is read yet."""
    header, start = _read_safetensors_header(source)
    header.pop("__metadata__", None)
    tensors, spans = {}, []
    for name, entry in header.items():
        tensor, span = _read_safetensors_entry(name, entry, source, start)
        tensors[name] = tensor
        spans.append(span)
    _refuse_span_overlaps(spans, source.place)
    return tensors


def looks_like_safetensors(source: ByteSource) -> bool:
    """Whether a length that fits into the file and an opening brace come first."""
    if source.size < 10:
        return False
    length = int.from_bytes(source.bytes(0, 8).tobytes(), "little")
    return length <= source.size - 8 and source.bytes(8, 9).tobytes() == b"{"


def _read_safetensors_header(source: ByteSource) -> tuple[dict[str, Any], int]:
    """The header and the byte at which the numbers start."""
    refuse_pointer(source)
    if source.size < 8:
        raise UserError(
            f"{source.place} is no safetensors file: it has {source.size} bytes, fewer than its header needs"
        )
    length = int.from_bytes(source.bytes(0, 8).tobytes(), "little")
    if length > _LONGEST_HEADER:
        raise UserError(
            f"{source.place} is no safetensors file: its first 8 bytes name a header of {length} bytes,"
            f" more than {_LONGEST_HEADER}"
        )
    if length > source.size - 8:
        raise UserError(
            f"{source.place} is cut short: its header has {length} bytes,"
            f" but only {source.size - 8} follow its length"
        )
    text = source.bytes(8, 8 + length).tobytes()
    source.forget(0, 8 + length)
    return parse_json_object(text, f"the header of {source.place}", unique=True), 8 + length


def _read_safetensors_entry(name: str, entry: object, source: ByteSource, start: int) -> tuple[Tensor, _Span]:
    require_tensor_name(name, source.place)
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise UserError(
            f"the header of {source.place} must name dtype, shape and data_offsets of "
            f"tensor {quote_name(name)}"
        )
    dtype = _require_dtype(entry["dtype"], name, source.place)
    shape = require_tensor_shape(entry["shape"], dtype, name, source.place)
    first, last = _require_offsets(entry["data_offsets"], name, source, start)
    needed = math.prod(shape) * STORED[dtype].itemsize
    if last - first != needed:
        raise UserError(
            f"{source.place} gives tensor {quote_name(name)} {last - first} bytes, but {list(shape)} "
            f"of {dtype} needs {needed}"
        )
    return make_stored_tensor(name, shape, dtype, source, first), (first, last, name)


def _require_dtype(dtype: object, name: str, place: str) -> str:
    if not isinstance(dtype, str) or dtype not in STORED:
        raise UserError(
            f"{place} stores tensor {quote_name(name)} as {quote_name(dtype)}, which is not known here;"
            f" known: {', '.join(STORED)}"
        )
    return dtype


def _require_offsets(offsets: object, name: str, source: ByteSource, start: int) -> tuple[int, int]:
    """First byte and last byte + 1 of a tensor, counted in the file."""
    if not isinstance(offsets, list) or len(offsets) != 2 or any(type(one) is not int for one in offsets):
        raise UserError(
            f"{source.place} gives tensor {quote_name(name)} data_offsets that are no two integers"
        )
    first, last = offsets
    if not 0 <= first <= last:
        raise UserError(f"{source.place} lets tensor {quote_name(name)} start at {first} and end at {last}")
    if start + last > source.size:
        raise UserError(
            f"{source.place} is cut short: tensor {quote_name(name)} ends at byte {start + last}, but "
            f"the file has {source.size}"
        )
    return start + first, start + last


def _refuse_span_overlaps(spans: list[_Span], place: str) -> None:
    end, before = 0, ""
    for first, last, name in sorted(span for span in spans if span[0] < span[1]):
        if first < end:
            raise UserError(f"{place} lets tensors {quote_name(before)} and {quote_name(name)} overlap")
        end, before = last, name
