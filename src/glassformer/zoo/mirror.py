"""Mirrored glass: trained adders of 16, 10, 9 and 8 parameters, layout lsb.

glass-23, trained, turned out to be nearly its own mirror image: swap the two dimensions of the digit and
every digit d becomes 9 - d. Addition has that symmetry (a column's total t becomes 19 - t, its digit z
becomes 9 - z), so it is built in here: the arc lies evenly about the diagonal, the value is read and
written across it, and the two weights of the rest are (p q, q p) and (u v, v u).

Its attention spent nine parameters on two ends. The first digit of the answer has no column before it, the
last no column of its own, and on a circle of ten the last column's neighbour is the first. A circle of
eleven has one position more: `+` and `=`, which both read as the digit 0, stand there, the empty column
before the units and after the highest digits. What is left of the form is a turn of the circle, its stretch,
and a little ramp.

8 = 2 arc + 2 turn + 1 b + 1 p + 2 head.
"""

from glassformer.models.architecture import Architecture, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import TiedHead
from glassformer.models.position import SpiralPosition
from glassformer.models.projection import AnyProjection, FullProjection, IdentityProjection, PatternProjection
from glassformer.models.token import ArcTable
from glassformer.tasks import Addition
from glassformer.zoo.entry import ZooEntry
from glassformer.zoo.glass import BETWEEN, FOUR
from glassformer.zoo.microadder import COLUMN, TOKEN, TURNS

_DIAGONAL = 0.125  # of a turn: the axis of the mirror
_EMPTY = 10.0  # the turn of the empty column, on a circle of eleven
_SPIRAL = SpiralPosition(slots=(*TURNS, "zero", *TURNS, BETWEEN, *TURNS))
_ELEVEN = SpiralPosition(period=11.0, slots=(*TURNS, _EMPTY, *TURNS, _EMPTY, *TURNS))

_FORM = FullProjection(reads=COLUMN, start="gram")  # 9 parameters
_TURN_AND_RAMP = PatternProjection(reads=COLUMN, entries=("u -v 0", "v u 0", "0 0 c"))  # 3
_TURN = PatternProjection(reads=COLUMN, entries=("u -v 0", "v u 0", "0 0 1"))  # 2
_EVEN = PatternProjection(reads=TOKEN, entries=("p q", "q p"))  # 2
_ACROSS = PatternProjection(reads=TOKEN, entries=("p -p", "-p p"))  # 1: two units on one line, from both ends
_HEAD = ("u v", "v u")


def _make_mirror(position: SpiralPosition, form: AnyProjection, up: PatternProjection) -> Architecture:
    """The family's options: positions, the form of the scores, and what the feed-forward layer reads."""
    attention = Attention(
        head_size=3,
        value_size=1,
        q=form,
        k=IdentityProjection(reads=COLUMN),
        v=PatternProjection(reads=TOKEN, entries=("-1 1",)),
        out=PatternProjection(writes=TOKEN, entries=("b", "-b")),
        scale=1.0,
    )
    feedforward = FeedForward(
        hidden=2, bend="gelu", up=up, down=PatternProjection(writes=TOKEN, entries=_HEAD)
    )
    return Architecture(
        vocab=10,
        context=len(position.slots),
        width=5,
        token=ArcTable(amplitude=2.5, stride=0.29, middle=_DIAGONAL),
        position=position,
        position_dims=3,
        layers=(Layer(attention, feedforward, FOUR, FOUR),),
        final_norm=FOUR,
        head=TiedHead(PatternProjection(reads=TOKEN, entries=_HEAD)),
        ties=(Tie("ff.down.u", "head.u"), Tie("ff.down.v", "head.v")),
    )


ENTRIES: tuple[ZooEntry, ...] = (
    ZooEntry(
        "glass-16",
        "glass-23 with the symmetry between digits d and 9 - d built in",
        Addition(layout="lsb"),
        _make_mirror(_SPIRAL, _FORM, _EVEN),
    ),
    ZooEntry(
        "glass-10",
        "glass-16 with eleven columns on the circle: 3 parameters route attention instead of 9",
        Addition(layout="lsb"),
        _make_mirror(_ELEVEN, _TURN_AND_RAMP, _EVEN),
    ),
    ZooEntry(
        "glass-9",
        "glass-10 with one parameter instead of two for the feed-forward input",
        Addition(layout="lsb"),
        _make_mirror(_ELEVEN, _TURN_AND_RAMP, _ACROSS),
    ),
    ZooEntry(
        "glass-8",
        "glass-9 with a ramp of factor 1: 8 learned parameters, proved right on all pairs",
        Addition(layout="lsb"),
        _make_mirror(_ELEVEN, _TURN, _ACROSS),
    ),
)
