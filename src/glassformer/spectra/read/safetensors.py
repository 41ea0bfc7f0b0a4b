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

from glassformer.errors import UserError
from glassformer.spectra.read.json_object import json_object
from glassformer.spectra.read.mapped import Source, refuse_pointer
from glassformer.spectra.read.quoted import quoted
from glassformer.spectra.read.stored import STORED, checked_name, checked_shape, stored_tensor
from glassformer.spectra.read.tensor import Tensor

LONGEST_HEADER = 100_000_000  # bytes; the format's own library sets the same limit

Span = tuple[int, int, str]  # first byte, last byte + 1, and the tensor


def read_safetensors(source: Source) -> dict[str, Tensor]:
    """All tensors by name; none is read yet."""
    header, start = read_header(source)
    header.pop("__metadata__", None)
    tensors, spans = {}, []
    for name, entry in header.items():
        tensor, span = read_entry(name, entry, source, start)
        tensors[name] = tensor
        spans.append(span)
    refuse_overlaps(spans, source.place)
    return tensors


def looks_like_safetensors(source: Source) -> bool:
    """Whether a length that fits into the file and an opening brace come first."""
    if source.size < 10:
        return False
    length = int.from_bytes(source.bytes(0, 8).tobytes(), "little")
    return length <= source.size - 8 and source.bytes(8, 9).tobytes() == b"{"


def read_header(source: Source) -> tuple[dict[str, Any], int]:
    """The header and the byte at which the numbers start."""
    refuse_pointer(source)
    if source.size < 8:
        raise UserError(
            f"{source.place} is no safetensors file: it has {source.size} bytes, fewer than its header needs"
        )
    length = int.from_bytes(source.bytes(0, 8).tobytes(), "little")
    if length > LONGEST_HEADER:
        raise UserError(
            f"{source.place} is no safetensors file: its first 8 bytes name a header of {length} bytes,"
            f" more than {LONGEST_HEADER}"
        )
    if length > source.size - 8:
        raise UserError(
            f"{source.place} is cut short: its header has {length} bytes,"
            f" but only {source.size - 8} follow its length"
        )
    text = source.bytes(8, 8 + length).tobytes()
    source.forget(0, 8 + length)
    return json_object(text, f"the header of {source.place}", unique=True), 8 + length


def read_entry(name: str, entry: Any, source: Source, start: int) -> tuple[Tensor, Span]:
    checked_name(name, source.place)
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise UserError(
            f"the header of {source.place} must name dtype, shape and data_offsets of tensor {quoted(name)}"
        )
    dtype = checked_dtype(entry["dtype"], name, source.place)
    shape = checked_shape(entry["shape"], dtype, name, source.place)
    first, last = checked_offsets(entry["data_offsets"], name, source, start)
    needed = math.prod(shape) * STORED[dtype].itemsize
    if last - first != needed:
        raise UserError(
            f"{source.place} gives tensor {quoted(name)} {last - first} bytes,"
            f" but {list(shape)} of {dtype} needs {needed}"
        )
    return stored_tensor(name, shape, dtype, source, first), (first, last, name)


def checked_dtype(dtype: object, name: str, place: str) -> str:
    if not isinstance(dtype, str) or dtype not in STORED:
        raise UserError(
            f"{place} stores tensor {quoted(name)} as {quoted(dtype)}, which is not known here;"
            f" known: {', '.join(STORED)}"
        )
    return dtype


def checked_offsets(offsets: object, name: str, source: Source, start: int) -> tuple[int, int]:
    """First byte and last byte + 1 of a tensor, counted in the file."""
    if not isinstance(offsets, list) or len(offsets) != 2 or any(type(one) is not int for one in offsets):
        raise UserError(f"{source.place} gives tensor {quoted(name)} data_offsets that are no two integers")
    first, last = offsets
    if not 0 <= first <= last:
        raise UserError(f"{source.place} lets tensor {quoted(name)} start at {first} and end at {last}")
    if start + last > source.size:
        raise UserError(
            f"{source.place} is cut short: tensor {quoted(name)} ends at byte {start + last},"
            f" but the file has {source.size}"
        )
    return start + first, start + last


def refuse_overlaps(spans: list[Span], place: str) -> None:
    end, before = 0, ""
    for first, last, name in sorted(span for span in spans if span[0] < span[1]):
        if first < end:
            raise UserError(f"{place} lets tensors {quoted(before)} and {quoted(name)} overlap")
        end, before = last, name
