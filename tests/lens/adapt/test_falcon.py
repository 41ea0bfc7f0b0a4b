"""Falcon: one key for all heads (7B), one a group (40B), one a head (RW); sorted rows in GGUF files."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
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

SIZES = {"model_type": "falcon", "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
SEVEN = {**SIZES, "multi_query": True, "num_kv_heads": 4}
FORTY = {**SIZES, "new_decoder_architecture": True, "num_kv_heads": 2}
FIRST_FORTY = {"model_type": "RefinedWeb", "hidden_size": 16, "n_layer": 2, "n_head": 4, "n_head_kv": 2}
RW = {**SIZES, "multi_query": False, "alibi": True, "bias": True}


def tiny_falcon(groups, is_parallel):
    tiny = Tiny(heads=4, groups=groups, dims=4, width=16)
    for layer in tiny.layers:
        layer.mlp_gain = layer.gain if is_parallel else layer.mlp_gain
    return tiny


def hf(tiny, norms, pack=in_groups, biased=False):
    arrays = {"word_embeddings.weight": tiny.tokens, "ln_f.weight": tiny.last_gain}
    for index, layer in enumerate(tiny.layers):
        weights, biases = pack(layer)
        gains = dict(zip(norms, (layer.gain, layer.mlp_gain), strict=False))
        arrays |= {f"h.{index}.{name}.weight": gain for name, gain in gains.items()}
        arrays |= {
            f"h.{index}.self_attention.query_key_value.weight": weights,
            f"h.{index}.self_attention.dense.weight": side_by_side(layer.o),
            f"h.{index}.mlp.dense_h_to_4h.weight": layer.up,
            f"h.{index}.mlp.dense_4h_to_h.weight": layer.down,
        }
        arrays |= {f"h.{index}.self_attention.query_key_value.bias": biases} if biased else {}
    arrays = {f"transformer.{name}": array for name, array in arrays.items()}
    return {**arrays, "lm_head.weight": tiny.head}


@pytest.mark.parametrize(
    ("config", "groups", "norms"),
    [
        (SEVEN, 1, ("input_layernorm",)),
        (FORTY, 2, ("ln_attn", "ln_mlp")),
        (FIRST_FORTY, 2, ("ln_attn", "ln_mlp")),
        (FORTY, 2, ("input_layernorm",)),
        (RW, 4, ("input_layernorm", "post_attention_layernorm")),
    ],
)
def test_every_head_and_matrix_is_read(config, groups, norms):
    tiny, biased = tiny_falcon(groups, is_parallel=len(norms) == 1), config is RW
    stored = checkpoint(hf(tiny, norms, biased=biased), config)
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny, biased=biased)
    compare_weights(stored, layout, tiny)
    compare_weight(stored, one(layout, "W_E"), tiny.tokens.T, tiny.tokens.T)
    compare_weight(stored, one(layout, "W_U"), tiny.head, tiny.head * tiny.last_gain)
    rope = layout.attention[0].rope
    assert rope is None if config is RW else (rope.pairs, rope.rates) == ("halves", (1.0, 0.01))
    assert len(layout.notes) == (config is RW)


@pytest.mark.parametrize("groups", [1, 2])
def test_gguf_rows_are_sorted(groups):
    """As llama.cpp's converter: groups of `q.. k v`, then every q, every k, every v; ln_mlp is attn_norm."""
    tiny = tiny_falcon(groups, is_parallel=groups == 1)
    arrays = {
        "token_embd.weight": tiny.tokens,
        "output.weight": tiny.head,
        "output_norm.weight": tiny.last_gain,
    }
    for index, layer in enumerate(tiny.layers):
        rows = in_groups(layer)[0].reshape(groups, 4 // groups + 2, 4, 16)
        qkv = [rows[:, :-2], rows[:, [-2]], rows[:, [-1]]]
        norms = (
            {"attn_norm_2": layer.gain, "attn_norm": layer.mlp_gain}
            if groups > 1
            else {"attn_norm": layer.gain}
        )
        arrays |= {f"blk.{index}.{name}.weight": gain for name, gain in norms.items()}
        arrays |= {
            f"blk.{index}.attn_qkv.weight": np.concatenate([part.reshape(-1, 16) for part in qkv]),
            f"blk.{index}.attn_output.weight": side_by_side(layer.o),
            f"blk.{index}.ffn_up.weight": layer.up,
            f"blk.{index}.ffn_down.weight": layer.down,
        }
    sizes = {
        "block_count": 2,
        "embedding_length": 16,
        "attention.head_count": 4,
        "attention.head_count_kv": groups,
    }
    metadata = {"general.architecture": "falcon", **{f"falcon.{name}": size for name, size in sizes.items()}}
    stored = checkpoint(arrays, metadata, "gguf")
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny, biased=False)
    compare_weights(stored, layout, tiny)
    assert layout.attention[0].rope.rates == (1.0, 0.01)


@pytest.mark.parametrize(("config", "groups"), [(FORTY, 2), (RW, 4)])
def test_sorted_rows_do_not_pass_for_groups(config, groups):
    tiny = tiny_falcon(groups, is_parallel=True)
    stored = checkpoint(hf(tiny, ("input_layernorm",), pack=in_blocks), config)
    with pytest.raises(AssertionError):
        compare_heads(stored, find_layout(stored), tiny, biased=False)


def test_groups_do_not_pass_for_heads_that_share_one_key():
    stored = checkpoint(hf(tiny_falcon(2, is_parallel=True), ("input_layernorm",)), SEVEN)
    with pytest.raises(UserError, match=r"is 32 x 16, .*1 key heads of 4.* makes it 24 x 16"):
        find_layout(stored)


def test_heads_that_cannot_share_evenly_are_one_sentence():
    stored = checkpoint(
        hf(tiny_falcon(2, is_parallel=True), ("input_layernorm",)), {**FORTY, "num_kv_heads": 3}
    )
    with pytest.raises(UserError, match="4 heads cannot share 3 key heads evenly"):
        find_layout(stored)
