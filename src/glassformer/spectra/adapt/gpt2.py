"""GPT-2: learned places, biases, and weights stored with inputs as rows (Conv1D) in HF files.

llama.cpp's converter turns the weights round, so that in a GGUF file outputs are rows as everywhere else.
"""

from glassformer.spectra.adapt.fused import FusedNames, in_blocks, not_turned, opened, read_fused, read_sizes
from glassformer.spectra.layout import Layout
from glassformer.spectra.read.checkpoint import Checkpoint

NAMES = FusedNames(
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


def read_gpt2(checkpoint: Checkpoint) -> Layout:
    """All queries, all keys, all values in one matrix."""
    config, names, is_gguf = opened(checkpoint, NAMES)
    sizes = read_sizes(config)
    ropes = not_turned(sizes)
    return read_fused(checkpoint, "gpt2", names, sizes, in_blocks, ropes, is_transposed=not is_gguf)
