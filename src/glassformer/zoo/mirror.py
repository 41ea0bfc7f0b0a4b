"""Mirrored glass: trained adders of 16, 10, 9 and 8 numbers, layout lsb.

glass-23, trained, turned out to be nearly its own mirror image: swap the two dimensions of the digit and
every digit d becomes 9 - d. Addition has that symmetry (a column's total t becomes 19 - t, its digit z
becomes 9 - z), so it is built in here: the arc lies evenly about the diagonal, the value is read and
written across it, and the two weights of the rest are (p q, q p) and (u v, v u).

Its attention spent nine numbers on two ends. The first digit of the answer has no column before it, the
last no column of its own, and on a circle of ten the last column's neighbour is the first. A circle of
eleven has one place more: `+` and `=`, which both read as the digit 0, stand there, the empty column before
the units and after the highest digits. What is left of the form is a turn of the circle, its stretch, and a
little ramp.

8 = 2 arc + 2 turn + 1 b + 1 p + 2 head.
"""

from glassformer.model.architecture import Architecture, Layer, Tie
from glassformer.model.attention import Attention
from glassformer.model.feedforward import FeedForward
from glassformer.model.head import TiedHead
from glassformer.model.position import Spiral
from glassformer.model.projection import AnyProjection, Full, Identity, Pattern
from glassformer.model.token import Arc
from glassformer.tasks import Addition
from glassformer.zoo.entry import Entry
from glassformer.zoo.glass import BETWEEN, FOUR
from glassformer.zoo.microadder import PLACE, TOKEN, TURNS

DIAGONAL = 0.125  # of a turn: the axis of the mirror
EMPTY = 10.0  # the turn of the empty column, on a circle of eleven
SPIRAL = Spiral(slots=(*TURNS, "zero", *TURNS, BETWEEN, *TURNS))
ELEVEN = Spiral(period=11.0, slots=(*TURNS, EMPTY, *TURNS, EMPTY, *TURNS))

FORM = Full(reads=PLACE, start="gram")  # 9 numbers
TURN_AND_RAMP = Pattern(reads=PLACE, entries=("u -v 0", "v u 0", "0 0 c"))  # 3
TURN = Pattern(reads=PLACE, entries=("u -v 0", "v u 0", "0 0 1"))  # 2
EVEN = Pattern(reads=TOKEN, entries=("p q", "q p"))  # 2
ACROSS = Pattern(reads=TOKEN, entries=("p -p", "-p p"))  # 1: two units on one line, from both ends
HEAD = ("u v", "v u")


def mirrored(position: Spiral, form: AnyProjection, up: Pattern) -> Architecture:
    """The family's options: positions, the form of the scores, and what the feed-forward layer reads."""
    attention = Attention(
        head_size=3,
        value_size=1,
        q=form,
        k=Identity(reads=PLACE),
        v=Pattern(reads=TOKEN, entries=("-1 1",)),
        out=Pattern(writes=TOKEN, entries=("b", "-b")),
        scale=1.0,
    )
    feedforward = FeedForward(hidden=2, bend="gelu", up=up, down=Pattern(writes=TOKEN, entries=HEAD))
    return Architecture(
        vocab=10,
        context=len(position.slots),
        width=5,
        token=Arc(amplitude=2.5, stride=0.29, middle=DIAGONAL),
        position=position,
        position_dims=3,
        layers=(Layer(attention, feedforward, FOUR, FOUR),),
        final_norm=FOUR,
        head=TiedHead(Pattern(reads=TOKEN, entries=HEAD)),
        ties=(Tie("ff.down.u", "head.u"), Tie("ff.down.v", "head.v")),
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "glass-16",
        "glass-23 as its own mirror image: 9 - d for every digit d swaps two dimensions",
        Addition(layout="lsb"),
        mirrored(SPIRAL, FORM, EVEN),
    ),
    Entry(
        "glass-10",
        "a circle of eleven, `+` and `=` its empty column: the form is a turn and a ramp",
        Addition(layout="lsb"),
        mirrored(ELEVEN, TURN_AND_RAMP, EVEN),
    ),
    Entry(
        "glass-9",
        "the feed-forward layer reads along one line, from both ends",
        Addition(layout="lsb"),
        mirrored(ELEVEN, TURN_AND_RAMP, ACROSS),
    ),
    Entry(
        "glass-8",
        "the ramp enters the scores as it is",
        Addition(layout="lsb"),
        mirrored(ELEVEN, TURN, ACROSS),
    ),
)
