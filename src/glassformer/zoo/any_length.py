"""Adders for numbers of every length: 8, 7 and 6 parameters, layout columns.

57 + 68 is read as `< 7 5 0 < 8 6 0 <` and written 5 2 1, units first; `<` is a mark, and mark and padding are
the digit 0. In each number the mark stands in column -1, digit k in column k and the padding in column n. So
every digit of the answer, the lowest and the highest too, is written with the same in view: x_k and y_k one
column above the query, and x_{k-1}, y_{k-1} and z_{k-1}, the query itself, in its own.

Attention asks for nothing but a column: the score of a key m columns up is -c (m - mu)^2. No position has a
vector of its own, and no number in the model depends on how long the numbers are. The rest is glass-8, in the
two dimensions of the digits alone. docs/every-length.md has the theorem.

8 = 2 arc + 2 columns + 1 b + 1 p + 2 head.
"""

from glassformer.models.architecture import Architecture, FixedEntry, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import TiedHead
from glassformer.models.norm import FlatNorm
from glassformer.models.position import NoPosition
from glassformer.models.projection import PatternProjection, ZeroProjection
from glassformer.models.relations import ColumnRelation
from glassformer.models.token import ArcTable
from glassformer.tasks import Addition
from glassformer.zoo.entry import ZooEntry

_TASK = Addition(layout="columns")  # trained on numbers of up to ten digits
_DIAGONAL = 0.125  # of a turn: the axis of the mirror between digits d and 9 - d
_NORM = FlatNorm(eps=6.0, factor=6.0)
_HEAD = ("u v", "v u")
_FOUR = FixedEntry("attn.relation.sharpness", (0,), 4.0)
_HALF = FixedEntry("ff.up.p", (), 0.5)


def _make_any_length(*fixed: FixedEntry) -> Architecture:
    """The family: what is fixed is not learned."""
    attention = Attention(
        head_size=1,
        value_size=1,
        q=ZeroProjection(),
        k=ZeroProjection(),
        v=PatternProjection(entries=("-1 1",)),
        out=PatternProjection(entries=("b", "-b")),
        relation=ColumnRelation(columns=_TASK.digits + 2),
        scale=1.0,
    )
    feedforward = FeedForward(
        hidden=2,
        bend="gelu",
        up=PatternProjection(entries=("p -p", "-p p")),
        down=PatternProjection(entries=_HEAD),
    )
    return Architecture(
        vocab=_TASK.base,
        context=_TASK.written().length - 1,
        width=2,
        token=ArcTable(amplitude=2.5, stride=0.29, middle=_DIAGONAL),
        position=NoPosition(),
        layers=(Layer(attention, feedforward, _NORM, _NORM),),
        final_norm=_NORM,
        head=TiedHead(PatternProjection(entries=_HEAD)),
        ties=(Tie("ff.down.u", "head.u"), Tie("ff.down.v", "head.v")),
        fixed=fixed,
    )


ENTRIES: tuple[ZooEntry, ...] = (
    ZooEntry(
        "any-8",
        "8 learned parameters, trained on ten digits; proved right for numbers of every length",
        _TASK,
        _make_any_length(),
    ),
    ZooEntry("any-7", "any-8 with the sharpness of attention fixed at 4", _TASK, _make_any_length(_FOUR)),
    ZooEntry(
        "any-6", "any-7 with the feed-forward weight fixed at 1/2", _TASK, _make_any_length(_FOUR, _HALF)
    ),
)
