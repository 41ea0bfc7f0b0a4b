"""The header of a GGUF file: metadata and where the tensors lie, believed only once it is checked.

The shortest header is 24 bytes: the magic, version 3, no tensors, no metadata.

>>> header = read_header(memoryview(b"GGUF" + struct.pack("<IQQ", 3, 0, 0)), "empty.gguf")
>>> (header.metadata, header.tensors)
({}, ())
>>> read_header(memoryview(b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0)), "liar.gguf")
Traceback (most recent call last):
glassformer.errors.UserError: liar.gguf says that it holds 1152921504606846976 tensors, but it has 24 bytes

The layout is that of docs/gguf.md in github.com/ggml-org/ggml.
"""

import itertools
import math
import struct
from dataclasses import dataclass
from typing import Any

from glassformer.spectra.read.gguf_blocks import Format
from glassformer.spectra.read.gguf_metadata import Cursor, read_metadata
from glassformer.spectra.read.gguf_types import TYPES
from glassformer.spectra.read.quoted import quoted

LEAST_ENTRY = 14  # bytes of the shortest key with its value
LEAST_TENSOR = 33  # bytes of the shortest tensor's entry
DEFAULT_ALIGNMENT = 32
LARGEST_ALIGNMENT = 1 << 30


@dataclass(frozen=True)
class Entry:
    """A tensor, as the header tells of it."""

    name: str
    shape: tuple[int, ...]  # rows first, as in NumPy
    format: Format
    start: int  # of its first byte in the file
    stop: int


@dataclass(frozen=True)
class Header:
    metadata: dict[str, Any]
    tensors: tuple[Entry, ...]


def read_header(buffer: memoryview, place: str) -> Header:
    """Metadata and tensors, checked against each other and against the size of the file."""
    cursor = Cursor(buffer, place)
    check_version(cursor)
    tensor_count, entry_count = cursor.count("tensors", LEAST_TENSOR), cursor.count("entries", LEAST_ENTRY)
    metadata = read_metadata(cursor, entry_count)
    alignment = alignment_of(cursor, metadata)
    found = [read_tensor(cursor) for _ in range(tensor_count)]
    data = -(-cursor.at // alignment) * alignment
    tensors = tuple(place_tensor(cursor, one, offset, data, alignment) for one, offset in found)
    check_apart(cursor, tensors)
    return Header(metadata, tensors)


def check_version(cursor: Cursor) -> None:
    magic = bytes(cursor.buffer[: len(b"GGUF")])
    if magic != b"GGUF":
        raise cursor.error(f"is no GGUF file: it begins with {magic!r} in place of b'GGUF'")
    cursor.skip(len(magic))
    version = cursor.number("<I")
    if version and version % (1 << 16) == 0:
        raise cursor.error("is a big-endian GGUF file; only little-endian ones can be read")
    if version not in (2, 3):
        raise cursor.error(f"is a GGUF file of version {version}; versions 2 and 3 can be read")


def alignment_of(cursor: Cursor, metadata: dict[str, Any]) -> int:
    alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    is_power = isinstance(alignment, int) and alignment > 0 and alignment & (alignment - 1) == 0
    if not is_power or alignment > LARGEST_ALIGNMENT:
        raise cursor.error(f"has general.alignment {quoted(alignment)}, but a power of two is expected")
    return int(alignment)


def read_tensor(cursor: Cursor) -> tuple[Entry, int]:
    """A tensor that is not yet placed, and its offset from the start of all data."""
    name = cursor.name("a tensor")
    axes = cursor.number("<I")
    if not 1 <= axes <= 4:
        raise cursor.error(f"has a tensor {quoted(name)} of {axes} axes, but 1 to 4 are expected")
    dims = struct.unpack_from(f"<{axes}Q", cursor.buffer, cursor.skip(8 * axes))
    kind, offset = cursor.number("<I"), cursor.number("<Q")
    if kind not in TYPES:
        raise cursor.error(f"has a tensor {quoted(name)} of unknown type {kind}")
    if min(dims) == 0 or dims[0] % TYPES[kind].weights:
        expected = f"no empty axis and a multiple of {TYPES[kind].weights} columns are expected"
        raise cursor.error(f"has a tensor {quoted(name)} of shape {dims[::-1]}, but {expected}")
    return Entry(name, dims[::-1], TYPES[kind], 0, 0), offset


def place_tensor(cursor: Cursor, one: Entry, offset: int, data: int, alignment: int) -> Entry:
    size = math.prod(one.shape) // one.format.weights * one.format.record.itemsize
    start, stop = data + offset, data + offset + size
    if offset % alignment:
        raise cursor.error(f"has tensor {quoted(one.name)} at offset {offset}, no multiple of {alignment}")
    if stop > len(cursor.buffer):
        where = f"tensor {quoted(one.name)} ends at byte {stop}"
        raise cursor.error(f"is cut short or wrong: {where}, but the file has {len(cursor.buffer)}")
    return Entry(one.name, one.shape, one.format, start, stop)


def check_apart(cursor: Cursor, tensors: tuple[Entry, ...]) -> None:
    """No two tensors have one name or share bytes."""
    seen: set[str] = set()
    for one in tensors:
        if one.name in seen:
            raise cursor.error(f"has the tensor {quoted(one.name)} twice")
        seen.add(one.name)
    in_order = sorted(tensors, key=lambda one: one.start)
    for before, after in itertools.pairwise(in_order):
        if after.start < before.stop:
            both = f"{quoted(before.name)} and {quoted(after.name)}"
            raise cursor.error(f"has the tensors {both} in the same bytes")
