"""MicroAdder, the published family of trained adders: 57, 62, 67 and 74 numbers, layout lsb.

A place holds five dimensions: its digit on an arc (two), its column on a spiral (three). Attention finds the
two digits of the column and, ten times weaker, those of the column before; the digit that was just written
tells the carry. 57 = 3 arc + 3 `=` + 3 z_hi + 5 gain + 1 angle + 12 W + 10 a, b + 10 F1 + 10 H.
"""

from glassformer.model.architecture import Architecture, Layer, Tie
from glassformer.model.attention import Attention
from glassformer.model.feedforward import FeedForward
from glassformer.model.head import TiedHead
from glassformer.model.norm import Norm, RMSNorm, SpiralNorm
from glassformer.model.position import Spiral
from glassformer.model.projection import Full, RankOne, Rotated
from glassformer.model.token import Arc
from glassformer.tasks import Addition
from glassformer.zoo.entry import Entry

TOKEN, PLACE = (0, 2), (2, 5)  # dimensions of the digit and of its column in a state of five
TURNS = tuple(range(10))  # of the spiral, for the ten digits of a number
GAIN = RMSNorm()


def microadder(
    rows: int = 4,
    norm: Norm = GAIN,
    has_free_down: bool = True,
    learned_spiral: bool = False,
    has_z_hi: bool = True,
) -> Architecture:
    """K = W h, Q = R(angle) W h on the column; H reads the digit for the value and writes the answer."""
    attention = Attention(
        head_size=rows,
        value_size=5,
        q=Rotated(of="attn.k.weight", reads=PLACE),
        k=Full(reads=PLACE, start="xavier"),
        v=Full(reads=TOKEN),
        out=RankOne(start="zero"),
    )
    slots: tuple[float | str, ...] = (*TURNS, "zero", *TURNS, "equals", *TURNS)
    position = Spiral(slots=(*slots, "z_hi") if has_z_hi else slots, learned=learned_spiral)
    tied = ("attn.v.weight",) if has_free_down else ("attn.v.weight", "ff.down.weight")
    return spiral_adder(attention, Full(start="xavier"), Full(start="xavier"), position, norm, tied)


def spiral_adder(
    attention: Attention, up: Full, head: Full, position: Spiral, norm: Norm, tied_to_head: tuple[str, ...]
) -> Architecture:
    """One layer of width five: digits on an arc, columns on a spiral, one norm at three sites."""
    down = Full(writes=head.reads, start="xavier")
    ties = tuple(Tie(name, "head.weight.T") for name in tied_to_head)
    if type(norm) is RMSNorm:
        ties += (Tie("ff_norm.gain", "attn_norm.gain"), Tie("final_norm.gain", "attn_norm.gain"))
    return Architecture(
        vocab=10,
        context=len(position.slots),
        width=5,
        token=Arc(amplitude=2.5, start=-1.2, stride=0.29),
        position=position,
        position_dims=3,
        layers=(Layer(attention, FeedForward(hidden=2, bend="gelu", up=up, down=down), norm, norm),),
        final_norm=norm,
        head=TiedHead(head),
        ties=ties,
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "microadder-57",
        "the feed-forward writes with the head's weight; z_hi is dead",
        Addition(layout="lsb"),
        microadder(has_free_down=False),
    ),
    Entry(
        "microadder-62",
        "the norm's gain is a sine that z_hi lifts; nothing in it is learned but z_hi",
        Addition(layout="lsb"),
        microadder(norm=SpiralNorm(boost="position.z_hi")),
    ),
    Entry(
        "microadder-67",
        "the feed-forward has a weight of its own to write with",
        Addition(layout="lsb"),
        microadder(),
    ),
    Entry(
        "microadder-74",
        "five query dimensions, and the spiral's four numbers are learned",
        Addition(layout="lsb"),
        microadder(rows=5, learned_spiral=True),
    ),
)
