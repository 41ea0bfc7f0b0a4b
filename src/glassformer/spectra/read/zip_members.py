"""The members of a zip file by name, and the bytes at which each lies; nothing is unpacked.

The directory lies at the end of the file: 46 bytes and a name for each member, then 22 bytes that say where
it starts (and 56 more where the file is larger than 4 GB).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.errors import UserError
from glassformer.spectra.read.mapped import Source
from glassformer.spectra.read.quoted import quoted

LARGEST_DIRECTORY = 64_000_000  # bytes; a member takes about 100
END = struct.Struct("<4s4H2LH")
END_64_LOCATOR = struct.Struct("<4sLQL")
END_64 = struct.Struct("<4sQ2H2L4Q")
ENTRY = struct.Struct("<4s6H3L5H2L")
LOCAL = struct.Struct("<4s5H3L2H")
IN_EXTRA = 0xFFFFFFFF  # stands for a number that is too large, and follows in 8 bytes


@dataclass(frozen=True)
class Member:
    """Where a member lies; its first byte follows its local header."""

    name: str
    header: int  # the byte at which its local header starts
    size: int  # in bytes
    is_stored: bool  # plain bytes, neither packed nor locked


def zip_members(source: Source) -> dict[str, Member]:
    """All members by name."""
    start, size = find_directory(source)
    if size > LARGEST_DIRECTORY:
        raise UserError(f"{source.place} has a zip directory of {size} bytes, more than {LARGEST_DIRECTORY}")
    content, at, members = take(source, start, size), 0, {}
    while at < size:
        member, at = read_member(content, at, source.place)
        if member.name in members:
            raise UserError(f"{source.place} holds the member {quoted(member.name)} twice")
        members[member.name] = member
    return members


def find_directory(source: Source) -> tuple[int, int]:
    """The first byte of the directory, and how many it has."""
    tail = take(source, max(0, source.size - END.size - 65_535), min(source.size, END.size + 65_535))
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + END.size > len(tail):
        raise UserError(f"{source.place} is cut short or damaged: its zip directory is missing")
    *_, size, start, _ = END.unpack_from(tail, at)
    locator = at - END_64_LOCATOR.size
    if locator >= 0 and tail[locator:at].startswith(b"PK\6\7"):
        _, _, where, _ = END_64_LOCATOR.unpack_from(tail, locator)
        *_, size, start = END_64.unpack(take(source, where, END_64.size))
    return start, size


def read_member(content: bytes, at: int, place: str) -> tuple[Member, int]:
    """The member whose entry starts there, and where the next entry starts."""
    if content[at : at + 4] != b"PK\1\2" or at + ENTRY.size > len(content):
        raise UserError(f"{place} is damaged: its zip directory holds no entry where one is expected")
    fields = ENTRY.unpack_from(content, at)
    flags, method, packed, size, header = fields[3], fields[4], fields[8], fields[9], fields[16]
    name_end = at + ENTRY.size + fields[10]
    extra_end = name_end + fields[11]
    large = wide_numbers(content[name_end:extra_end])
    size, packed, header = (
        next(large, -1) if number == IN_EXTRA else number for number in (size, packed, header)
    )
    name = content[at + ENTRY.size : name_end].decode("utf-8", "replace")
    is_stored = method == 0 and not flags & 1 and packed == size
    return Member(name, header, size, is_stored), extra_end + fields[12]


def wide_numbers(extra: bytes) -> Iterator[int]:
    """The numbers of 8 bytes that an entry's extra field holds."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            part = extra[at + 4 : at + 4 + length]
            return iter(struct.unpack_from(f"<{len(part) // 8}Q", part))
        at += 4 + length
    return iter(())


def member_start(source: Source, member: Member) -> int:
    """The first byte of a member, once it is known to be plain and inside the file."""
    if not member.is_stored:
        raise UserError(
            f"{source.place} holds {quoted(member.name)} packed or locked; plain bytes are expected"
        )
    local = take(source, member.header, LOCAL.size)
    if not local.startswith(b"PK\3\4"):
        raise UserError(f"{source.place} is damaged: {quoted(member.name)} is not where its directory says")
    *_, name_length, extra_length = LOCAL.unpack(local)
    start: int = member.header + LOCAL.size + name_length + extra_length
    if not 0 <= start <= start + member.size <= source.size:
        raise UserError(f"{source.place} is cut short: {quoted(member.name)} ends after the file")
    return start


def take(source: Source, start: int, size: int) -> bytes:
    if not 0 <= start <= start + size <= source.size:
        raise UserError(f"{source.place} is cut short or damaged: its zip directory leads outside the file")
    return source.bytes(start, start + size).tobytes()
