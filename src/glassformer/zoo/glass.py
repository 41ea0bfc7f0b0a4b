"""The glass family of trained adders: 54, 47, 39, 29 and 23 parameters, layout lsb.

What MicroAdder's function depends on, stored as such. Query and key enter as one form of two columns, M =
W^T R W / 2, and the value as one number, g = H a. Then what need not be learned is frozen, and what need not
be there is left out. 29 = 3 arc + 9 M + 1 direction of g + 2 b + 4 F1 + 10 H.
"""

from glassformer.models.architecture import Architecture
from glassformer.models.attention import Attention
from glassformer.models.norm import FlatNorm, Norm
from glassformer.models.position import SpiralPosition
from glassformer.models.projection import DirectionProjection, FullProjection, IdentityProjection
from glassformer.tasks import Addition
from glassformer.zoo.entry import ZooEntry
from glassformer.zoo.microadder import COLUMN, GAIN, TOKEN, TURNS, make_microadder, make_spiral_adder

FOUR = FlatNorm(factor=4.0)
BETWEEN = 9.5  # where `=` sits on the spiral: after the last column, before the first turn closes


def _make_glass(
    equals: float | str = BETWEEN, norm: Norm = FOUR, trimmed: bool = False, plane_head: bool = False
) -> Architecture:
    """Scores h_i M h_j on the columns, one number per position as the value, no scale.

    `trimmed`: g has length 1, and b and F1 keep to the plane of the digits; `plane_head`: H does so too.
    """
    plane = TOKEN if trimmed else None
    attention = Attention(
        head_size=3,
        value_size=1,
        q=FullProjection(reads=COLUMN, start="gram"),
        k=IdentityProjection(reads=COLUMN),
        v=DirectionProjection(reads=TOKEN) if trimmed else FullProjection(reads=TOKEN, start="xavier"),
        out=FullProjection(writes=plane, start="zero"),
        scale=1.0,
    )
    # A plane cut from a xavier weight of 2 x 5 keeps its half width, 0.93: nearer to 1 than to xavier's 1.22.
    up = FullProjection(reads=TOKEN, start="unit") if trimmed else FullProjection(start="xavier")
    head = FullProjection(reads=TOKEN, start="unit") if plane_head else FullProjection(start="xavier")
    position = SpiralPosition(slots=(*TURNS, "zero", *TURNS, equals, *TURNS))
    return make_spiral_adder(attention, up, head, position, norm, ("ff.down.weight",))


ENTRIES: tuple[ZooEntry, ...] = (
    ZooEntry(
        "glass-54",
        "MicroAdder 57 without its three dead parameters",
        Addition(layout="lsb"),
        make_microadder(has_free_down=False, has_z_hi=False),
    ),
    ZooEntry(
        "glass-47",
        "glass-54 with query and key merged into one 3 x 3 matrix and a value of size 1",
        Addition(layout="lsb"),
        _make_glass(equals="equals", norm=GAIN),
    ),
    ZooEntry(
        "glass-39",
        "glass-47 with a fixed position vector for `=` and a fixed norm gain of 4",
        Addition(layout="lsb"),
        _make_glass(),
    ),
    ZooEntry(
        "glass-29",
        "glass-39 with attention output and feed-forward input limited to the two digit dimensions",
        Addition(layout="lsb"),
        _make_glass(trimmed=True),
    ),
    ZooEntry(
        "glass-23",
        "glass-29 with the head limited to the two digit dimensions",
        Addition(layout="lsb"),
        _make_glass(trimmed=True, plane_head=True),
    ),
)
