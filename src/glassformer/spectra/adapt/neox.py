"""GPT-NeoX and Pythia: head by head its query, key and value rows; part of each head is turned by RoPE.

llama.cpp's converter sorts the rows into all queries, all keys, all values.
"""

from glassformer.spectra.adapt.config import Config
from glassformer.spectra.adapt.fused import (
    FusedNames,
    in_blocks,
    in_groups,
    opened,
    read_fused,
    read_sizes,
    turned,
)
from glassformer.spectra.layout import Layout
from glassformer.spectra.read.checkpoint import Checkpoint

NAMES = FusedNames(
    embedding="embed_in",
    final_norm="final_layer_norm",
    unembedding="embed_out",
    attention_norm=("layers.#.input_layernorm",),
    qkv="layers.#.attention.query_key_value",
    output="layers.#.attention.dense",
    mlp_norm=("layers.#.post_attention_layernorm",),
    up="layers.#.mlp.dense_h_to_4h",
    down="layers.#.mlp.dense_4h_to_h",
)
ROTARY_SHARE = 0.25  # of a head's dimensions, where config.json does not say it (GPTNeoXConfig)


def read_neox(checkpoint: Checkpoint) -> Layout:
    """Groups of one head each."""
    config, names, is_gguf = opened(checkpoint, NAMES)
    sizes = read_sizes(config)
    ropes = turned(checkpoint, config if is_gguf else with_rope_names(config), sizes)
    return read_fused(checkpoint, "gptneox", names, sizes, in_blocks if is_gguf else in_groups, ropes)


def with_rope_names(config: Config) -> Config:
    """The old names of the share and the base, under those that other families have."""
    share, base = (
        config.get("rotary_pct", "partial_rotary_factor"),
        config.get("rotary_emb_base", "rope_theta"),
    )
    said = {"partial_rotary_factor": ROTARY_SHARE if share is None else share, "rope_theta": base}
    return Config({**config.values, **said}, config.source)
