"""BLOOM: head by head its query, key and value rows, ALiBi, and a norm on the embedding.

llama.cpp's converter sorts the rows into all queries, all keys, all values.
"""

from glassformer.lens.adapt.fused import (
    NO_TURNS,
    FusedNames,
    omit_ropes,
    read_fused,
    read_fused_config,
    read_model_sizes,
    split_blocks,
    split_groups,
)
from glassformer.lens.layout import ModelLayout
from glassformer.lens.read.checkpoint import Checkpoint

_NAMES = FusedNames(
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


def read_bloom(checkpoint: Checkpoint) -> ModelLayout:
    """Groups of one head each."""
    config, names, is_gguf = read_fused_config(checkpoint, _NAMES)
    sizes = read_model_sizes(config)
    split = split_blocks if is_gguf else split_groups
    return read_fused(checkpoint, "bloom", names, sizes, split, omit_ropes(sizes, NO_TURNS))
