"""A checkpoint that reads each stored block once while the heads of a layer are worked on.

Rows of one head lie together and are read when the head's turn comes. A tensor whose heads lie across its
rows (W_O, and everything that is stored transposed) is read whole, once, and cut in memory: head by head,
every row would be decoded as often as there are heads.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from glassformer.lens.layout import HeadLayout, View
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import Block, Tensor

RECENT = 8  # blocks of a tensor that are kept: queries, keys and values of one head, in a few spans each

_Read = Callable[[slice, slice], Block]


def hold_blocks(checkpoint: Checkpoint, heads: Iterable[HeadLayout]) -> Checkpoint:
    """The same checkpoint for the work on these heads; what it has read goes when it goes."""
    views = {view for head in heads for view in head.views}
    whole = {view.tensor for view in views if _is_view_across(view)}
    wanted = {
        view.tensor: _hold_tensor(checkpoint.tensor(view.tensor), view.tensor in whole) for view in views
    }
    return replace(checkpoint, tensors=dict(checkpoint.tensors) | wanted)


def _is_view_across(view: View) -> bool:
    """Whether other heads want other columns of the same stored rows."""
    return view.is_transposed or view.columns is not None


def _hold_tensor(tensor: Tensor, is_whole: bool) -> Tensor:
    return replace(tensor, read=_make_whole_reader(tensor) if is_whole else _make_recent_reader(tensor))


def _make_whole_reader(tensor: Tensor) -> _Read:
    kept: list[Block] = []

    def read(rows: slice, columns: slice) -> Block:
        if not kept:
            kept.append(tensor.block())
        return kept[0][rows, columns]

    return read


def _make_recent_reader(tensor: Tensor) -> _Read:
    kept: dict[tuple[int, int, int, int], Block] = {}

    def read(rows: slice, columns: slice) -> Block:
        place = (rows.start, rows.stop, columns.start, columns.stop)
        if place not in kept:
            if len(kept) == RECENT:
                del kept[next(iter(kept))]
            kept[place] = tensor.read(rows, columns)
        return kept[place]

    return read
