"""GPT-NeoX and Pythia: head by head its query, key and value rows; part of each head is turned by RoPE.

llama.cpp's converter sorts the rows into all queries, all keys, all values.
"""

from glassformer.lens.adapt.config import CheckpointConfig
from glassformer.lens.adapt.fused import (
    FusedNames,
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
_ROTARY_SHARE = 0.25  # of a head's dimensions, where config.json does not say it (GPTNeoXConfig)


def read_neox(checkpoint: Checkpoint) -> ModelLayout:
    """Groups of one head each."""
    config, names, is_gguf = read_fused_config(checkpoint, _NAMES)
    sizes = read_model_sizes(config)
    ropes = read_halves_ropes(checkpoint, config if is_gguf else _rename_rope_keys(config), sizes)
    return read_fused(checkpoint, "gptneox", names, sizes, split_blocks if is_gguf else split_groups, ropes)


def _rename_rope_keys(config: CheckpointConfig) -> CheckpointConfig:
    """The old names of the share and the base, under those that other families have."""
    share, base = (
        config.get("rotary_pct", "partial_rotary_factor"),
        config.get("rotary_emb_base", "rope_theta"),
    )
    said = {"partial_rotary_factor": _ROTARY_SHARE if share is None else share, "rope_theta": base}
    return CheckpointConfig({**config.values, **said}, config.source)
