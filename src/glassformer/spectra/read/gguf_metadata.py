"""The metadata of a GGUF file: keys with numbers, texts and short lists; tokenizers are gone past.

>>> entry = struct.pack("<Q", 8) + b"toy.rope" + struct.pack("<If", 6, 0.5)
>>> read_metadata(Cursor(memoryview(entry), "toy.gguf"), count=1)
{'toy.rope': 0.5}
>>> read_metadata(Cursor(memoryview(entry[:-1]), "toy.gguf"), count=1)
Traceback (most recent call last):
glassformer.errors.UserError: toy.gguf is cut short: its header goes on after its 23 bytes
"""

import struct
from typing import Any

from glassformer.errors import UserError
from glassformer.spectra.read.quoted import quoted

NUMBERS = dict(enumerate(["<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?"])) | {10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
LONGEST_NAME = 1000  # characters of a key or of a tensor, ten times those of any model
LONGEST_TEXT = 1 << 20  # bytes of a value that is kept; longer ones are whole tokenizers
LONGEST_ARRAY = 4096  # numbers that are kept: one a layer; tokenizers are longer
MOST_KEPT = 16 << 20  # bytes of all names and values that are kept; a real model has some thousands
OVERHEAD = 64  # bytes that a name or a value takes besides its content
MOST_TEXTS = 20_000_000  # of an array: eighty times the largest vocabulary, and skipped in seconds


class Cursor:
    """Reads a header from its front; one sentence where it leaves the file."""

    def __init__(self, buffer: memoryview, place: str) -> None:
        self.buffer, self.place, self.at, self.kept = buffer, place, 0, 0

    def error(self, what: str) -> UserError:
        return UserError(f"{self.place} {what}")

    def cut_short(self) -> UserError:
        return self.error(f"is cut short: its header goes on after its {len(self.buffer)} bytes")

    def skip(self, size: int) -> int:
        """Goes on by so many bytes; gives where they start."""
        start = self.at
        if size > len(self.buffer) - start:
            raise self.cut_short()
        self.at = start + size
        return start

    def keep(self, size: int) -> bytes:
        """The next bytes, as long as not too many are kept in all."""
        start = self.skip(size)
        self.kept += size + OVERHEAD
        if self.kept > MOST_KEPT:
            raise self.error(f"has names and metadata of more than {MOST_KEPT >> 20} MB, which no model has")
        return bytes(self.buffer[start : self.at])

    def number(self, form: str) -> Any:
        return struct.unpack_from(form, self.buffer, self.skip(struct.calcsize(form)))[0]

    def count(self, what: str, least: int) -> int:
        """How many things follow, each of at least so many bytes."""
        count: int = self.number("<Q")
        if count * least > len(self.buffer):
            raise self.error(f"says that it holds {count} {what}, but it has {len(self.buffer)} bytes")
        return count

    def text(self) -> bytes | None:
        """The bytes of a text; nothing where it is too long to be kept."""
        size = self.number("<Q")
        if size <= LONGEST_TEXT:
            return self.keep(size)
        self.skip(size)
        return None

    def name(self, what: str) -> str:
        name = (self.text() or b"").decode(errors="replace")
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            raise self.error(f"has {what} with an unreadable name, {quoted(name)}")
        return name


def read_metadata(cursor: Cursor, count: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    seen: set[str] = set()
    for _ in range(count):
        key = cursor.name("a key")
        if key in seen:
            raise cursor.error(f"has the key {quoted(key)} twice")
        seen.add(key)
        value = read_value(cursor, key)
        if value is not None:
            metadata[key] = value
    return metadata


def read_value(cursor: Cursor, key: str) -> Any:
    """A number, a text or a short list of numbers; nothing where it is a list of texts or a long one."""
    kind = cursor.number("<I")
    if kind == ARRAY:
        return read_array(cursor, key)
    if kind == STRING:
        text = cursor.text()
        return None if text is None else text.decode(errors="replace")
    return cursor.number(number_form(cursor, kind, key))


def read_array(cursor: Cursor, key: str) -> list[Any] | None:
    kind, count = cursor.number("<I"), cursor.count(f"values of {quoted(key)}", 1)
    if kind == STRING:
        skip_texts(cursor, count, key)
        return None
    form = number_form(cursor, kind, key)
    size = count * struct.calcsize(form)
    if count <= LONGEST_ARRAY:
        return list(struct.unpack(f"<{count}{form[1]}", cursor.keep(size)))
    cursor.skip(size)
    return None


def skip_texts(cursor: Cursor, count: int, key: str) -> None:
    """Goes past the texts of a tokenizer, of which there are hundreds of thousands."""
    if count > min(MOST_TEXTS, len(cursor.buffer) // 8):
        raise cursor.error(f"says that it holds {count} texts of {quoted(key)}, more than can be")
    length_at, buffer, last = struct.Struct("<Q").unpack_from, cursor.buffer, len(cursor.buffer) - 8
    at = cursor.at
    for _ in range(count):
        if at > last:
            raise cursor.cut_short()
        at += 8 + length_at(buffer, at)[0]
    cursor.skip(at - cursor.at)


def number_form(cursor: Cursor, kind: int, key: str) -> str:
    if kind == ARRAY:
        raise cursor.error(f"has lists of lists in {quoted(key)}, which cannot be read")
    if kind not in NUMBERS:
        raise cursor.error(f"has a value of unknown type {kind} in {quoted(key)}")
    return NUMBERS[kind]
