"""Which role each effective matrix of one of our models has, and which of their rows are a head's."""

from collections.abc import Mapping
from dataclasses import replace

from glassformer.model.architecture import Architecture
from glassformer.model.attention import Attention
from glassformer.model.forward import prefix
from glassformer.model.head import LowestHead, ParabolicHead, TiedHead
from glassformer.model.position import Alibi
from glassformer.model.position import Rope as OwnRope
from glassformer.spectra.adapt.build import embedding_weight
from glassformer.spectra.adapt.own_arrays import Array
from glassformer.spectra.layout import Head, Layout, Map, Rope, Vector, View, Weight

READERS = {"attn.q": "W_Q", "attn.k": "W_K", "attn.v": "W_V", "ff.gate": "W_gate", "ff.up": "W_up"}
WRITERS = {"attn.out": "W_O", "ff.down": "W_down"}


def own_layout(model: Architecture, arrays: Mapping[str, Array]) -> Layout:
    """Roles and heads of the effective matrices."""
    first = next((layer.attention for layer in model.layers if layer.attention), None)
    weights = [embedding_weight(View("token"))]
    if "position" in arrays:
        weights.append(replace(embedding_weight(View("position")), type="W_pos"))
    attention: list[Head] = []
    for index, layer in enumerate(model.layers):
        weights += layer_weights(index, prefix(model, index), arrays)
        if layer.attention:
            attention += layer_heads(index, prefix(model, index), layer.attention, arrays)
    if "head" in arrays:
        weights.append(Weight(None, "W_U", View("head", gain=gain("final_norm", arrays)), "in"))
    kept = tuple(weight for weight in weights if arrays[weight.view.tensor].any())
    sizes = (first.heads, first.groups, first.head_size) if first else (0, 0, 0)
    notes = tuple(dict.fromkeys(own_notes(model, arrays)))
    return Layout("glassformer", len(model.layers), *sizes, model.width, kept, tuple(attention), notes)


def gain(name: str, arrays: Mapping[str, Array]) -> Vector | None:
    return Vector(name) if name in arrays else None


def layer_weights(layer: int, name: str, arrays: Mapping[str, Array]) -> list[Weight]:
    """The matrices of a layer; those that read the stream come after a norm."""
    found = []
    for role, kind in READERS.items():
        if name + role in arrays:
            before = gain(f"{name}{role.split('.')[0]}_norm", arrays)
            found.append(Weight(layer, kind, View(name + role, gain=before), "in"))
    return found + [
        Weight(layer, kind, View(name + role), "out")
        for role, kind in WRITERS.items()
        if name + role in arrays
    ]


def layer_heads(layer: int, name: str, attention: Attention, arrays: Mapping[str, Array]) -> list[Head]:
    size, values, before = attention.head_size, attention.values, gain(f"{name}attn_norm", arrays)
    out = f"{name}attn.out" if attention.out else f"{name}attn.joined"
    k_norm = "k_norm" if attention.k_norm else "qk_norm"

    def rows(key: str, index: int, count: int) -> Map:
        return ((View(f"{name}attn.{key}", ((index * count, (index + 1) * count),), gain=before),),)

    def bias(key: str, index: int) -> Vector | None:
        stored = gain(f"{name}attn.{key}.bias", arrays)
        return stored and Vector(stored.tensor, ((index * size, (index + 1) * size),))

    return [
        Head(
            layer,
            head,
            kv_index=(group := attention.group(head)),
            query=rows("q", head, size),
            key=rows("k", group, size),
            value=rows("v", group, values),
            output=View(out, columns=(head * values, (head + 1) * values)),
            query_bias=bias("q", head),
            key_bias=bias("k", group),
            query_norm=gain(f"{name}attn.qk_norm", arrays),
            key_norm=gain(f"{name}attn.{k_norm}", arrays),
            rope=turns(attention),
        )
        for head in range(attention.heads)
    ]


def turns(attention: Attention) -> Rope | None:
    rates = attention.relation.rates(attention.head_size) if isinstance(attention.relation, OwnRope) else ()
    return Rope(tuple(rates), "adjacent") if rates else None


def own_notes(model: Architecture, arrays: Mapping[str, Array]) -> list[str]:
    """What is no matrix, in sentences."""
    notes = []
    for layer in (layer.attention for layer in model.layers if layer.attention):
        if layer.out is None:
            notes.append("there is no W_O: the heads' outputs stand side by side in the stream")
        if isinstance(layer.relation, Alibi):
            notes.append("ALiBi lowers scores by distance, which is not part of the QK kernels")
    if isinstance(model.head, TiedHead):
        notes.append("the unembedding is made of the token table W_E")
    if isinstance(model.head, ParabolicHead):
        notes.append("the head is a parabola in one dimension of the stream, which is not a matrix")
    if isinstance(model.head, LowestHead):
        notes.append("the head reads one dimension a token and stores no matrix")
    nothing = [name for name, array in arrays.items() if array.ndim == 2 and not array.any()]
    return notes + [f"{name} is 0 everywhere and has no spectrum" for name in nothing]
