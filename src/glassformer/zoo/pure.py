"""Models for numbers of every length in which nobody chose a number: six learned parameters, or five.

57 + 68 is read as `< 7 5 0 < 8 6 0 <`, as any-8 reads it (`any_length.py`), and the model is any-8's with
every chosen constant gone:

- the arc is centred on the first axis, so that the mirror between digits d and 9 - d turns the sign of the
  second one: values are that coordinate, and the middle is no number;
- norms divide by the root mean square, without gain and without epsilon: the arc is never near 0;
- the units' weight is 1;
- a key in the next higher column has the peak (1 column up), and higher ones are masked: no digit of the
  answer depends on them. What is left to learn of attention is its sharpness.

6 = 2 arc + 1 columns + 1 b + 2 head. In `pure-5` the arc's radius is 1, too: without an epsilon, radius, b, u
and v times one factor scale all logits alike, and no token changes.

The same model subtracts where values of the second number have a minus: 9 - d is the mirror of d, and
x - y = x + (99..9 - y) + 1 but for a power of ten. It doubles one number (`< x 0 <` is read), and works in
other bases. docs/further-down.md has what was tried.
"""

from glassformer.models.architecture import Architecture, FixedEntry, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import TiedHead
from glassformer.models.norm import FlatNorm
from glassformer.models.position import NoPosition
from glassformer.models.projection import PatternProjection, ZeroProjection
from glassformer.models.relations import LowColumnRelation
from glassformer.models.token import ArcTable
from glassformer.tasks import Addition
from glassformer.zoo.entry import ZooEntry

_ADD = Addition(layout="columns")  # trained on numbers of up to ten digits
_SPAN = 2.9  # radians of the first arc, from the first digit to one more than the last
_NORM = FlatNorm(eps=0.0, factor=1.0)
_PEAK = FixedEntry("attn.relation.peak", (0,), 1.0)
RADIUS = FixedEntry("token.amplitude", (), 1.0)
_SECOND = (1,)  # the number that a subtraction takes away


def make_pure(task: Addition, *fixed: FixedEntry) -> Architecture:
    """The family: the task says the tokens, and whether the second number has a minus."""
    attention = Attention(
        head_size=1,
        value_size=1,
        q=ZeroProjection(),
        k=ZeroProjection(),
        v=PatternProjection(entries=("0 1",)),
        out=PatternProjection(entries=("0", "b")),
        relation=LowColumnRelation(
            columns=task.digits + 2, minus=_SECOND if task.operation == "subtract" else ()
        ),
        scale=1.0,
    )
    feedforward = FeedForward(
        hidden=2,
        bend="gelu",
        up=PatternProjection(entries=("0 1", "0 -1")),
        down=PatternProjection(entries=("u u", "v -v")),
    )
    return Architecture(
        vocab=task.base,
        context=task.written().length - 1,
        width=2,
        token=ArcTable(amplitude=2.5, stride=_SPAN / task.base, middle=0.0),
        position=NoPosition(),
        layers=(Layer(attention, feedforward, _NORM, _NORM),),
        final_norm=_NORM,
        head=TiedHead(PatternProjection(entries=("u 0", "0 v"))),
        ties=(Tie("ff.down.u", "head.u"), Tie("ff.down.v", "head.v")),
        fixed=(_PEAK, *fixed),
    )


def _make_entry(name: str, about: str, task: Addition, *fixed: FixedEntry) -> ZooEntry:
    return ZooEntry(name, about, task, make_pure(task, *fixed))


_SUBTRACT = Addition(layout="columns", operation="subtract")
_DOUBLE = Addition(layout="columns", operation="times 2")
_BINARY = Addition(layout="columns", base=2)
_HEX = Addition(layout="columns", base=16)

ENTRIES: tuple[ZooEntry, ...] = (
    _make_entry("pure-6", "6 learned parameters and no chosen constant; adds numbers of every length", _ADD),
    _make_entry(
        "pure-5", "5 learned parameters and no chosen constant: pure-6 with an arc of radius 1", _ADD, RADIUS
    ),
    _make_entry("minus-6", "pure-6 that subtracts: the second number's values have a minus", _SUBTRACT),
    _make_entry("double-5", "pure-5 that doubles a number", _DOUBLE, RADIUS),
    _make_entry("binary-5", "pure-5 in base 2", _BINARY, RADIUS),
    _make_entry("hex-6", "pure-6 in base 16", _HEX),
)
