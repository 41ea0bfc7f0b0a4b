"""The metadata of a GGUF file: keys with numbers, texts and short lists; tokenizers are skipped.

>>> entry = struct.pack("<Q", 8) + b"toy.rope" + struct.pack("<If", 6, 0.5)
>>> read_gguf_metadata(HeaderCursor(memoryview(entry), "toy.gguf"), count=1)
{'toy.rope': 0.5}
>>> read_gguf_metadata(HeaderCursor(memoryview(entry[:-1]), "toy.gguf"), count=1)
Traceback (most recent call last):
glassformer.core.errors.UserError: toy.gguf is cut short: its header continues after its 23 bytes
"""

import struct
from typing import Any

from glassformer.core.errors import UserError
from glassformer.lens.read.quoted import quote_name

_NUMBERS = dict(enumerate(["<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?"])) | {10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_LONGEST_NAME = 1000  # characters of a key or of a tensor, ten times those of any model
_LONGEST_TEXT = 1 << 20  # bytes of a value that is kept; longer ones are whole tokenizers
_LONGEST_ARRAY = 4096  # numbers that are kept: one per layer; tokenizers are longer
_MOST_KEPT = 16 << 20  # bytes of all names and values that are kept; a real model has some thousands
_OVERHEAD = 64  # bytes that a name or a value takes besides its content
_MOST_TEXTS = 20_000_000  # of an array: eighty times the largest vocabulary, and skipped in seconds


class HeaderCursor:
    """Reads a header from its front; one sentence where it leaves the file."""

    def __init__(self, buffer: memoryview, place: str) -> None:
        self.buffer, self.place, self.at, self.kept = buffer, place, 0, 0

    def error(self, what: str) -> UserError:
        return UserError(f"{self.place} {what}")

    def cut_short(self) -> UserError:
        return self.error(f"is cut short: its header continues after its {len(self.buffer)} bytes")

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
        self.kept += size + _OVERHEAD
        if self.kept > _MOST_KEPT:
            raise self.error(f"has names and metadata of more than {_MOST_KEPT >> 20} MB, which no model has")
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
        if size <= _LONGEST_TEXT:
            return self.keep(size)
        self.skip(size)
        return None

    def name(self, what: str) -> str:
        name = (self.text() or b"").decode(errors="replace")
        if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
            raise self.error(f"has {what} with an unreadable name, {quote_name(name)}")
        return name


def read_gguf_metadata(cursor: HeaderCursor, count: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    seen: set[str] = set()
    for _ in range(count):
        key = cursor.name("a key")
        if key in seen:
            raise cursor.error(f"has the key {quote_name(key)} twice")
        seen.add(key)
        value = _read_metadata_value(cursor, key)
        if value is not None:
            metadata[key] = value
    return metadata


def _read_metadata_value(cursor: HeaderCursor, key: str) -> Any:
    """A number, a text or a short list of numbers; nothing where it is a list of texts or a long one."""
    kind = cursor.number("<I")
    if kind == _ARRAY:
        return _read_metadata_array(cursor, key)
    if kind == _STRING:
        text = cursor.text()
        return None if text is None else text.decode(errors="replace")
    return cursor.number(_find_number_format(cursor, kind, key))


def _read_metadata_array(cursor: HeaderCursor, key: str) -> list[Any] | None:
    kind, count = cursor.number("<I"), cursor.count(f"values of {quote_name(key)}", 1)
    if kind == _STRING:
        _skip_texts(cursor, count, key)
        return None
    form = _find_number_format(cursor, kind, key)
    size = count * struct.calcsize(form)
    if count <= _LONGEST_ARRAY:
        return list(struct.unpack(f"<{count}{form[1]}", cursor.keep(size)))
    cursor.skip(size)
    return None


def _skip_texts(cursor: HeaderCursor, count: int, key: str) -> None:
    """Goes past the texts of a tokenizer, of which there are hundreds of thousands."""
    if count > min(_MOST_TEXTS, len(cursor.buffer) // 8):
        raise cursor.error(f"says that it holds {count} texts of {quote_name(key)}, more than can be")
    length_at, buffer, last = struct.Struct("<Q").unpack_from, cursor.buffer, len(cursor.buffer) - 8
    at = cursor.at
    for _ in range(count):
        if at > last:
            raise cursor.cut_short()
        at += 8 + length_at(buffer, at)[0]
    cursor.skip(at - cursor.at)


def _find_number_format(cursor: HeaderCursor, kind: int, key: str) -> str:
    if kind == _ARRAY:
        raise cursor.error(f"has lists of lists in {quote_name(key)}, which cannot be read")
    if kind not in _NUMBERS:
        raise cursor.error(f"has a value of unknown type {kind} in {quote_name(key)}")
    return _NUMBERS[kind]
