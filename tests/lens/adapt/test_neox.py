"""GPT-NeoX: a head's query, key and value stand together in HF files, and are sorted in GGUF files."""

import numpy as np
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

SIZES = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2}
CONFIG = {"architectures": ["GPTNeoXForCausalLM"], **SIZES, "rotary_pct": 0.7, "rotary_emb_base": 100}
METADATA = {
    "general.architecture": "gptneox",
    "gptneox.block_count": 2,
    "gptneox.attention.head_count": 2,
    "gptneox.embedding_length": 12,
    "gptneox.rope.dimension_count": 4,
}


def tiny_neox():
    return Tiny(heads=2, groups=2, dims=6)


def hf(tiny, pack=in_groups):
    arrays = {"gpt_neox.embed_in.weight": tiny.tokens, "gpt_neox.final_layer_norm.weight": tiny.last_gain}
    arrays["embed_out.weight"] = tiny.head
    for index, layer in enumerate(tiny.layers):
        weights, biases = pack(layer)
        start = f"gpt_neox.layers.{index}."
        arrays |= {
            f"{start}input_layernorm.weight": layer.gain,
            f"{start}post_attention_layernorm.weight": layer.mlp_gain,
            f"{start}attention.query_key_value.weight": weights,
            f"{start}attention.query_key_value.bias": biases,
            f"{start}attention.dense.weight": side_by_side(layer.o),
            f"{start}mlp.dense_h_to_4h.weight": layer.up,
            f"{start}mlp.dense_4h_to_h.weight": layer.down,
        }
    return arrays


def gguf(tiny):
    """As llama.cpp's converter: the HF matrix as `head three dim width`, with the second axis first."""
    arrays = {
        "token_embd.weight": tiny.tokens,
        "output.weight": tiny.head,
        "output_norm.weight": tiny.last_gain,
    }
    for index, layer in enumerate(tiny.layers):
        weights, biases = in_groups(layer)
        apart = weights.reshape(tiny.heads, 3, tiny.dims, tiny.width).swapaxes(0, 1)
        arrays |= {
            f"blk.{index}.attn_norm.weight": layer.gain,
            f"blk.{index}.ffn_norm.weight": layer.mlp_gain,
            f"blk.{index}.attn_qkv.weight": apart.reshape(weights.shape),
            f"blk.{index}.attn_qkv.bias": biases.reshape(tiny.heads, 3, -1).swapaxes(0, 1).ravel(),
            f"blk.{index}.attn_output.weight": side_by_side(layer.o),
            f"blk.{index}.ffn_up.weight": layer.up,
            f"blk.{index}.ffn_down.weight": layer.down,
        }
    return arrays


@pytest.mark.parametrize(("write", "config", "kind"), [(hf, CONFIG, "safetensors"), (gguf, METADATA, "gguf")])
def test_every_head_and_matrix_is_read(write, config, kind):
    tiny = tiny_neox()
    stored = checkpoint(write(tiny), config, kind)
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny)
    compare_weights(stored, layout, tiny)
    compare_weight(stored, one(layout, "W_E"), tiny.tokens.T, tiny.tokens.T)
    compare_weight(stored, one(layout, "W_U"), tiny.head, tiny.head * tiny.last_gain)
    assert layout.notes == ()


def test_a_share_of_each_head_is_turned_in_halves():
    rope = find_layout(checkpoint(hf(tiny_neox()), CONFIG)).attention[0].rope
    assert (rope.pairs, rope.first) == ("halves", 0)
    np.testing.assert_allclose(rope.rates, (1.0, 100**-0.5))  # int(0.7 x 6) = 4 of 6 dimensions


def test_newer_configurations_say_the_share_in_rope_parameters():
    config = {"model_type": "gpt_neox", **SIZES}
    config["rope_parameters"] = {"rope_theta": 100.0, "partial_rotary_factor": 0.7, "rope_type": "default"}
    assert find_layout(checkpoint(hf(tiny_neox()), config)).attention[0].rope.rates == (1.0, 0.1)


def test_sorted_rows_do_not_pass_for_interleaved_ones():
    tiny = tiny_neox()
    for stored in (
        checkpoint(hf(tiny, pack=in_blocks), CONFIG),
        checkpoint(hf(tiny, pack=shuffled), CONFIG),
    ):
        with pytest.raises(AssertionError):
            compare_heads(stored, find_layout(stored), tiny)


def shuffled(layer):
    weights, biases = in_groups(layer)
    return np.roll(weights, 6, axis=0), biases
