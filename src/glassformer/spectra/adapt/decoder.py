"""Llama and all that are built like it: Mistral, Qwen, Gemma, Phi-3, OLMo, Mixtral, from HF or GGUF files.

Each layer is read by the names of its family (families.py): attention with or without shared keys, fused or
not, then an MLP with a gate, or experts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from glassformer.spectra.adapt.build import (
    Attention,
    attention_weights,
    cut_vector,
    cut_view,
    embedding_weight,
    group_check,
    heads_of,
)
from glassformer.spectra.adapt.config import Config, architecture_names, plain, read_config
from glassformer.spectra.adapt.experts import feed_forward_weights
from glassformer.spectra.adapt.families import GGUF, HF, Family
from glassformer.spectra.adapt.names import Names, layer_check
from glassformer.spectra.adapt.rope_config import Ropes, gguf_ropes, layer_ropes, layer_types
from glassformer.spectra.layout import Layout, Vector, View, Weight
from glassformer.spectra.read.checkpoint import Checkpoint


@dataclass(frozen=True)
class Sizes:
    """What the configuration says; heads can differ from layer to layer."""

    layers: int
    width: int
    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    head_dim: int

    def because(self, layer: int) -> str:
        """Why a projection has its shape, for errors."""
        shared = f"{self.heads[layer]} heads and {self.kv_heads[layer]} key heads of {self.head_dim}"
        return f"{shared}, width {self.width}"


@dataclass(frozen=True)
class Projection:
    """A matrix and its bias."""

    view: View
    bias: Vector | None

    def part(self, start: int, stop: int) -> "Projection":
        return Projection(cut_view(self.view, start, stop), self.bias and cut_vector(self.bias, start, stop))


def read_decoder(checkpoint: Checkpoint) -> Layout:
    """The layout of a decoder of one of the families."""
    architecture, family = family_of(checkpoint)
    config = with_defaults(read_config(checkpoint), family)
    names = Names.find(checkpoint, family.embedding)
    layers = config.count("num_hidden_layers", "block_count")
    layer_check(names, family.output, layers)
    sizes = read_sizes(config, layers)
    stored = [layer_attention(names, family, sizes, layer) for layer in range(layers)]
    ropes, notes = read_ropes(checkpoint, config, family, sizes)
    attention = [replace(one, rope=rope) for one, rope in zip(stored, ropes, strict=True)]
    return Layout(
        architecture,
        layers,
        max(sizes.heads),
        max(sizes.kv_heads),
        sizes.head_dim,
        sizes.width,
        weights=all_weights(names, family, config, sizes.width, attention),
        attention=tuple(head for one in attention for head in heads_of(one)),
        notes=notes,
    )


def family_of(checkpoint: Checkpoint) -> tuple[str, Family]:
    table = GGUF if checkpoint.kind == "gguf" else HF
    name = next(name for name in architecture_names(checkpoint) if plain(name) in table)
    return name, table[plain(name)]


def with_defaults(config: Config, family: Family) -> Config:
    return Config({**family.defaults, **config.values}, config.source)


def read_sizes(config: Config, layers: int) -> Sizes:
    """Sizes from config.json or from GGUF metadata; a head's is the width's share where it is not said."""
    width = config.count("hidden_size", "embedding_length")
    heads = config.counts(layers, "num_attention_heads", "attention.head_count")
    kv_heads = config.counts(layers, "num_key_value_heads", "attention.head_count_kv", default=heads[0])
    for layer in range(layers):
        group_check(config.source, heads[layer], kv_heads[layer])
    share = max(width // max(heads), 1)
    head_dim = config.count("head_dim", "attention.key_length", default=share)
    return Sizes(layers, width, heads, kv_heads, head_dim)


def read_ropes(checkpoint: Checkpoint, config: Config, family: Family, sizes: Sizes) -> Ropes:
    types = layer_types(config, sizes.layers)
    if checkpoint.kind == "gguf":
        return gguf_ropes(config, checkpoint, types, sizes.head_dim, family.pairs)
    return layer_ropes(config, types, sizes.head_dim, family.pairs)


def all_weights(
    names: Names, family: Family, config: Config, width: int, attention: Sequence[Attention]
) -> tuple[Weight, ...]:
    """Embedding, layers, unembedding, in the order in which a token meets them."""
    because = f"width {width}"
    embedding = names.matrix(family.embedding, (names.rows(family.embedding), width), because)
    weights = [embedding_weight(embedding)]
    for one in attention:
        weights += attention_weights(one)
        weights += feed_forward_weights(names, family, config, one.layer, width)
    if names.has(family.unembedding):
        view = names.matrix(family.unembedding, (names.rows(family.unembedding), width), because)
        gain = names.optional_gain(family.final_norm, width, family.gain_offset)
        weights.append(Weight(None, "W_U", replace(view, gain=gain), "in"))
    return tuple(weights)


def layer_attention(names: Names, family: Family, sizes: Sizes, layer: int) -> Attention:
    """Attention of one layer; a stored bias belongs to it whether or not the family has one."""
    here, width, offset = names.at(layer), sizes.width, family.gain_offset
    heads, kv_heads, dims = sizes.heads[layer], sizes.kv_heads[layer], sizes.head_dim
    before = here.optional_gain(family.attention_norm, width, offset)
    query, key, value = projections(here, family, sizes, layer)
    output = here.matrix(family.output, (width, heads * dims), sizes.because(layer))
    normed_heads, normed_kv_heads = (1, 1) if family.is_norm_shared else (heads, kv_heads)
    return Attention(
        layer,
        heads,
        kv_heads,
        dims,
        query=replace(query.view, gain=before),
        key=replace(key.view, gain=before),
        value=replace(value.view, gain=before),
        output=replace(output, gain_after=here.optional_gain(family.attention_after, width, offset)),
        query_bias=query.bias,
        key_bias=key.bias,
        query_norm=here.optional_gain(family.query_norm, normed_heads * dims, offset),
        key_norm=here.optional_gain(family.key_norm, normed_kv_heads * dims, offset),
        is_norm_shared=family.is_norm_shared,
    )


def projections(here: Names, family: Family, sizes: Sizes, layer: int) -> list[Projection]:
    """Queries, keys and values, stored apart or in one tensor."""
    because = sizes.because(layer)
    rows = [count[layer] * sizes.head_dim for count in (sizes.heads, sizes.kv_heads, sizes.kv_heads)]
    if family.query_key_value and here.has(family.query_key_value):
        whole = projection(here, family.query_key_value, sum(rows), sizes.width, because)
        starts = [sum(rows[:index]) for index in range(3)]
        return [whole.part(start, start + size) for start, size in zip(starts, rows, strict=True)]
    stored = zip((family.query, family.key, family.value), rows, strict=True)
    return [projection(here, name, size, sizes.width, because) for name, size in stored]


def projection(here: Names, name: str, rows: int, width: int, because: str) -> Projection:
    view = here.matrix(name, (rows, width), because)
    return Projection(view, here.bias(name.removesuffix("weight") + "bias", rows, because))
