"""MicroAdder, the published family of trained adders: 57, 62, 67 and 74 parameters, layout lsb.

A position holds five dimensions: its digit on an arc (two), its column on a spiral (three). Attention finds
the two digits of the column and, ten times weaker, those of the column before; the digit that was just
written tells the carry. 57 = 3 arc + 3 `=` + 3 z_hi + 5 gain + 1 angle + 12 W + 10 a, b + 10 F1 + 10 H.
"""

from glassformer.models.architecture import Architecture, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import TiedHead
from glassformer.models.norm import Norm, RMSNorm, SpiralNorm
from glassformer.models.position import SpiralPosition
from glassformer.models.projection import FullProjection, RankOneProjection, RotatedProjection
from glassformer.models.token import ArcTable
from glassformer.tasks import Addition
from glassformer.zoo.entry import ZooEntry

TOKEN, COLUMN = (0, 2), (2, 5)  # dimensions of the digit and of its column in a state of five
TURNS = tuple(range(10))  # of the spiral, for the ten digits of a number
GAIN = RMSNorm()


def make_microadder(
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
        q=RotatedProjection(of="attn.k.weight", reads=COLUMN),
        k=FullProjection(reads=COLUMN, start="xavier"),
        v=FullProjection(reads=TOKEN),
        out=RankOneProjection(start="zero"),
    )
    slots: tuple[float | str, ...] = (*TURNS, "zero", *TURNS, "equals", *TURNS)
    position = SpiralPosition(slots=(*slots, "z_hi") if has_z_hi else slots, learned=learned_spiral)
    tied = ("attn.v.weight",) if has_free_down else ("attn.v.weight", "ff.down.weight")
    return make_spiral_adder(
        attention, FullProjection(start="xavier"), FullProjection(start="xavier"), position, norm, tied
    )


def make_spiral_adder(
    attention: Attention,
    up: FullProjection,
    head: FullProjection,
    position: SpiralPosition,
    norm: Norm,
    tied_to_head: tuple[str, ...],
) -> Architecture:
    """One layer of width five: digits on an arc, columns on a spiral, one norm at three sites."""
    down = FullProjection(writes=head.reads, start="xavier")
    ties = tuple(Tie(name, "head.weight.T") for name in tied_to_head)
    if type(norm) is RMSNorm:
        ties += (Tie("ff_norm.gain", "attn_norm.gain"), Tie("final_norm.gain", "attn_norm.gain"))
    return Architecture(
        vocab=10,
        context=len(position.slots),
        width=5,
        token=ArcTable(amplitude=2.5, start=-1.2, stride=0.29),
        position=position,
        position_dims=3,
        layers=(Layer(attention, FeedForward(hidden=2, bend="gelu", up=up, down=down), norm, norm),),
        final_norm=norm,
        head=TiedHead(head),
        ties=ties,
    )


ENTRIES: tuple[ZooEntry, ...] = (
    ZooEntry(
        "microadder-57",
        "MicroAdder as published, with feed-forward output and head tied; three parameters are dead",
        Addition(layout="lsb"),
        make_microadder(has_free_down=False),
    ),
    ZooEntry(
        "microadder-62",
        "MicroAdder as published, with norm gains computed by a sine formula",
        Addition(layout="lsb"),
        make_microadder(norm=SpiralNorm(boost="position.z_hi")),
    ),
    ZooEntry(
        "microadder-67",
        "MicroAdder as published, with feed-forward output and head untied",
        Addition(layout="lsb"),
        make_microadder(),
    ),
    ZooEntry(
        "microadder-74",
        "MicroAdder as published, with five query dimensions and a learned position spiral",
        Addition(layout="lsb"),
        make_microadder(rows=5, learned_spiral=True),
    ),
)
