"""Falcon: 7B shares one key and value, 40B one per group of heads, and the older RW models none.

In HF files the queries of a group stand before its key and value. llama.cpp's converter sorts the rows into
all queries, all keys, all values.
"""

from glassformer.lens.adapt.config import CheckpointConfig
from glassformer.lens.adapt.fused import (
    NO_TURNS,
    FusedNames,
    omit_ropes,
    read_fused,
    read_fused_config,
    read_halves_ropes,
    read_model_sizes,
    split_blocks,
    split_groups,
)
from glassformer.lens.layout import ModelLayout
from glassformer.lens.read.checkpoint import Checkpoint

_NAMES = FusedNames(
    embedding="word_embeddings",
    final_norm="ln_f",
    unembedding="lm_head",
    attention_norm=("h.#.ln_attn", "h.#.input_layernorm"),
    qkv="h.#.self_attention.query_key_value",
    output="h.#.self_attention.dense",
    mlp_norm=("h.#.ln_mlp", "h.#.post_attention_layernorm", "h.#.input_layernorm"),
    up="h.#.mlp.dense_h_to_4h",
    down="h.#.mlp.dense_4h_to_h",
)


def read_falcon(checkpoint: Checkpoint) -> ModelLayout:
    """Groups of all heads (7B), of some (40B) or of one each (RW)."""
    config, names, is_gguf = read_fused_config(checkpoint, _NAMES)
    sizes = read_model_sizes(config, _count_kv_heads(config, is_gguf))
    has_alibi = config.flag("alibi") and not is_gguf
    ropes = omit_ropes(sizes, NO_TURNS) if has_alibi else read_halves_ropes(checkpoint, config, sizes)
    return read_fused(checkpoint, "falcon", names, sizes, split_blocks if is_gguf else split_groups, ropes)


def _count_kv_heads(config: CheckpointConfig, is_gguf: bool) -> int | None:
    """How many heads have keys; none: all of them.

    A 7B's config.json says num_kv_heads 71 beside multi_query, which alone counts; the first 40B's says
    n_head_kv and does not know new_decoder_architecture.

    >>> config = CheckpointConfig({"multi_query": True, "num_kv_heads": 71}, "config.json")
    >>> _count_kv_heads(config, is_gguf=False)
    1
    """
    if is_gguf:
        return config.count("attention.head_count_kv", default=1)
    if config.flag("new_decoder_architecture") or config.get("n_head_kv") is not None:
        every = config.count("num_attention_heads", "n_head")
        return config.count("n_head_kv", "num_kv_heads", default=every)
    return 1 if config.flag("multi_query", default=True) else None
