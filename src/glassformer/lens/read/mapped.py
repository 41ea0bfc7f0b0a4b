"""A file that is mapped into memory, read-only: bytes are views, and nothing is loaded before it is touched.

>>> import tempfile
>>> with tempfile.NamedTemporaryFile() as file:
...     path = Path(file.name)
...     _ = path.write_bytes(b"glass")
...     mapped = MappedFile(path)
...     (mapped.size, mapped.bytes(1, 3).tobytes())
(5, b'la')
"""

import mmap
from pathlib import Path
from typing import Protocol

import numpy as np
from jaxtyping import UInt8

from glassformer.core.errors import UserError

Bytes = UInt8[np.ndarray, "byte"]


class ByteSource(Protocol):
    """Bytes that a reader takes tensors from: a mapped file, or one at the other end of a network."""

    @property
    def place(self) -> str: ...  # for errors
    @property
    def size(self) -> int: ...  # in bytes
    def bytes(self, start: int, stop: int) -> Bytes: ...
    def forget(self, start: int, stop: int) -> None: ...


class MappedFile:
    """The bytes of a file, as read-only views."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.place = str(path)
        self.map = _map_file(self.path)
        self.size = len(self.map)
        self.whole: Bytes = np.frombuffer(self.map, np.uint8)

    def bytes(self, start: int, stop: int) -> Bytes:
        """The bytes from start up to stop, without a copy; one sentence where they leave the file."""
        if not 0 <= start <= stop <= self.size:
            raise UserError(f"{self.place} has {self.size} bytes, but bytes {start} to {stop} are asked for")
        return self.whole[start:stop]

    def forget(self, start: int, stop: int) -> None:
        """Let go of the memory of these bytes' pages; touched again, they are read from the file again."""
        first = start // mmap.PAGESIZE * mmap.PAGESIZE
        if hasattr(self.map, "madvise") and first < min(stop, self.size):
            self.map.madvise(mmap.MADV_DONTNEED, first, min(stop, self.size) - first)


def refuse_pointer(source: ByteSource) -> None:
    """One sentence where Git LFS has left a note instead of the file."""
    if source.bytes(0, min(source.size, 23)).tobytes() == b"version https://git-lfs":
        raise UserError(f"{source.place} is a pointer of Git LFS, not the weights; git lfs pull fetches them")


def _map_file(path: Path) -> mmap.mmap:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UserError(f"{path} is no regular file")  # a pipe would be waited for without end
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise UserError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder, but a file is expected") from None
    except ValueError:
        raise UserError(f"{path} is empty") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
