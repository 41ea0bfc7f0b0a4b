"""Falcon: 7B shares one key and value, 40B one a group of heads, and the older RW models none.

In HF files the queries of a group stand before its key and value. llama.cpp's converter sorts the rows into
all queries, all keys, all values.
"""

from glassformer.spectra.adapt.config import Config
from glassformer.spectra.adapt.fused import (
    NO_TURNS,
    FusedNames,
    in_blocks,
    in_groups,
    not_turned,
    opened,
    read_fused,
    read_sizes,
    turned,
)
from glassformer.spectra.layout import Layout
from glassformer.spectra.read.checkpoint import Checkpoint

NAMES = FusedNames(
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


def read_falcon(checkpoint: Checkpoint) -> Layout:
    """Groups of all heads (7B), of some (40B) or of one each (RW)."""
    config, names, is_gguf = opened(checkpoint, NAMES)
    sizes = read_sizes(config, kv_heads(config, is_gguf))
    has_alibi = config.flag("alibi") and not is_gguf
    ropes = not_turned(sizes, NO_TURNS) if has_alibi else turned(checkpoint, config, sizes)
    return read_fused(checkpoint, "falcon", names, sizes, in_blocks if is_gguf else in_groups, ropes)


def kv_heads(config: Config, is_gguf: bool) -> int | None:
    """How many heads have keys; none: all of them.

    A 7B's config.json says num_kv_heads 71 beside multi_query, which alone counts; the first 40B's says
    n_head_kv and does not know new_decoder_architecture.

    >>> kv_heads(Config({"multi_query": True, "num_kv_heads": 71}, "config.json"), is_gguf=False)
    1
    """
    if is_gguf:
        return config.count("attention.head_count_kv", default=1)
    if config.flag("new_decoder_architecture") or config.get("n_head_kv") is not None:
        every = config.count("num_attention_heads", "n_head")
        return config.count("n_head_kv", "num_kv_heads", default=every)
    return 1 if config.flag("multi_query", default=True) else None
