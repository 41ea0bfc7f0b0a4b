"""Heads and weights from a layer's whole projections: what all adapters share.

An adapter says where the queries of a layer lie, all heads one after another; the heads are cut from them:

>>> cut_view(View("qkv", spans=((0, 4), (12, 16))), 2, 6)
View(tensor='qkv', spans=((2, 4), (12, 14)), columns=None, is_transposed=False, gain=None, gain_after=None)
"""

from dataclasses import dataclass, replace

from glassformer.core.errors import UserError
from glassformer.lens.layout import HeadLayout, RopeLayout, Vector, View, Weight
from glassformer.lens.matrix import cut_spans


@dataclass(frozen=True)
class LayerAttention:
    """One layer's attention: each map with its heads one after another."""

    layer: int
    heads: int
    kv_heads: int
    head_dim: int
    query: View  # heads * head_dim outputs
    key: View  # kv_heads * head_dim outputs
    value: View  # kv_heads * value_dim outputs
    output: View  # heads * value_dim inputs
    value_dim: int = 0  # 0: the same as head_dim
    query_bias: Vector | None = None
    key_bias: Vector | None = None
    query_norm: Vector | None = None
    key_norm: Vector | None = None
    is_norm_shared: bool = True  # one gain for all heads; else each head has its own part of it
    rope: RopeLayout | None = None

    @property
    def group(self) -> int:
        """How many heads read the same keys and values."""
        return self.heads // self.kv_heads


def require_even_groups(source: str, heads: int, kv_heads: int) -> None:
    """The heads must share their keys and values evenly."""
    if heads % kv_heads:
        raise UserError(f"{source}: {heads} heads cannot share {kv_heads} key heads evenly")


def cut_heads(attention: LayerAttention) -> tuple[HeadLayout, ...]:
    """The heads of a layer."""
    return tuple(_cut_head(attention, index) for index in range(attention.heads))


def _cut_head(attention: LayerAttention, index: int) -> HeadLayout:
    dims, value_dims, kv_index = (
        attention.head_dim,
        attention.value_dim or attention.head_dim,
        index // attention.group,
    )
    shared = attention.is_norm_shared
    return HeadLayout(
        attention.layer,
        index,
        kv_index,
        query=((cut_view_part(attention.query, index, dims),),),
        key=((cut_view_part(attention.key, kv_index, dims),),),
        value=((cut_view_part(attention.value, kv_index, value_dims),),),
        output=cut_view_columns(attention.output, index * value_dims, (index + 1) * value_dims),
        query_bias=_cut_vector_part(attention.query_bias, index, dims),
        key_bias=_cut_vector_part(attention.key_bias, kv_index, dims),
        query_norm=attention.query_norm if shared else _cut_vector_part(attention.query_norm, index, dims),
        key_norm=attention.key_norm if shared else _cut_vector_part(attention.key_norm, kv_index, dims),
        rope=attention.rope,
    )


def list_attention_weights(attention: LayerAttention) -> tuple[Weight, ...]:
    """The four matrices of a layer's attention."""
    return (
        Weight(attention.layer, "W_Q", attention.query, "in"),
        Weight(attention.layer, "W_K", attention.key, "in"),
        Weight(attention.layer, "W_V", attention.value, "in"),
        Weight(attention.layer, "W_O", attention.output, "out"),
    )


def list_mlp_weights(
    layer: int, up: View, down: View, gate: View | None = None, expert: int | None = None, mark: str = ""
) -> tuple[Weight, ...]:
    """The matrices of a layer's MLP, or of one expert; `mark` ends their types: W_up_shared."""
    first = (Weight(layer, f"W_gate{mark}", gate, "in", expert),) if gate else ()
    others = (
        Weight(layer, f"W_up{mark}", up, "in", expert),
        Weight(layer, f"W_down{mark}", down, "out", expert),
    )
    return (*first, *others)


def make_embedding_weight(stored: View) -> Weight:
    """The embedding, stored one token per row, as the map from tokens to the stream."""
    return Weight(None, "W_E", replace(stored, is_transposed=not stored.is_transposed), "out")


def cut_view(view: View, start: int, stop: int) -> View:
    """Some outputs of a view, counted from its own first."""
    whole = view.spans or ((0, stop),)
    spans = tuple((span.start, span.stop) for span in cut_spans(whole, slice(start, stop)))
    after = view.gain_after and cut_vector(view.gain_after, start, stop)
    return replace(view, spans=spans, gain_after=after)


def cut_view_columns(view: View, start: int, stop: int) -> View:
    """Some inputs of a view, counted from its own first."""
    first = view.columns[0] if view.columns else 0
    before = view.gain and cut_vector(view.gain, start, stop)
    return replace(view, columns=(first + start, first + stop), gain=before)


def cut_vector(vector: Vector, start: int, stop: int) -> Vector:
    whole = vector.spans or ((0, stop),)
    return replace(
        vector, spans=tuple((span.start, span.stop) for span in cut_spans(whole, slice(start, stop)))
    )


def cut_view_part(view: View, index: int, size: int) -> View:
    return cut_view(view, index * size, (index + 1) * size)


def _cut_vector_part(vector: Vector | None, index: int, size: int) -> Vector | None:
    return vector and cut_vector(vector, index * size, (index + 1) * size)
