"""The members of a zip file by name, and the bytes at which each lies; nothing is unpacked.

The directory lies at the end of the file: 46 bytes and a name for each member, then 22 bytes that say where
it starts (and 56 more where the file is larger than 4 GB).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.core.errors import UserError
from glassformer.lens.read.mapped import ByteSource
from glassformer.lens.read.quoted import quote_name

_LARGEST_DIRECTORY = 64_000_000  # bytes; a member takes about 100
_END = struct.Struct("<4s4H2LH")
_END_64_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_IN_EXTRA = 0xFFFFFFFF  # stands for a number that is too large, and follows in 8 bytes


@dataclass(frozen=True)
class ZipMember:
    """Where a member lies; its first byte follows its local header."""

    name: str
    header: int  # the byte at which its local header starts
    size: int  # in bytes
    is_stored: bool  # plain bytes, neither packed nor locked


def list_zip_members(source: ByteSource) -> dict[str, ZipMember]:
    """All members by name."""
    start, size = _find_zip_directory(source)
    if size > _LARGEST_DIRECTORY:
        raise UserError(f"{source.place} has a zip directory of {size} bytes, more than {_LARGEST_DIRECTORY}")
    content, at, members = _read_zip_bytes(source, start, size), 0, {}
    while at < size:
        member, at = _read_zip_member(content, at, source.place)
        if member.name in members:
            raise UserError(f"{source.place} holds the member {quote_name(member.name)} twice")
        members[member.name] = member
    return members


def _find_zip_directory(source: ByteSource) -> tuple[int, int]:
    """The first byte of the directory, and how many it has."""
    tail = _read_zip_bytes(
        source, max(0, source.size - _END.size - 65_535), min(source.size, _END.size + 65_535)
    )
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + _END.size > len(tail):
        raise UserError(f"{source.place} is cut short or damaged: its zip directory is missing")
    *_, size, start, _ = _END.unpack_from(tail, at)
    locator = at - _END_64_LOCATOR.size
    if locator >= 0 and tail[locator:at].startswith(b"PK\6\7"):
        _, _, where, _ = _END_64_LOCATOR.unpack_from(tail, locator)
        *_, size, start = _END_64.unpack(_read_zip_bytes(source, where, _END_64.size))
    return start, size


def _read_zip_member(content: bytes, at: int, place: str) -> tuple[ZipMember, int]:
    """The member whose entry starts there, and where the next entry starts."""
    if content[at : at + 4] != b"PK\1\2" or at + _ENTRY.size > len(content):
        raise UserError(f"{place} is damaged: its zip directory holds no entry where one is expected")
    fields = _ENTRY.unpack_from(content, at)
    flags, method, packed, size, header = fields[3], fields[4], fields[8], fields[9], fields[16]
    name_end = at + _ENTRY.size + fields[10]
    extra_end = name_end + fields[11]
    large = _read_wide_numbers(content[name_end:extra_end])
    size, packed, header = (
        next(large, -1) if number == _IN_EXTRA else number for number in (size, packed, header)
    )
    name = content[at + _ENTRY.size : name_end].decode("utf-8", "replace")
    is_stored = method == 0 and not flags & 1 and packed == size
    return ZipMember(name, header, size, is_stored), extra_end + fields[12]


def _read_wide_numbers(extra: bytes) -> Iterator[int]:
    """The numbers of 8 bytes that an entry's extra field holds."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            part = extra[at + 4 : at + 4 + length]
            return iter(struct.unpack_from(f"<{len(part) // 8}Q", part))
        at += 4 + length
    return iter(())


def find_member_start(source: ByteSource, member: ZipMember) -> int:
    """The first byte of a member, once it is known to be plain and inside the file."""
    if not member.is_stored:
        raise UserError(
            f"{source.place} holds {quote_name(member.name)} packed or locked; plain bytes are expected"
        )
    local = _read_zip_bytes(source, member.header, _LOCAL.size)
    if not local.startswith(b"PK\3\4"):
        raise UserError(
            f"{source.place} is damaged: {quote_name(member.name)} is not where its directory says"
        )
    *_, name_length, extra_length = _LOCAL.unpack(local)
    start: int = member.header + _LOCAL.size + name_length + extra_length
    if not 0 <= start <= start + member.size <= source.size:
        raise UserError(f"{source.place} is cut short: {quote_name(member.name)} ends after the file")
    return start


def _read_zip_bytes(source: ByteSource, start: int, size: int) -> bytes:
    if not 0 <= start <= start + size <= source.size:
        raise UserError(f"{source.place} is cut short or damaged: its zip directory leads outside the file")
    return source.bytes(start, start + size).tobytes()
