"""GPT-2: learned positions, biases, and weights stored with inputs as rows (Conv1D) in HF files.

llama.cpp's converter turns the weights round, so that in a GGUF file outputs are rows as everywhere else.
"""

from glassformer.lens.adapt.fused import (
    FusedNames,
    omit_ropes,
    read_fused,
    read_fused_config,
    read_model_sizes,
    split_blocks,
)
from glassformer.lens.layout import ModelLayout
from glassformer.lens.read.checkpoint import Checkpoint

_NAMES = FusedNames(
    embedding="wte",
    positions="wpe",
    final_norm="ln_f",
    unembedding="lm_head",
    attention_norm=("h.#.ln_1",),
    qkv="h.#.attn.c_attn",
    output="h.#.attn.c_proj",
    mlp_norm=("h.#.ln_2",),
    up="h.#.mlp.c_fc",
    down="h.#.mlp.c_proj",
)


def read_gpt2(checkpoint: Checkpoint) -> ModelLayout:
    """All queries, all keys, all values in one matrix."""
    config, names, is_gguf = read_fused_config(checkpoint, _NAMES)
    sizes = read_model_sizes(config)
    ropes = omit_ropes(sizes)
    return read_fused(checkpoint, "gpt2", names, sizes, split_blocks, ropes, is_transposed=not is_gguf)
