"""A checkpoint that reads each stored block once while the heads of a layer are worked on.

Rows of one head lie together and are read when the head's turn comes. A tensor whose heads lie across its
rows (W_O, and everything that is stored transposed) is read whole, once, and cut in memory: head by head,
every row would be decoded as often as there are heads.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from glassformer.spectra.layout import Head, View
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.read.tensor import Block, Tensor

RECENT = 8  # blocks of a tensor that are kept: queries, keys and values of one head, in a few spans each

Read = Callable[[slice, slice], Block]


def hold(checkpoint: Checkpoint, heads: Iterable[Head]) -> Checkpoint:
    """The same checkpoint for the work on these heads; what it has read goes when it goes."""
    views = {view for head in heads for view in head.views}
    whole = {view.tensor for view in views if is_across(view)}
    wanted = {view.tensor: held(checkpoint.tensor(view.tensor), view.tensor in whole) for view in views}
    return replace(checkpoint, tensors=dict(checkpoint.tensors) | wanted)


def is_across(view: View) -> bool:
    """Whether other heads want other columns of the same stored rows."""
    return view.is_transposed or view.columns is not None


def held(tensor: Tensor, is_whole: bool) -> Tensor:
    return replace(tensor, read=read_whole(tensor) if is_whole else read_recent(tensor))


def read_whole(tensor: Tensor) -> Read:
    kept: list[Block] = []

    def read(rows: slice, columns: slice) -> Block:
        if not kept:
            kept.append(tensor.block())
        return kept[0][rows, columns]

    return read


def read_recent(tensor: Tensor) -> Read:
    kept: dict[tuple[int, int, int, int], Block] = {}

    def read(rows: slice, columns: slice) -> Block:
        place = (rows.start, rows.stop, columns.start, columns.stop)
        if place not in kept:
            if len(kept) == RECENT:
                del kept[next(iter(kept))]
            kept[place] = tensor.read(rows, columns)
        return kept[place]

    return read
