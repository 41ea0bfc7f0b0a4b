"""Llama and all that are built like it: Mistral, Qwen, Gemma, Phi-3, OLMo, Mixtral, from HF or GGUF files.

Each layer is read by the names of its family (families.py): attention with or without shared keys, fused or
not, then an MLP with a gate, or experts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from glassformer.lens.adapt.build import (
    LayerAttention,
    cut_heads,
    cut_vector,
    cut_view,
    list_attention_weights,
    make_embedding_weight,
    require_even_groups,
)
from glassformer.lens.adapt.config import (
    CheckpointConfig,
    list_architecture_names,
    normalize_architecture,
    read_model_config,
)
from glassformer.lens.adapt.experts import list_feedforward_weights
from glassformer.lens.adapt.families import GGUF, HF, DecoderFamily
from glassformer.lens.adapt.names import TensorNames, require_all_layers
from glassformer.lens.adapt.rope_config import list_layer_types, read_ropes
from glassformer.lens.layout import ModelLayout, Vector, View, Weight
from glassformer.lens.read.checkpoint import Checkpoint


@dataclass(frozen=True)
class _DecoderSizes:
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
class _BiasedProjection:
    """A matrix and its bias."""

    view: View
    bias: Vector | None

    def part(self, start: int, stop: int) -> "_BiasedProjection":
        return _BiasedProjection(
            cut_view(self.view, start, stop), self.bias and cut_vector(self.bias, start, stop)
        )


def read_decoder(checkpoint: Checkpoint) -> ModelLayout:
    """The layout of a decoder of one of the families."""
    architecture, family = _find_decoder_family(checkpoint)
    config = _fill_config_defaults(read_model_config(checkpoint), family)
    names = TensorNames.find(checkpoint, family.embedding)
    layers = config.count("num_hidden_layers", "block_count")
    require_all_layers(names, family.output, layers)
    sizes = _read_decoder_sizes(config, layers)
    stored = [_read_layer_attention(names, family, sizes, layer) for layer in range(layers)]
    types = list_layer_types(config, layers)
    ropes, notes = read_ropes(config, checkpoint, types, sizes.head_dim, family.pairs)
    attention = [replace(one, rope=rope) for one, rope in zip(stored, ropes, strict=True)]
    return ModelLayout(
        architecture,
        layers,
        max(sizes.heads),
        max(sizes.kv_heads),
        sizes.head_dim,
        sizes.width,
        weights=_list_decoder_weights(names, family, config, sizes.width, attention),
        attention=tuple(head for one in attention for head in cut_heads(one)),
        notes=notes,
    )


def _find_decoder_family(checkpoint: Checkpoint) -> tuple[str, DecoderFamily]:
    table = GGUF if checkpoint.kind == "gguf" else HF
    name = next(name for name in list_architecture_names(checkpoint) if normalize_architecture(name) in table)
    return name, table[normalize_architecture(name)]


def _fill_config_defaults(config: CheckpointConfig, family: DecoderFamily) -> CheckpointConfig:
    return CheckpointConfig({**family.defaults, **config.values}, config.source)


def _read_decoder_sizes(config: CheckpointConfig, layers: int) -> _DecoderSizes:
    """Sizes from config.json or from GGUF metadata; a head's is the width's share where it is not said."""
    width = config.count("hidden_size", "embedding_length")
    heads = config.counts(layers, "num_attention_heads", "attention.head_count")
    kv_heads = config.counts(layers, "num_key_value_heads", "attention.head_count_kv", default=heads[0])
    for layer in range(layers):
        require_even_groups(config.source, heads[layer], kv_heads[layer])
    share = max(width // max(heads), 1)
    head_dim = config.count("head_dim", "attention.key_length", default=share)
    return _DecoderSizes(layers, width, heads, kv_heads, head_dim)


def _list_decoder_weights(
    names: TensorNames,
    family: DecoderFamily,
    config: CheckpointConfig,
    width: int,
    attention: Sequence[LayerAttention],
) -> tuple[Weight, ...]:
    """Embedding, layers, unembedding, in the order in which a token meets them."""
    because = f"width {width}"
    weights = [read_embedding(names, family, width, because)]
    for one in attention:
        weights += list_attention_weights(one)
        weights += list_feedforward_weights(names, family, config, one.layer, width)
    return (*weights, *list_unembedding_weights(names, family, width, because))


def read_embedding(names: TensorNames, family: DecoderFamily, width: int, because: str) -> Weight:
    shape = names.rows(family.embedding), width
    return make_embedding_weight(names.matrix(family.embedding, shape, because))


def list_unembedding_weights(
    names: TensorNames, family: DecoderFamily, width: int, because: str
) -> tuple[Weight, ...]:
    """None where it is the embedding."""
    if not names.has(family.unembedding):
        return ()
    view = names.matrix(family.unembedding, (names.rows(family.unembedding), width), because)
    gain = names.optional_gain(family.final_norm, width, family.gain_offset)
    return (Weight(None, "W_U", replace(view, gain=gain), "in"),)


def _read_layer_attention(
    names: TensorNames, family: DecoderFamily, sizes: _DecoderSizes, layer: int
) -> LayerAttention:
    """Attention of one layer; a stored bias belongs to it whether or not the family has one."""
    here, width, offset = names.at(layer), sizes.width, family.gain_offset
    heads, kv_heads, dims = sizes.heads[layer], sizes.kv_heads[layer], sizes.head_dim
    before = here.optional_gain(family.attention_norm, width, offset)
    query, key, value = _read_projections(here, family, sizes, layer)
    output = here.matrix(family.output, (width, heads * dims), sizes.because(layer))
    normed_heads, normed_kv_heads = (1, 1) if family.is_norm_shared else (heads, kv_heads)
    return LayerAttention(
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


def _read_projections(
    here: TensorNames, family: DecoderFamily, sizes: _DecoderSizes, layer: int
) -> list[_BiasedProjection]:
    """Queries, keys and values, stored apart or in one tensor."""
    because = sizes.because(layer)
    rows = [count[layer] * sizes.head_dim for count in (sizes.heads, sizes.kv_heads, sizes.kv_heads)]
    if family.query_key_value and here.has(family.query_key_value):
        whole = _read_projection(here, family.query_key_value, sum(rows), sizes.width, because)
        starts = [sum(rows[:index]) for index in range(3)]
        return [whole.part(start, start + size) for start, size in zip(starts, rows, strict=True)]
    stored = zip((family.query, family.key, family.value), rows, strict=True)
    return [_read_projection(here, name, size, sizes.width, because) for name, size in stored]


def _read_projection(here: TensorNames, name: str, rows: int, width: int, because: str) -> _BiasedProjection:
    view = here.matrix(name, (rows, width), because)
    return _BiasedProjection(view, here.bias(name.removesuffix("weight") + "bias", rows, because))
