"""The header of a GGUF file: metadata and where the tensors lie, believed only once it is checked.

The shortest header is 24 bytes: the magic, version 3, no tensors, no metadata.

>>> header = read_gguf_header(memoryview(b"GGUF" + struct.pack("<IQQ", 3, 0, 0)), "empty.gguf")
>>> (header.metadata, header.tensors)
({}, ())
>>> read_gguf_header(memoryview(b"GGUF" + struct.pack("<IQQ", 3, 2**50, 0)), "liar.gguf")
Traceback (most recent call last):
glassformer.core.errors.UserError: liar.gguf says that it holds 1125899906842624 tensors, but it has 24 bytes

The layout is that of docs/gguf.md in github.com/ggml-org/ggml.
"""

import itertools
import math
import struct
from dataclasses import dataclass
from typing import Any

from glassformer.lens.read.gguf_blocks import BlockFormat
from glassformer.lens.read.gguf_metadata import HeaderCursor, read_gguf_metadata
from glassformer.lens.read.gguf_types import TYPES
from glassformer.lens.read.quoted import quote_name

_LEAST_ENTRY = 14  # bytes of the shortest key with its value
_LEAST_TENSOR = 33  # bytes of the shortest tensor's entry
_DEFAULT_ALIGNMENT = 32
_LARGEST_ALIGNMENT = 1 << 30


@dataclass(frozen=True)
class TensorEntry:
    """A tensor, as the header tells of it."""

    name: str
    shape: tuple[int, ...]  # rows first, as in NumPy
    format: BlockFormat
    start: int  # of its first byte in the file
    stop: int


@dataclass(frozen=True)
class GgufHeader:
    metadata: dict[str, Any]
    tensors: tuple[TensorEntry, ...]


def read_gguf_header(buffer: memoryview, place: str) -> GgufHeader:
    """Metadata and tensors, checked against each other and against the size of the file."""
    cursor = HeaderCursor(buffer, place)
    _require_gguf_version(cursor)
    tensor_count, entry_count = cursor.count("tensors", _LEAST_TENSOR), cursor.count("entries", _LEAST_ENTRY)
    metadata = read_gguf_metadata(cursor, entry_count)
    alignment = _read_alignment(cursor, metadata)
    found = [_read_tensor_entry(cursor) for _ in range(tensor_count)]
    data = -(-cursor.at // alignment) * alignment
    tensors = tuple(_locate_tensor(cursor, one, offset, data, alignment) for one, offset in found)
    _refuse_tensor_overlaps(cursor, tensors)
    return GgufHeader(metadata, tensors)


def _require_gguf_version(cursor: HeaderCursor) -> None:
    magic = bytes(cursor.buffer[: len(b"GGUF")])
    if magic != b"GGUF":
        raise cursor.error(f"is no GGUF file: it begins with {magic!r} instead of b'GGUF'")
    cursor.skip(len(magic))
    version = cursor.number("<I")
    if version and version % (1 << 16) == 0:
        raise cursor.error("is a big-endian GGUF file; only little-endian ones can be read")
    if version not in (2, 3):
        raise cursor.error(f"is a GGUF file of version {version}; versions 2 and 3 can be read")


def _read_alignment(cursor: HeaderCursor, metadata: dict[str, Any]) -> int:
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    is_power = isinstance(alignment, int) and alignment > 0 and alignment & (alignment - 1) == 0
    if not is_power or alignment > _LARGEST_ALIGNMENT:
        raise cursor.error(f"has general.alignment {quote_name(alignment)}, but a power of two is expected")
    return int(alignment)


def _read_tensor_entry(cursor: HeaderCursor) -> tuple[TensorEntry, int]:
    """A tensor that is not yet placed, and its offset from the start of all data."""
    name = cursor.name("a tensor")
    axes = cursor.number("<I")
    if not 1 <= axes <= 4:
        raise cursor.error(f"has a tensor {quote_name(name)} of {axes} axes, but 1 to 4 are expected")
    dims = struct.unpack_from(f"<{axes}Q", cursor.buffer, cursor.skip(8 * axes))
    kind, offset = cursor.number("<I"), cursor.number("<Q")
    if kind not in TYPES:
        raise cursor.error(f"has a tensor {quote_name(name)} of unknown type {kind}")
    if min(dims) == 0 or dims[0] % TYPES[kind].weights:
        expected = f"no empty axis and a multiple of {TYPES[kind].weights} columns are expected"
        raise cursor.error(f"has a tensor {quote_name(name)} of shape {dims[::-1]}, but {expected}")
    return TensorEntry(name, dims[::-1], TYPES[kind], 0, 0), offset


def _locate_tensor(
    cursor: HeaderCursor, one: TensorEntry, offset: int, data: int, alignment: int
) -> TensorEntry:
    size = math.prod(one.shape) // one.format.weights * one.format.record.itemsize
    start, stop = data + offset, data + offset + size
    if offset % alignment:
        raise cursor.error(
            f"has tensor {quote_name(one.name)} at offset {offset}, no multiple of {alignment}"
        )
    if stop > len(cursor.buffer):
        where = f"tensor {quote_name(one.name)} ends at byte {stop}"
        raise cursor.error(f"is cut short or wrong: {where}, but the file has {len(cursor.buffer)}")
    return TensorEntry(one.name, one.shape, one.format, start, stop)


def _refuse_tensor_overlaps(cursor: HeaderCursor, tensors: tuple[TensorEntry, ...]) -> None:
    """No two tensors have one name or share bytes."""
    seen: set[str] = set()
    for one in tensors:
        if one.name in seen:
            raise cursor.error(f"has the tensor {quote_name(one.name)} twice")
        seen.add(one.name)
    in_order = sorted(tensors, key=lambda one: one.start)
    for before, after in itertools.pairwise(in_order):
        if after.start < before.stop:
            both = f"{quote_name(before.name)} and {quote_name(after.name)}"
            raise cursor.error(f"has the tensors {both} in the same bytes")
