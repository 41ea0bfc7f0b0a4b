"""The glass family of trained adders: 54, 47, 39, 29 and 23 numbers, layout lsb.

What MicroAdder's function depends on, stored as such. Query and key enter as one form of two columns, M =
W^T R W / 2, and the value as one number, g = H a. Then what need not be learned is frozen, and what need not
be there is left out. 29 = 3 arc + 9 M + 1 direction of g + 2 b + 4 F1 + 10 H.
"""

from glassformer.model.architecture import Architecture
from glassformer.model.attention import Attention
from glassformer.model.norm import FlatNorm, Norm
from glassformer.model.position import Spiral
from glassformer.model.projection import Direction, Full, Identity
from glassformer.tasks import Addition
from glassformer.zoo.entry import Entry
from glassformer.zoo.microadder import GAIN, PLACE, TOKEN, TURNS, microadder, spiral_adder

FOUR = FlatNorm(factor=4.0)
BETWEEN = 9.5  # where `=` sits on the spiral: after the last column, before the first turn closes


def glass(
    equals: float | str = BETWEEN, norm: Norm = FOUR, trimmed: bool = False, plane_head: bool = False
) -> Architecture:
    """Scores h_i M h_j on the columns, one number a place as the value, no scale.

    `trimmed`: g has length 1, and b and F1 keep to the plane of the digits; `plane_head`: H does so too.
    """
    plane = TOKEN if trimmed else None
    attention = Attention(
        head_size=3,
        value_size=1,
        q=Full(reads=PLACE, start="gram"),
        k=Identity(reads=PLACE),
        v=Direction(reads=TOKEN) if trimmed else Full(reads=TOKEN, start="xavier"),
        out=Full(writes=plane, start="zero"),
        scale=1.0,
    )
    # A plane cut from a xavier weight of 2 x 5 keeps its half width, 0.93: nearer to 1 than to xavier's 1.22.
    up = Full(reads=TOKEN, start="unit") if trimmed else Full(start="xavier")
    head = Full(reads=TOKEN, start="unit") if plane_head else Full(start="xavier")
    position = Spiral(slots=(*TURNS, "zero", *TURNS, equals, *TURNS))
    return spiral_adder(attention, up, head, position, norm, ("ff.down.weight",))


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "glass-54",
        "MicroAdder 57 without z_hi, which is dead",
        Addition(layout="lsb"),
        microadder(has_free_down=False, has_z_hi=False),
    ),
    Entry(
        "glass-47",
        "the scores as one 3 x 3 form, the value as one number",
        Addition(layout="lsb"),
        glass(equals="equals", norm=GAIN),
    ),
    Entry(
        "glass-39",
        "`=` at 9.5 on the spiral, and the gain is the constant 4",
        Addition(layout="lsb"),
        glass(),
    ),
    Entry(
        "glass-29",
        "the value has a direction only; attention writes, and F1 reads, the digit's plane",
        Addition(layout="lsb"),
        glass(trimmed=True),
    ),
    Entry(
        "glass-23",
        "the head keeps to the digit's plane as well",
        Addition(layout="lsb"),
        glass(trimmed=True, plane_head=True),
    ),
)
