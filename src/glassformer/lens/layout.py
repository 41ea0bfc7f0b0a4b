"""Where a model's matrices and heads lie in its tensors: plain data that an adapter writes.

The query weight of head 3 of GPT-2, stored with inputs as rows inside one tensor of 768 x 2304:

    View("h.0.attn.c_attn.weight", spans=((192, 256),), is_transposed=True)

Every view is a matrix `out in` that is applied as y = W x, however it is stored.
"""

from dataclasses import dataclass
from typing import Literal

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Vector:
    """Part of a stored vector: a bias, or the gain of a norm."""

    tensor: str
    spans: Spans = ()  # from, to, in order; all where empty
    offset: float = 0.0  # added to what is stored: 1 for Gemma, whose gains are 1 + w


@dataclass(frozen=True)
class View:
    """A matrix `out in` inside a stored tensor."""

    tensor: str
    spans: Spans = ()  # of the outputs, in order; all where empty
    columns: tuple[int, int] | None = None  # of the inputs
    is_transposed: bool = False  # stored `in out`
    gain: Vector | None = None  # of the norm before it, one number per input; applied when folded
    gain_after: Vector | None = None  # of a norm after it, one number per output; applied when folded


Map = tuple[tuple[View, ...], ...]  # rows stacked from products; (((b, a),), ) is the matrix b a


@dataclass(frozen=True)
class RopeLayout:
    """How queries and keys are turned by position: pair i by rates[i] radians per position."""

    rates: tuple[float, ...]
    pairs: Literal["halves", "adjacent"]  # which two dimensions are a pair: (i, i + n) or (2i, 2i + 1)
    first: int = 0  # the head's first dimension that is turned


@dataclass(frozen=True)
class HeadLayout:
    """One attention head: four maps and what belongs to its scores."""

    layer: int
    index: int
    kv_index: int  # whose keys and values it reads
    query: Map  # head_dim x width
    key: Map
    value: Map  # value_dim x width
    output: View  # width x value_dim
    query_bias: Vector | None = None
    key_bias: Vector | None = None
    query_norm: Vector | None = None  # gains of a norm on queries, one number per dimension of the head
    key_norm: Vector | None = None
    rope: RopeLayout | None = None

    @property
    def views(self) -> tuple[View, ...]:
        """Every part of a tensor that the head is made of."""
        stacks = self.query + self.key + self.value
        return (*(view for product in stacks for view in product), self.output)


@dataclass(frozen=True)
class Weight:
    """One weight matrix of the model."""

    layer: int | None  # none: embeddings, unembedding
    type: str  # W_Q, W_K, W_V, W_O, W_gate, W_up, W_down, W_E, W_U, or the pattern of an unknown name
    view: View
    stream: Literal["in", "out", "none"]  # which side faces the residual stream
    expert: int | None = None


@dataclass(frozen=True)
class ModelLayout:
    """All that the lens looks at, and what it could not read."""

    architecture: str
    layers: int
    heads: int  # 0 where heads were not read
    kv_heads: int
    head_dim: int
    width: int
    weights: tuple[Weight, ...]
    attention: tuple[HeadLayout, ...]
    notes: tuple[str, ...] = ()  # sentences for the user: what was not read, and why
