"""BLOOM: head by head its query, key and value rows, ALiBi, and a norm on the embedding.

llama.cpp's converter sorts the rows into all queries, all keys, all values.
"""

from glassformer.spectra.adapt.fused import (
    NO_TURNS,
    FusedNames,
    in_blocks,
    in_groups,
    not_turned,
    opened,
    read_fused,
    read_sizes,
)
from glassformer.spectra.layout import Layout
from glassformer.spectra.read.checkpoint import Checkpoint

NAMES = FusedNames(
    embedding="word_embeddings",
    embedding_norm="word_embeddings_layernorm",
    final_norm="ln_f",
    unembedding="lm_head",
    attention_norm=("h.#.input_layernorm",),
    qkv="h.#.self_attention.query_key_value",
    output="h.#.self_attention.dense",
    mlp_norm=("h.#.post_attention_layernorm",),
    up="h.#.mlp.dense_h_to_4h",
    down="h.#.mlp.dense_4h_to_h",
)


def read_bloom(checkpoint: Checkpoint) -> Layout:
    """Groups of one head each."""
    config, names, is_gguf = opened(checkpoint, NAMES)
    sizes = read_sizes(config)
    split = in_blocks if is_gguf else in_groups
    return read_fused(checkpoint, "bloom", names, sizes, split, not_turned(sizes, NO_TURNS))
