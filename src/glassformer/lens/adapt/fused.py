"""Decoders that store queries, keys and values as one matrix: GPT-2, GPT-NeoX, BLOOM and Falcon.

Its rows are either three blocks, or groups of heads that share a key and a value: q, q, k, v, q, q, k, v.

>>> split_blocks(heads=2, kv_heads=1, dims=4)
(((0, 8),), ((8, 12),), ((12, 16),))
>>> split_groups(heads=4, kv_heads=2, dims=1)
(((0, 2), (4, 6)), ((2, 3), (6, 7)), ((3, 4), (7, 8)))
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from glassformer.lens.adapt.build import (
    LayerAttention,
    cut_heads,
    list_attention_weights,
    list_mlp_weights,
    make_embedding_weight,
    require_even_groups,
)
from glassformer.lens.adapt.config import CheckpointConfig, read_model_config
from glassformer.lens.adapt.names import TensorNames, require_all_layers
from glassformer.lens.adapt.rope_config import Ropes, read_ropes
from glassformer.lens.layout import ModelLayout, RopeLayout, Spans, Vector, View, Weight
from glassformer.lens.read.checkpoint import Checkpoint

_Split = tuple[Spans, Spans, Spans]  # rows of the queries, keys and values, heads in order
_Splitting = Callable[[int, int, int], _Split]  # of heads, key heads and a head's dimensions
NO_TURNS = "ALiBi lowers scores by distance, which is not part of the QK kernels"


@dataclass(frozen=True)
class FusedNames:
    """Names without .weight and .bias; # is the layer; of several the first that is stored."""

    embedding: str
    final_norm: str
    unembedding: str
    qkv: str
    output: str
    up: str
    down: str
    attention_norm: tuple[str, ...]
    mlp_norm: tuple[str, ...]
    positions: str = ""
    embedding_norm: str = ""  # on what the embedding writes


_GGUF_NAMES = FusedNames(
    embedding="token_embd",
    final_norm="output_norm",
    unembedding="output",
    qkv="blk.#.attn_qkv",
    output="blk.#.attn_output",
    up="blk.#.ffn_up",
    down="blk.#.ffn_down",
    attention_norm=(
        "blk.#.attn_norm_2",
        "blk.#.attn_norm",
    ),  # Falcon 40B has two, and the MLP reads the first
    mlp_norm=("blk.#.ffn_norm", "blk.#.attn_norm"),
    positions="position_embd",
    embedding_norm="token_embd_norm",
)


@dataclass(frozen=True)
class ModelSizes:
    """What the configuration says."""

    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    width: int

    @property
    def because(self) -> str:
        shared = f"{self.heads} heads and {self.kv_heads} key heads of {self.head_dim}"
        return f"{shared}, width {self.width}"

    def layout(
        self,
        architecture: str,
        weights: Iterable[Weight],
        attention: Iterable[LayerAttention],
        notes: tuple[str, ...] = (),
    ) -> ModelLayout:
        """The layout of a model of these sizes, its heads cut from each layer's attention."""
        return ModelLayout(
            architecture,
            self.layers,
            self.heads,
            self.kv_heads,
            self.head_dim,
            self.width,
            weights=tuple(weights),
            attention=tuple(head for one in attention for head in cut_heads(one)),
            notes=notes,
        )


def read_fused(
    checkpoint: Checkpoint,
    architecture: str,
    table: FusedNames,
    sizes: ModelSizes,
    split: _Splitting,
    ropes: Ropes,
    is_transposed: bool = False,
) -> ModelLayout:
    """The layout of a decoder with fused projections."""
    names = TensorNames.find(checkpoint, table.qkv.replace("#", "0") + ".weight")
    require_all_layers(names, table.qkv + ".weight", sizes.layers)
    here = _FusedReader(names, table, sizes, split, is_transposed)
    attention = [here.attention(layer, ropes[0][layer]) for layer in range(sizes.layers)]
    weights = list(here.embeddings())
    for one in attention:
        weights += [*list_attention_weights(one), *here.mlp(one.layer)]
    return sizes.layout(architecture, (*weights, *here.unembedding()), attention, ropes[1])


def split_blocks(heads: int, kv_heads: int, dims: int) -> _Split:
    """All queries, then all keys, then all values."""
    first, second = heads * dims, (heads + kv_heads) * dims
    return ((0, first),), ((first, second),), ((second, second + kv_heads * dims),)


def split_groups(heads: int, kv_heads: int, dims: int) -> _Split:
    """The queries of the heads that share a key, then that key and its value; and so on."""
    asking = heads // kv_heads * dims
    starts = [group * (asking + 2 * dims) for group in range(kv_heads)]
    return (
        tuple((start, start + asking) for start in starts),
        tuple((start + asking, start + asking + dims) for start in starts),
        tuple((start + asking + dims, start + asking + 2 * dims) for start in starts),
    )


def read_model_sizes(config: CheckpointConfig, kv_heads: int | None = None) -> ModelSizes:
    """Sizes by any of the names in use; all heads have keys of their own where nothing else is said."""
    heads = config.count("n_head", "num_attention_heads", "attention.head_count")
    width = config.count("hidden_size", "n_embd", "n_embed", "embedding_length")
    shared = kv_heads or heads
    require_even_groups(config.source, heads, shared)
    layers = config.count("n_layer", "num_hidden_layers", "block_count")
    return ModelSizes(layers, heads, shared, max(width // heads, 1), width)


def read_halves_ropes(checkpoint: Checkpoint, config: CheckpointConfig, sizes: ModelSizes) -> Ropes:
    """RoPE on halves, which neither transformers nor llama.cpp reorder in these families."""
    types = ["full_attention"] * sizes.layers
    return read_ropes(config, checkpoint, types, sizes.head_dim, "halves")


def omit_ropes(sizes: ModelSizes, *notes: str) -> Ropes:
    return (None,) * sizes.layers, notes


def read_fused_config(checkpoint: Checkpoint, names: FusedNames) -> tuple[CheckpointConfig, FusedNames, bool]:
    """The configuration, the names as this file has them, and whether it is a GGUF file."""
    is_gguf = checkpoint.kind == "gguf"
    return read_model_config(checkpoint), _GGUF_NAMES if is_gguf else names, is_gguf


@dataclass(frozen=True)
class _FusedReader:
    """The matrices of such a decoder, layer by layer."""

    names: TensorNames
    table: FusedNames
    sizes: ModelSizes
    split: _Splitting
    is_transposed: bool

    def matrix(self, pattern: str, layer: int, out: int, dims: int) -> View:
        stored = (dims, out) if self.is_transposed else (out, dims)
        here = self.names.at(layer)
        return here.matrix(f"{pattern}.weight", stored, self.sizes.because, self.is_transposed)

    def gain(self, patterns: tuple[str, ...], layer: int) -> Vector:
        here = self.names.at(layer)
        name = next((one for one in patterns if here.has(f"{one}.weight")), patterns[-1])
        return here.gain(f"{name}.weight", self.sizes.width)

    def attention(self, layer: int, rope: RopeLayout | None) -> LayerAttention:
        sizes = self.sizes
        rows = (sizes.heads + 2 * sizes.kv_heads) * sizes.head_dim
        before, whole = (
            self.gain(self.table.attention_norm, layer),
            self.matrix(self.table.qkv, layer, rows, sizes.width),
        )
        bias = self.names.at(layer).bias(f"{self.table.qkv}.bias", rows, sizes.because)
        rows_of = self.split(sizes.heads, sizes.kv_heads, sizes.head_dim)
        query, key, value = (replace(whole, spans=spans, gain=before) for spans in rows_of)
        return LayerAttention(
            layer,
            sizes.heads,
            sizes.kv_heads,
            sizes.head_dim,
            query,
            key,
            value,
            output=self.matrix(self.table.output, layer, sizes.width, sizes.heads * sizes.head_dim),
            query_bias=bias and replace(bias, spans=rows_of[0]),
            key_bias=bias and replace(bias, spans=rows_of[1]),
            rope=rope,
        )

    def mlp(self, layer: int) -> tuple[Weight, ...]:
        here, name, width = self.names.at(layer), f"{self.table.up}.weight", self.sizes.width
        hidden = here.columns(name) if self.is_transposed else here.rows(name)
        up = self.matrix(self.table.up, layer, hidden, width)
        before = self.gain(self.table.mlp_norm, layer)
        return list_mlp_weights(
            layer, replace(up, gain=before), self.matrix(self.table.down, layer, width, hidden)
        )

    def embeddings(self) -> tuple[Weight, ...]:
        """The tokens' and, where they are learned, the positions'."""
        tokens = make_embedding_weight(self.rows(self.table.embedding))
        norm = self.table.embedding_norm and f"{self.table.embedding_norm}.weight"
        if norm and self.names.has(norm):
            after = self.names.gain(norm, self.sizes.width)
            tokens = replace(tokens, view=replace(tokens.view, gain_after=after))
        if not self.table.positions or not self.names.has(f"{self.table.positions}.weight"):
            return (tokens,)
        return tokens, replace(make_embedding_weight(self.rows(self.table.positions)), type="W_pos")

    def unembedding(self) -> tuple[Weight, ...]:
        """None where it is the embedding."""
        if not self.names.has(f"{self.table.unembedding}.weight"):
            return ()
        before = self.gain((self.table.final_norm,), 0)
        return (Weight(None, "W_U", replace(self.rows(self.table.unembedding), gain=before), "in"),)

    def rows(self, name: str) -> View:
        """A table with one row per token or position."""
        count = self.names.rows(f"{name}.weight")
        return self.names.matrix(f"{name}.weight", (count, self.sizes.width), self.sizes.because)
