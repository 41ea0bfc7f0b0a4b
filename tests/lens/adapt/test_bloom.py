"""BLOOM: interleaved heads, ALiBi, and a norm on what the embedding writes."""

import pytest

from glassformer.lens.adapt.find import find_layout
from tests.lens.adapt.tiny import (
    Tiny,
    checkpoint,
    compare_heads,
    compare_weight,
    compare_weights,
    in_blocks,
    in_groups,
    one,
    side_by_side,
)

CONFIG = {"model_type": "bloom", "n_layer": 2, "n_head": 4, "hidden_size": 12}
METADATA = {
    "general.architecture": "bloom",
    "bloom.block_count": 2,
    "bloom.attention.head_count": 4,
    "bloom.embedding_length": 12,
}
NAMES = {  # role: HF name, GGUF name
    "gain": ("input_layernorm", "attn_norm"),
    "mlp_gain": ("post_attention_layernorm", "ffn_norm"),
    "qkv": ("self_attention.query_key_value", "attn_qkv"),
    "o": ("self_attention.dense", "attn_output"),
    "up": ("mlp.dense_h_to_4h", "ffn_up"),
    "down": ("mlp.dense_4h_to_h", "ffn_down"),
}


def written(tiny, pack, is_gguf=False):
    """Only the names and the order of the fused rows differ between the two kinds of file."""
    ends = ("token_embd", "token_embd_norm", "output_norm", "output")
    if not is_gguf:
        ends = ("word_embeddings", "word_embeddings_layernorm", "ln_f", "lm_head")
    values = (tiny.tokens, tiny.first_gain, tiny.last_gain, tiny.head)
    arrays = {f"{name}.weight": value for name, value in zip(ends, values, strict=True)}
    for index, layer in enumerate(tiny.layers):
        weights, biases = pack(layer)
        parts = {**vars(layer), "qkv": weights, "o": side_by_side(layer.o)}
        start = f"blk.{index}." if is_gguf else f"h.{index}."
        arrays |= {f"{start}{names[is_gguf]}.weight": parts[role] for role, names in NAMES.items()}
        arrays[f"{start}{NAMES['qkv'][is_gguf]}.bias"] = biases
    return arrays


@pytest.mark.parametrize("prefix", ["transformer.", ""])
def test_every_head_and_matrix_is_read(prefix):
    tiny = Tiny()
    arrays = {prefix + name: array for name, array in written(tiny, in_groups).items()}
    check(checkpoint(arrays, CONFIG), tiny)


def test_gguf_rows_are_sorted():
    tiny = Tiny()
    check(checkpoint(written(tiny, in_blocks, is_gguf=True), METADATA, "gguf"), tiny)


def check(stored, tiny):
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny)
    compare_weights(stored, layout, tiny)
    compare_weight(stored, one(layout, "W_E"), tiny.tokens.T, tiny.tokens.T * tiny.first_gain[:, None])
    compare_weight(stored, one(layout, "W_U"), tiny.head, tiny.head * tiny.last_gain)
    assert all(head.rope is None for head in layout.attention)
    assert layout.notes == ("ALiBi lowers scores by distance, which is not part of the QK kernels",)


@pytest.mark.parametrize("is_gguf", [False, True])
def test_the_order_of_the_other_kind_of_file_does_not_pass(is_gguf):
    tiny = Tiny()
    arrays = written(tiny, in_groups if is_gguf else in_blocks, is_gguf)
    stored = checkpoint(arrays, METADATA if is_gguf else CONFIG, "gguf" if is_gguf else "safetensors")
    with pytest.raises(AssertionError):
        compare_heads(stored, find_layout(stored), tiny)
