"""Small text files, TOML and JSON, from anybody: read within limits, or one sentence that says why not.

A file that a folder brings may be a pipe that never ends, a device, a gigabyte, or nested a thousand deep.
"""

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError, shorten_value

_LONGEST = 300  # digits of an integer; a sum of two numbers of 200 digits has 201
_MOST_BYTES = 256 * 2**20  # of a text; a certificate of a thousand classes has about 2 MB
_Table = dict[str, Any]


def read_bytes(path: Path, most: int = _MOST_BYTES) -> bytes:
    """All of a plain file; pipes and devices are refused before they are opened."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device or a pipe"
            raise UserError(f"{shorten_value(path, str)} is {kind}, not a file")
        if found.st_size > most:
            raise UserError(f"{path} has {found.st_size:,} bytes; at most {most:,} are read")
        with path.open("rb") as file:
            return file.read(most + 1)[:most]
    except OSError as error:
        raise UserError(f"cannot read {shorten_value(path, str)}: {error.strerror or error}") from None
    except ValueError:  # a NUL in its name
        raise UserError(f"{shorten_value(path)} is not a valid file name") from None


def read_text(path: Path, most: int = _MOST_BYTES) -> str:
    """A text in UTF-8, whatever the locale."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start:,}") from None


def read_toml(path: Path) -> _Table:
    """The tables of a TOML file."""
    try:
        return decode_toml(read_text(path))
    except (ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"{path} is not valid TOML: {describe_decode_error(error)}") from None


def decode_toml(text: str) -> _Table:
    """TOML has integers of any size; none of ours has more than _LONGEST digits."""
    content, left = tomllib.loads(text), list[Any]()
    left.append(content)
    while left:
        item = left.pop()
        if isinstance(item, dict | list):
            left += item.values() if isinstance(item, dict) else item
        elif isinstance(item, int) and abs(item) >= 10**_LONGEST:
            raise ValueError(f"a number has more than {_LONGEST} digits")
    return content


def _read_integer(text: str) -> int:
    if len(text) > _LONGEST:
        raise ValueError(f"a number has more than {_LONGEST} digits")
    return int(text)


def read_json(path: Path) -> _Table:
    """The object in a JSON file."""
    content = decode_json(read_text(path), str(path))
    if not isinstance(content, dict):
        raise UserError(f"{path} must hold a JSON object")
    return content


def decode_json(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_int=_read_integer)
    except (ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"{where} is not JSON, or was cut off ({describe_decode_error(error)})") from None


def describe_decode_error(error: BaseException) -> str:
    """Python's own words are for programmers where nesting or a number goes beyond its limits."""
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, MemoryError):
        return "it is too large"
    return "a number is too long" if "digits" in str(error) else str(error)
