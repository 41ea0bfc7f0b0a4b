"""Which role each effective matrix of one of our models has, and which of their rows are a head's."""

from collections.abc import Mapping
from dataclasses import replace

from glassformer.lens.adapt.build import make_embedding_weight
from glassformer.lens.adapt.own_arrays import Array
from glassformer.lens.layout import HeadLayout, Map, ModelLayout, RopeLayout, Vector, View, Weight
from glassformer.models.architecture import Architecture
from glassformer.models.attention import Attention
from glassformer.models.forward import format_layer_prefix
from glassformer.models.head import LowestHead, ParabolicHead, TiedHead

_READERS = {"attn.q": "W_Q", "attn.k": "W_K", "attn.v": "W_V", "ff.gate": "W_gate", "ff.up": "W_up"}
_WRITERS = {"attn.out": "W_O", "ff.down": "W_down"}


def make_own_layout(model: Architecture, arrays: Mapping[str, Array]) -> ModelLayout:
    """Roles and heads of the effective matrices."""
    first = next((layer.attention for layer in model.layers if layer.attention), None)
    weights = [make_embedding_weight(View("token"))]
    if "position" in arrays:
        weights.append(replace(make_embedding_weight(View("position")), type="W_pos"))
    attention: list[HeadLayout] = []
    for index, layer in enumerate(model.layers):
        weights += _list_own_weights(index, format_layer_prefix(model, index), arrays)
        if layer.attention:
            attention += _list_own_heads(index, format_layer_prefix(model, index), layer.attention, arrays)
    if "head" in arrays:
        weights.append(Weight(None, "W_U", View("head", gain=_find_gain("final_norm", arrays)), "in"))
    kept = tuple(weight for weight in weights if arrays[weight.view.tensor].any())
    sizes = (first.heads, first.groups, first.head_size) if first else (0, 0, 0)
    notes = tuple(dict.fromkeys(_list_own_notes(model, arrays)))
    return ModelLayout("glassformer", len(model.layers), *sizes, model.width, kept, tuple(attention), notes)


def _find_gain(name: str, arrays: Mapping[str, Array]) -> Vector | None:
    return Vector(name) if name in arrays else None


def _list_own_weights(layer: int, name: str, arrays: Mapping[str, Array]) -> list[Weight]:
    """The matrices of a layer; those that read the stream come after a norm."""
    found = []
    for role, kind in _READERS.items():
        if name + role in arrays:
            before = _find_gain(f"{name}{role.split('.')[0]}_norm", arrays)
            found.append(Weight(layer, kind, View(name + role, gain=before), "in"))
    return found + [
        Weight(layer, kind, View(name + role), "out")
        for role, kind in _WRITERS.items()
        if name + role in arrays
    ]


def _list_own_heads(
    layer: int, name: str, attention: Attention, arrays: Mapping[str, Array]
) -> list[HeadLayout]:
    size, values, before = attention.head_size, attention.values, _find_gain(f"{name}attn_norm", arrays)
    out = f"{name}attn.out" if attention.out else f"{name}attn.joined"
    k_norm = "k_norm" if attention.k_norm else "qk_norm"

    def rows(key: str, index: int, count: int) -> Map:
        return ((View(f"{name}attn.{key}", ((index * count, (index + 1) * count),), gain=before),),)

    def bias(key: str, index: int) -> Vector | None:
        stored = _find_gain(f"{name}attn.{key}.bias", arrays)
        return stored and Vector(stored.tensor, ((index * size, (index + 1) * size),))

    return [
        HeadLayout(
            layer,
            head,
            kv_index=(group := attention.group(head)),
            query=rows("q", head, size),
            key=rows("k", group, size),
            value=rows("v", group, values),
            output=View(out, columns=(head * values, (head + 1) * values)),
            query_bias=bias("q", head),
            key_bias=bias("k", group),
            query_norm=_find_gain(f"{name}attn.qk_norm", arrays),
            key_norm=_find_gain(f"{name}attn.{k_norm}", arrays),
            rope=_find_own_rope(attention),
        )
        for head in range(attention.heads)
    ]


def _find_own_rope(attention: Attention) -> RopeLayout | None:
    rates = attention.relation.rates(attention.head_size)
    return RopeLayout(rates, "adjacent") if rates else None


def _list_own_notes(model: Architecture, arrays: Mapping[str, Array]) -> list[str]:
    """What is no matrix, in sentences."""
    notes = []
    for layer in (layer.attention for layer in model.layers if layer.attention):
        if layer.out is None:
            notes.append("there is no W_O: the heads' outputs stand side by side in the stream")
        if layer.relation.kernel_note:
            notes.append(f"{layer.relation.kernel_note}, which is not part of the QK kernels")
    if isinstance(model.head, TiedHead):
        notes.append("the unembedding is made of the token table W_E")
    if isinstance(model.head, ParabolicHead):
        notes.append("the head is a parabola in one dimension of the stream, which is not a matrix")
    if isinstance(model.head, LowestHead):
        notes.append("the head reads one dimension per token and stores no matrix")
    nothing = [name for name, array in arrays.items() if array.ndim == 2 and not array.any()]
    return notes + [f"{name} is 0 everywhere and has no spectrum" for name in nothing]
