"""A tensor in a GGUF file, unpacked a few rows at a time.

Rows 1 and 2, columns 40 to 49, of a matrix of Q8_0 with 64 columns: of each row only the second block of 32
is unpacked, and 10 of its weights are given.
"""

from dataclasses import dataclass

import numpy as np

from glassformer.core.errors import UserError
from glassformer.lens.read.gguf_blocks import BlockFormat, Blocks
from glassformer.lens.read.mapped import ByteSource
from glassformer.lens.read.quoted import quote_name
from glassformer.lens.read.tensor import Block

CHUNK = 1 << 16  # weights that are unpacked at once: 256 KB of float32 stay in the cache of a core


@dataclass(frozen=True)
class GgufRows:
    """Where the rows of a tensor lie in a file."""

    name: str
    source: ByteSource
    start: int  # of its first byte in the file
    format: BlockFormat
    columns: int

    @property
    def row_bytes(self) -> int:
        return self.columns // self.format.weights * self.format.record.itemsize

    def read(self, rows: slice, columns: slice) -> Block:
        """Some rows and columns; unpacks only the blocks that hold these columns."""
        unpack = self.format.unpack
        if unpack is None:
            what = f"{quote_name(self.name)} in {self.source.place} is of type {self.format.name}"
            raise UserError(f"{what}, which cannot be read yet; store it as Q8_0, Q4_K, F16 or BF16")
        size = self.format.weights
        first, last = columns.start // size, -(-columns.stop // size)
        wide = np.empty((max(0, rows.stop - rows.start), max(0, last - first) * size), self.format.result)
        step = max(1, CHUNK // max(1, wide.shape[1]))
        with np.errstate(all="ignore"):  # scales may be infinite; who asks for finite weights checks them
            for start in range(0, len(wide) if wide.size else 0, step):
                part = wide[start : start + step]
                blocks = self.blocks(rows.start + start, rows.start + start + len(part), first, last)
                unpack(blocks, part.reshape(-1, size))
        return wide[:, columns.start - first * size : max(columns.start, columns.stop) - first * size]

    def blocks(self, start: int, stop: int, first: int, last: int) -> Blocks:
        """The records of some rows, from the first up to the last of each row's blocks."""
        raw = self.source.bytes(self.start + start * self.row_bytes, self.start + stop * self.row_bytes)
        size = self.format.record.itemsize
        across = raw.reshape(stop - start, self.row_bytes)[:, first * size : last * size]
        return np.ascontiguousarray(across).reshape(-1).view(self.format.record)
