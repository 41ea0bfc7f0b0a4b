"""A file at the other end of a network, of which only the parts are fetched that are asked for.

What was fetched lies in a temporary file with holes in it: nothing is fetched twice, and memory stays small.

>>> fetched = []
>>> def fetch(start, stop):
...     fetched.append((start, stop))
...     return bytes(range(start, stop))
>>> file = RemoteFile("example", 100, fetch, piece=10)
>>> file.bytes(15, 32).tobytes() == bytes(range(15, 32)), file.bytes(12, 14).tolist(), fetched
(True, [12, 13], [(10, 40)])
"""

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock

from glassformer.core.errors import UserError
from glassformer.lens.read.mapped import Bytes, MappedFile

PIECE = 1 << 20  # bytes; more than most headers take, so that a file is opened by one request
_MOST_PIECES = 64  # in one request
_Fetch = Callable[[int, int], bytes]  # the bytes from start up to stop


class RemoteFile:
    """The same questions as of a mapped file, answered over a network."""

    def __init__(self, place: str, size: int, fetch: _Fetch, piece: int = PIECE) -> None:
        self.place, self.size, self.piece = place, size, piece
        self.fetch, self.lock = fetch, Lock()
        self.fetched: set[int] = set()  # pieces that are here
        self.handle, self.here = _make_sparse_file(size, place)
        weakref.finalize(self, os.close, self.handle)

    def bytes(self, start: int, stop: int) -> Bytes:
        """The bytes from start up to stop; what is not here yet is fetched."""
        if not 0 <= start <= stop <= self.size:
            raise UserError(f"{self.place} has {self.size} bytes, but bytes {start} to {stop} are asked for")
        with self.lock:
            for first, last in self.missing(start, stop):
                self.bring(first, last)
        return self.here.bytes(start, stop)

    def forget(self, start: int, stop: int) -> None:
        """Let go of memory; what was fetched stays on the disk until the program ends."""
        self.here.forget(start, stop)

    def missing(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Runs of pieces that are not here, each short enough for one request."""
        wanted = range(start // self.piece, -(-stop // self.piece))
        run: list[int] = []
        for piece in wanted:
            if piece not in self.fetched:
                run.append(piece)
            if run and (piece in self.fetched or len(run) == _MOST_PIECES):
                yield run[0], run[-1] + 1
                run = []
        if run:
            yield run[0], run[-1] + 1

    def bring(self, first: int, last: int) -> None:
        start, stop = first * self.piece, min(last * self.piece, self.size)
        content = self.fetch(start, stop)
        if len(content) != stop - start:
            raise UserError(
                f"{self.place} came with {len(content)} bytes where {stop - start} were asked for"
            )
        try:
            os.pwrite(self.handle, content, start)
        except OSError as error:
            raise UserError(f"{self.place} cannot be kept in a temporary file: {error.strerror}") from None
        self.fetched.update(range(first, last))


def _make_sparse_file(size: int, place: str) -> tuple[int, MappedFile]:
    """A temporary file of that size that takes no room yet, and goes when it is closed."""
    handle, name = tempfile.mkstemp()
    try:
        os.truncate(handle, size)
        return handle, MappedFile(name)
    except (OSError, OverflowError) as error:
        os.close(handle)
        raise UserError(f"{place} cannot be kept in a temporary file: {error}") from None
    except UserError:
        os.close(handle)
        raise UserError(f"{place} is empty, but weights are expected") from None
    finally:
        Path(name).unlink()
