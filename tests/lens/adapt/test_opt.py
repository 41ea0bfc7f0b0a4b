"""OPT, with norms before each part or (350M) after it, and tokens of fewer dimensions than the stream."""

import numpy as np
import pytest

from glassformer.lens.adapt.find import find_layout
from tests.lens.adapt.tiny import (
    Tiny,
    checkpoint,
    compare_heads,
    compare_weight,
    compare_weights,
    one,
    side_by_side,
    stacked,
)

CONFIG = {"model_type": "opt", "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4}
AFTER = {**CONFIG, "do_layer_norm_before": False}


def hf(tiny, prefix="model.decoder."):
    """The norms' gains are the layer's own two, wherever they act."""
    arrays = {"embed_tokens.weight": tiny.tokens, "embed_positions.weight": tiny.places}
    for index, layer in enumerate(tiny.layers):
        arrays |= {
            f"layers.{index}.self_attn.q_proj.weight": stacked(layer.q),
            f"layers.{index}.self_attn.q_proj.bias": layer.bq.ravel(),
            f"layers.{index}.self_attn.k_proj.weight": stacked(layer.k),
            f"layers.{index}.self_attn.k_proj.bias": layer.bk.ravel(),
            f"layers.{index}.self_attn.v_proj.weight": stacked(layer.v),
            f"layers.{index}.self_attn.out_proj.weight": side_by_side(layer.o),
            f"layers.{index}.self_attn_layer_norm.weight": layer.gain,
            f"layers.{index}.final_layer_norm.weight": layer.mlp_gain,
            f"layers.{index}.fc1.weight": layer.up,
            f"layers.{index}.fc2.weight": layer.down,
        }
    return {prefix + name: array for name, array in arrays.items()}


@pytest.mark.parametrize("prefix", ["model.decoder.", "decoder."])
def test_every_head_and_matrix_is_read(prefix):
    tiny = Tiny()
    arrays = {
        **hf(tiny, prefix),
        f"{prefix}final_layer_norm.weight": tiny.last_gain,
        "lm_head.weight": tiny.head,
    }
    stored = checkpoint(arrays, CONFIG)
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny)
    compare_weights(stored, layout, tiny)
    compare_weight(stored, one(layout, "W_E"), tiny.tokens.T, tiny.tokens.T)
    compare_weight(stored, one(layout, "W_pos"), tiny.places.T, tiny.places.T)
    compare_weight(stored, one(layout, "W_U"), tiny.head, tiny.head * tiny.last_gain)
    assert layout.notes == ()


def after(tiny):
    """The same model with norms after each part: what reads the stream next has their gain."""
    stored = [(layer.gain, layer.mlp_gain) for layer in tiny.layers]
    for layer, before, (inner, _) in zip(
        tiny.layers, [np.ones(tiny.width), *(last for _, last in stored)], stored, strict=False
    ):
        layer.gain, layer.mlp_gain = before, inner
    tiny.last_gain = stored[-1][1]


def test_norms_after_each_part_are_gains_of_what_comes_next():
    tiny = Tiny()
    arrays = {**hf(tiny), "lm_head.weight": tiny.head}
    after(tiny)
    stored = checkpoint(arrays, AFTER)
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny)
    compare_weights(stored, layout, tiny)
    compare_weight(stored, one(layout, "W_U"), tiny.head, tiny.head * tiny.last_gain)
    assert layout.attention[0].query[0][0].gain is None
    before = checkpoint(arrays, CONFIG)
    with pytest.raises(AssertionError):
        compare_heads(before, find_layout(before), tiny)


def test_tokens_may_come_and_go_through_projections():
    tiny, narrow, inward, outward = Tiny(), np.ones((11, 5)), np.ones((12, 5)), np.ones((5, 12))
    ends = {"embed_tokens": narrow, "project_in": inward, "project_out": outward}
    arrays = {**hf(tiny), **{f"model.decoder.{name}.weight": array for name, array in ends.items()}}
    stored = checkpoint({**arrays, "lm_head.weight": narrow}, AFTER)
    layout = find_layout(stored)
    found = {kind: one(layout, kind) for kind in ("W_E", "W_in", "W_out", "W_U")}
    assert [weight.stream for weight in found.values()] == ["none", "out", "in", "none"]
    compare_weight(stored, found["W_in"], inward, inward)
    compare_weight(stored, found["W_out"], outward, outward * tiny.layers[-1].mlp_gain)


def test_other_shares_of_the_rows_do_not_pass():
    tiny = Tiny()
    stored = checkpoint(hf(tiny), {**CONFIG, "num_attention_heads": 6})
    with pytest.raises(AssertionError):
        compare_heads(stored, find_layout(stored), tiny)
    arrays = hf(tiny)
    name = "model.decoder.layers.0.self_attn.k_proj.weight"
    arrays[name] = arrays[name].reshape(3, 4, 12).swapaxes(0, 1).reshape(12, 12)
    stored = checkpoint(arrays, CONFIG)
    with pytest.raises(AssertionError):
        compare_heads(stored, find_layout(stored), tiny)
