"""Damage to bytes, whatever they mean."""

import struct
from collections.abc import Callable
from random import Random

LENGTHS = (0, 1, 7, 8, 255, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
SNIPPETS = (
    b"",
    b"\0" * 8,
    b"\xff" * 8,
    b"[" * 3000,
    b"9" * 5001,
    b'"',
    b"{",
    b"}",
    b"\n",
    b"PK\5\6",
    b"GGUF",
    b"\xed\xa0\x80",
    b"\xfe\xff",
)


def mutate_bytes(content: bytes, random: Random, most: int = 4) -> bytes:
    """The bytes with one to `most` changes."""
    for _ in range(random.randint(1, most)):
        content = random.choice(CHANGES)(content, random)
    return content


def draw_span(content: bytes, random: Random) -> tuple[int, int]:
    """Two positions; short spans are as likely as long ones, and the front is hit more often."""
    size = len(content)
    start = random.randrange(size + 1) if random.random() < 0.6 else random.randrange(min(size, 64) + 1)
    return start, min(size, start + int(2 ** random.uniform(0, max(1, size.bit_length()))))


def flip(content: bytes, random: Random) -> bytes:
    if not content:
        return b"\0"
    at = draw_span(content, random)[0] % len(content)
    return content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :]


def put_byte(content: bytes, random: Random) -> bytes:
    start, _ = draw_span(content, random)
    return content[:start] + bytes([random.choice((0, 1, 127, 128, 255, 34, 91, 123))]) + content[start + 1 :]


def cut_end(content: bytes, random: Random) -> bytes:
    return content[: draw_span(content, random)[0]]


def cut_out(content: bytes, random: Random) -> bytes:
    start, stop = draw_span(content, random)
    return content[:start] + content[stop:]


def repeat(content: bytes, random: Random) -> bytes:
    start, stop = draw_span(content, random)
    part = content[start:stop][:10_000]
    return content[:stop] + part * random.choice((1, 2, 20)) + content[stop:]


def insert(content: bytes, random: Random) -> bytes:
    start, _ = draw_span(content, random)
    return content[:start] + random.choice(SNIPPETS) + content[start:]


def put_length(content: bytes, random: Random) -> bytes:
    """Eight or four bytes replaced by a number that some reader takes for a length."""
    start, _ = draw_span(content, random)
    wide = random.random() < 0.6
    packed = struct.pack("<Q", random.choice(LENGTHS))[: 8 if wide else 4]
    return content[:start] + packed + content[start + len(packed) :]


def move(content: bytes, random: Random) -> bytes:
    start, stop = draw_span(content, random)
    rest = content[:start] + content[stop:]
    at = random.randrange(len(rest) + 1)
    return rest[:at] + content[start:stop] + rest[at:]


CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(flip, flip, put_byte, put_byte, cut_end, cut_out, repeat, insert, put_length, put_length, move),
)
