"""An architecture: which parts, in what order, of what size. Frozen, printable, saved with the weights.

The reference model of the rules, width 2, one head, context 8, twelve tokens:

>>> from glassformer.models.forward import list_parameters
>>> sum(p.size for p in list_parameters(make_reference_architecture(vocab=12, width=2, context=8)).values())
250
"""

from dataclasses import dataclass, field
from typing import Literal

from glassformer.core.errors import require_bounds, require_value
from glassformer.core.values import LATER
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import Head, LinearHead
from glassformer.models.norm import NoNorm, Norm
from glassformer.models.position import LearnedPosition, NoPosition, Position
from glassformer.models.projection import FullProjection
from glassformer.models.token import LearnedTable, Token

_MOST_DIGITS = 4_096  # Python writes integers of up to 4,300
_MOST_ANY_CONTEXT = 3 * 10**6 + 8  # three numbers of a million digits
_MOST_CONTEXT, _MOST_WIDTH = 2_048, 4_096  # positions and dimensions: far beyond what can be looked through


@dataclass(frozen=True)
class Layer:
    """Norm, attention, norm, feed-forward; with residual connections each adds to the stream."""

    attention: Attention | None = field(default_factory=Attention)
    feedforward: FeedForward | None = field(default_factory=FeedForward)
    attention_norm: Norm = field(default_factory=NoNorm)
    feedforward_norm: Norm = field(default_factory=NoNorm)
    residual: bool = True


@dataclass(frozen=True)
class Tie:
    """`name` is not stored: it is the array called `to`; `head.weight.T` means the transpose."""

    name: str
    to: str


@dataclass(frozen=True)
class FixedEntry:
    """One entry that is not learned: entry (0, 1) of `head.weight` is 0. `constants.py` says which count."""

    name: str
    place: tuple[int, ...] = ()  # none for a single parameter
    value: float = 0.0


@dataclass(frozen=True)
class Architecture:
    """The whole model without its parameters."""

    vocab: int = 0  # tokens; 0: as many as the task has
    context: int = 8  # positions that the model sees
    width: int = 2  # dimensions of the residual stream
    token: Token = field(default_factory=LearnedTable)
    position: Position = field(default_factory=LearnedPosition)
    position_dims: int = 0  # dimensions of positions alone; 0: positions are added to the tokens
    layers: tuple[Layer, ...] = (Layer(),)
    final_norm: Norm = field(default_factory=NoNorm)
    head: Head = field(default_factory=LinearHead)
    ties: tuple[Tie, ...] = ()
    fixed: tuple[FixedEntry, ...] = field(default=(), metadata=LATER)
    precision: Literal["float32", "float64"] = "float32"

    def __post_init__(self) -> None:
        require_bounds(self, vocab=(0, 65_536), width=(1, _MOST_WIDTH))
        require_bounds(self, context=(1, self._most_context))
        fits = f"between 0 and {self.width - 1}, less than the width"
        require_value(0 <= self.position_dims < self.width, "position_dims", fits, self.position_dims)
        require_value(len(self.layers) >= 1, "layers", "at least one layer", self.layers)
        require_value(len(self.layers) <= 256, "layers", "a list of at most 256", len(self.layers))
        require_value(len(self.ties) <= 4_096, "ties", "a list of at most 4,096", len(self.ties))
        require_value(len(self.fixed) <= 4_096, "fixed", "a list of at most 4,096", len(self.fixed))

    @property
    def is_any_length(self) -> bool:
        """Whether positions are known by columns alone, in every layer that attends."""
        relations = [layer.attention.relation for layer in self.layers if layer.attention]
        is_bare = isinstance(self.position, NoPosition) and not self.position_dims
        return is_bare and bool(relations) and all(relation.is_any_length for relation in relations)

    @property
    def _most_context(self) -> int:
        """What can be looked through; vocab^context, the number of contexts, is written out."""
        if self.is_any_length:
            return _MOST_ANY_CONTEXT
        return min(_MOST_CONTEXT, _MOST_DIGITS // len(str(self.vocab)))

    @property
    def token_dims(self) -> int:
        return self.width - self.position_dims


def make_reference_architecture(
    vocab: int = 0,
    width: int = 2,
    context: int = 8,
    heads: int = 1,
    head_size: int = 2,
    residual: bool = True,
) -> Architecture:
    """The model of the rule tasks: one layer, no norm, ReLU, a linear head with bias."""
    out = None if heads * head_size == width else FullProjection()
    layer = Layer(Attention(heads=heads, head_size=head_size, out=out), FeedForward(), residual=residual)
    return Architecture(vocab=vocab, context=context, width=width, layers=(layer,))
