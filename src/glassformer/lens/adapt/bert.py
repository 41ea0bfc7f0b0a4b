"""BERT, RoBERTa and DistilBERT: encoders whose norms stand after each part, on the stream itself.

What reads the stream has the gain of the norm before it: layer 3's queries that of layer 2's last norm, and
layer 0's that of the embeddings.
"""

from dataclasses import dataclass, replace

from glassformer.lens.adapt.build import (
    LayerAttention,
    list_attention_weights,
    list_mlp_weights,
    make_embedding_weight,
)
from glassformer.lens.adapt.config import CheckpointConfig, read_model_config
from glassformer.lens.adapt.fused import ModelSizes
from glassformer.lens.adapt.names import TensorNames, require_all_layers
from glassformer.lens.layout import ModelLayout, Vector, View, Weight
from glassformer.lens.read.checkpoint import Checkpoint


@dataclass(frozen=True)
class _EncoderNames:
    """Names without .weight and .bias; # is the layer."""

    tokens: str
    positions: str
    embedding_norm: str
    query: str
    key: str
    value: str
    output: str
    attention_norm: str  # after attention
    up: str
    down: str
    mlp_norm: str  # after the MLP
    types: str = ""  # segment embeddings
    readers: tuple[tuple[str, str], ...] = ()  # what reads the last layer: type and name, where it is stored
    unembedding: tuple[tuple[str, str], ...] = ()  # name, and that of the norm before it


_BERT = _EncoderNames(
    tokens="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    types="embeddings.token_type_embeddings",
    embedding_norm="embeddings.LayerNorm",
    query="encoder.layer.#.attention.self.query",
    key="encoder.layer.#.attention.self.key",
    value="encoder.layer.#.attention.self.value",
    output="encoder.layer.#.attention.output.dense",
    attention_norm="encoder.layer.#.attention.output.LayerNorm",
    up="encoder.layer.#.intermediate.dense",
    down="encoder.layer.#.output.dense",
    mlp_norm="encoder.layer.#.output.LayerNorm",
    readers=(
        ("W_pooler", "pooler.dense"),
        ("W_transform", "cls.predictions.transform.dense"),
        ("W_transform", "lm_head.dense"),
    ),
    unembedding=(
        ("cls.predictions.decoder", "cls.predictions.transform.LayerNorm"),
        ("lm_head.decoder", "lm_head.layer_norm"),
    ),
)
_DISTILBERT = _EncoderNames(
    tokens="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    embedding_norm="embeddings.LayerNorm",
    query="transformer.layer.#.attention.q_lin",
    key="transformer.layer.#.attention.k_lin",
    value="transformer.layer.#.attention.v_lin",
    output="transformer.layer.#.attention.out_lin",
    attention_norm="transformer.layer.#.sa_layer_norm",
    up="transformer.layer.#.ffn.lin1",
    down="transformer.layer.#.ffn.lin2",
    mlp_norm="transformer.layer.#.output_layer_norm",
    readers=(("W_transform", "vocab_transform"),),
    unembedding=(("vocab_projector", "vocab_layer_norm"),),
)
_GGUF = _EncoderNames(
    tokens="token_embd",
    positions="position_embd",
    types="token_types",
    embedding_norm="token_embd_norm",
    query="blk.#.attn_q",
    key="blk.#.attn_k",
    value="blk.#.attn_v",
    output="blk.#.attn_output",
    attention_norm="blk.#.attn_output_norm",
    up="blk.#.ffn_up",
    down="blk.#.ffn_down",
    mlp_norm="blk.#.layer_output_norm",
    readers=(("W_pooler", "cls"),),
)


def read_bert(checkpoint: Checkpoint) -> ModelLayout:
    """The layout of an encoder."""
    config, table = read_model_config(checkpoint), _choose_encoder_names(checkpoint)
    sizes, names = (
        _read_encoder_sizes(config),
        TensorNames.find(checkpoint, f"{table.query.replace('#', '0')}.weight"),
    )
    require_all_layers(names, f"{table.query}.weight", sizes.layers)
    here = _EncoderReader(names, table, sizes)
    attention = [here.attention(layer) for layer in range(sizes.layers)]
    weights = [weight for one in attention for weight in (*list_attention_weights(one), *here.mlp(one.layer))]
    name = "distilbert" if table is _DISTILBERT else "bert"
    return sizes.layout(name, (*here.embeddings(), *weights, *here.ends()), attention)


def _choose_encoder_names(checkpoint: Checkpoint) -> _EncoderNames:
    if checkpoint.kind == "gguf":
        return _GGUF
    is_distilled = any("attention.q_lin." in name for name in checkpoint.tensors)
    return _DISTILBERT if is_distilled else _BERT


def _read_encoder_sizes(config: CheckpointConfig) -> ModelSizes:
    """Sizes by BERT's, DistilBERT's or GGUF's names."""
    heads = config.count("num_attention_heads", "n_heads", "attention.head_count")
    width = config.count("hidden_size", "dim", "embedding_length")
    layers = config.count("num_hidden_layers", "n_layers", "block_count")
    return ModelSizes(layers, heads, heads, max(width // heads, 1), width)


@dataclass(frozen=True)
class _EncoderReader:
    """The matrices of an encoder, layer by layer."""

    names: TensorNames
    table: _EncoderNames
    sizes: ModelSizes

    def attention(self, layer: int) -> LayerAttention:
        table, sizes, inner = self.table, self.sizes, self.sizes.heads * self.sizes.head_dim
        before, here = self.stream_gain(layer), self.names.at(layer)
        query, key, value = (
            replace(self.matrix(name, inner, sizes.width, layer), gain=before)
            for name in (table.query, table.key, table.value)
        )
        return LayerAttention(
            layer,
            sizes.heads,
            sizes.heads,
            sizes.head_dim,
            query,
            key,
            value,
            output=self.matrix(table.output, sizes.width, inner, layer),
            query_bias=here.bias(f"{table.query}.bias", inner),
            key_bias=here.bias(f"{table.key}.bias", inner),
        )

    def mlp(self, layer: int) -> tuple[Weight, ...]:
        hidden, width = self.names.at(layer).rows(f"{self.table.up}.weight"), self.sizes.width
        up = self.matrix(self.table.up, hidden, width, layer)
        before = self.gain(self.table.attention_norm, layer)
        return list_mlp_weights(
            layer, replace(up, gain=before), self.matrix(self.table.down, width, hidden, layer)
        )

    def stream_gain(self, layer: int) -> Vector:
        """Of the norm that the stream has passed before a layer."""
        return self.gain(self.table.mlp_norm, layer - 1) if layer else self.gain(self.table.embedding_norm)

    def gain(self, name: str, layer: int = 0) -> Vector:
        """The first BERT files call it gamma."""
        here = self.names.at(layer)
        return here.gain(f"{name}.gamma" if here.has(f"{name}.gamma") else f"{name}.weight", self.sizes.width)

    def matrix(self, name: str, out: int, dims: int, layer: int = 0) -> View:
        return self.names.at(layer).matrix(f"{name}.weight", (out, dims), self.sizes.because)

    def embeddings(self) -> tuple[Weight, ...]:
        """Tokens, positions and segments: three tables that are added."""
        named = (("W_E", self.table.tokens), ("W_pos", self.table.positions), ("W_type", self.table.types))
        return tuple(
            replace(make_embedding_weight(self.rows(name)), type=kind)
            for kind, name in named
            if name and self.names.has(f"{name}.weight")
        )

    def ends(self) -> tuple[Weight, ...]:
        """What reads the last layer, and the unembedding behind it."""
        before, found = self.stream_gain(self.sizes.layers), []
        for kind, name in self.table.readers:
            if self.names.has(f"{name}.weight"):
                found.append(Weight(None, kind, replace(self.rows(name), gain=before), "in"))
        for name, norm in self.table.unembedding:
            if self.names.has(f"{name}.weight"):
                found.append(Weight(None, "W_U", replace(self.rows(name), gain=self.gain(norm)), "none"))
        return tuple(found)

    def rows(self, name: str) -> View:
        """A matrix with as many rows as it likes."""
        return self.matrix(name, self.names.rows(f"{name}.weight"), self.sizes.width)
