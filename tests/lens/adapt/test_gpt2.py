"""GPT-2 from HF files (Conv1D: inputs as rows) and from GGUF files (outputs as rows)."""

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

CONFIG = {"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 12}
METADATA = {
    "general.architecture": "gpt2",
    "gpt2.block_count": 2,
    "gpt2.attention.head_count": 4,
    "gpt2.embedding_length": 12,
}


def hf(tiny, prefix="transformer.", pack=in_blocks):
    arrays = {"wte.weight": tiny.tokens, "wpe.weight": tiny.places, "ln_f.weight": tiny.last_gain}
    for index, layer in enumerate(tiny.layers):
        weights, biases = pack(layer)
        arrays |= {
            f"h.{index}.ln_1.weight": layer.gain,
            f"h.{index}.attn.c_attn.weight": weights.T,
            f"h.{index}.attn.c_attn.bias": biases,
            f"h.{index}.attn.c_proj.weight": side_by_side(layer.o).T,
            f"h.{index}.ln_2.weight": layer.mlp_gain,
            f"h.{index}.mlp.c_fc.weight": layer.up.T,
            f"h.{index}.mlp.c_proj.weight": layer.down.T,
        }
    return {prefix + name: array for name, array in arrays.items()}


def gguf(tiny):
    arrays = {"token_embd.weight": tiny.tokens, "position_embd.weight": tiny.places}
    arrays |= {"output.weight": tiny.head, "output_norm.weight": tiny.last_gain}
    for index, layer in enumerate(tiny.layers):
        weights, biases = in_blocks(layer)
        arrays |= {
            f"blk.{index}.attn_norm.weight": layer.gain,
            f"blk.{index}.attn_qkv.weight": weights,
            f"blk.{index}.attn_qkv.bias": biases,
            f"blk.{index}.attn_output.weight": side_by_side(layer.o),
            f"blk.{index}.ffn_norm.weight": layer.mlp_gain,
            f"blk.{index}.ffn_up.weight": layer.up,
            f"blk.{index}.ffn_down.weight": layer.down,
        }
    return arrays


@pytest.mark.parametrize("prefix", ["transformer.", ""])
def test_every_head_and_matrix_is_read(prefix):
    tiny = Tiny()
    stored = checkpoint(hf(tiny, prefix), CONFIG)
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny)
    compare_weights(stored, layout, tiny)
    compare_weight(stored, one(layout, "W_E"), tiny.tokens.T, tiny.tokens.T)
    compare_weight(stored, one(layout, "W_pos"), tiny.places.T, tiny.places.T)
    assert all(head.rope is None for head in layout.attention)
    assert layout.notes == ()


def test_an_untied_head_is_read_with_the_last_gain():
    tiny = Tiny()
    stored = checkpoint({**hf(tiny), "lm_head.weight": tiny.head}, CONFIG)
    compare_weight(stored, one(find_layout(stored), "W_U"), tiny.head, tiny.head * tiny.last_gain)


def test_gguf_weights_have_outputs_as_rows():
    tiny = Tiny()
    stored = checkpoint(gguf(tiny), METADATA, "gguf")
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny)
    compare_weights(stored, layout, tiny)
    compare_weight(stored, one(layout, "W_U"), tiny.head, tiny.head * tiny.last_gain)


def test_other_layouts_of_the_fused_matrix_do_not_pass():
    tiny = Tiny()
    interleaved = checkpoint(hf(tiny, pack=in_groups), CONFIG)
    with pytest.raises(AssertionError):
        compare_heads(interleaved, find_layout(interleaved), tiny)
    shuffled = hf(tiny)
    name = "transformer.h.1.attn.c_attn.weight"
    shuffled[name] = np.roll(shuffled[name], 1, axis=1)
    stored = checkpoint(shuffled, CONFIG)
    with pytest.raises(AssertionError):
        compare_heads(stored, find_layout(stored), tiny)


def test_shapes_that_do_not_fit_the_configuration_are_one_sentence():
    arrays = hf(Tiny())
    arrays["transformer.h.0.attn.c_attn.weight"] = arrays["transformer.h.0.attn.c_attn.weight"][:, :-1]
    with pytest.raises(UserError, match=r"c_attn\.weight' is 12 x 35, .* makes it 12 x 36"):
        find_layout(checkpoint(arrays, CONFIG))
