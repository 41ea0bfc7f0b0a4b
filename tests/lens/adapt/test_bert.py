"""BERT, RoBERTa and DistilBERT: norms after each part, three embeddings, a pooler."""

import numpy as np
import pytest

from glassformer.lens.adapt.find import find_layout
from glassformer.lens.matrix import read_map
from glassformer.lens.read.open import open_checkpoint
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
from tests.lens.real_weights import minilm

CONFIG = {"model_type": "bert", "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4}
DISTILLED = {"model_type": "distilbert", "dim": 12, "n_layers": 2, "n_heads": 4}
METADATA = {
    "general.architecture": "bert",
    "bert.block_count": 2,
    "bert.attention.head_count": 4,
    "bert.embedding_length": 12,
}
ROLES = ("q", "k", "v", "o", "inner", "up", "down", "last")  # inner and last: norms after attention and MLP
BERT = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
DISTILBERT = (
    "attention.q_lin",
    "attention.k_lin",
    "attention.v_lin",
    "attention.out_lin",
    "sa_layer_norm",
    "ffn.lin1",
    "ffn.lin2",
    "output_layer_norm",
)
GGUF = (
    "attn_q",
    "attn_k",
    "attn_v",
    "attn_output",
    "attn_output_norm",
    "ffn_up",
    "ffn_down",
    "layer_output_norm",
)
EMBEDDINGS = (
    "embeddings.word_embeddings",
    "embeddings.position_embeddings",
    "embeddings.token_type_embeddings",
    "embeddings.LayerNorm",
)
GGUF_EMBEDDINGS = ("token_embd", "position_embd", "token_types", "token_embd_norm")


def written(tiny, start, names, ends=EMBEDDINGS, prefix=""):
    """A layer's attention reads the stream after the norm of the one before it, or of the embeddings."""
    values = (tiny.tokens, tiny.places, np.ones((2, tiny.width)), tiny.layers[0].gain)
    arrays = {f"{name}.weight": value for name, value in zip(ends, values, strict=True)}
    nexts = [layer.gain for layer in tiny.layers[1:]] + [tiny.last_gain]
    for index, (layer, last) in enumerate(zip(tiny.layers, nexts, strict=True)):
        parts = {**vars(layer), "o": side_by_side(layer.o), "inner": layer.mlp_gain, "last": last}
        parts |= {key: stacked(parts[key]) for key in "qkv"}
        at = start.format(index)
        arrays |= {f"{at}{name}.weight": parts[role] for role, name in zip(ROLES, names, strict=True)}
        arrays |= {f"{at}{names[0]}.bias": layer.bq.ravel(), f"{at}{names[1]}.bias": layer.bk.ravel()}
    return {prefix + name: array for name, array in arrays.items()}


@pytest.mark.parametrize(
    ("config", "kind", "how"),
    [
        (CONFIG, "safetensors", ("encoder.layer.{}.", BERT)),
        (CONFIG, "safetensors", ("encoder.layer.{}.", BERT, EMBEDDINGS, "bert.")),
        ({**CONFIG, "model_type": "roberta"}, "torch", ("encoder.layer.{}.", BERT, EMBEDDINGS, "roberta.")),
        (DISTILLED, "safetensors", ("transformer.layer.{}.", DISTILBERT)),
        (DISTILLED, "safetensors", ("transformer.layer.{}.", DISTILBERT, EMBEDDINGS, "distilbert.")),
        (METADATA, "gguf", ("blk.{}.", GGUF, GGUF_EMBEDDINGS)),
    ],
)
def test_every_head_and_matrix_is_read(config, kind, how):
    tiny = Tiny()
    arrays = written(tiny, *how)
    if config is DISTILLED:
        arrays = {name: array for name, array in arrays.items() if "token_type" not in name}
    stored = checkpoint(arrays, config, kind)
    layout = find_layout(stored)
    compare_heads(stored, layout, tiny)
    compare_weights(stored, layout, tiny)
    compare_weight(stored, one(layout, "W_E"), tiny.tokens.T, tiny.tokens.T)
    compare_weight(stored, one(layout, "W_pos"), tiny.places.T, tiny.places.T)
    if config is not DISTILLED:
        compare_weight(stored, one(layout, "W_type"), np.ones((12, 2)), np.ones((12, 2)))
    assert layout.notes == ()


def test_what_reads_the_last_layer_has_its_last_gain():
    tiny = Tiny()
    pooler, transform, gain = tiny.draw(12, 12), tiny.draw(12, 12), tiny.draw(12)
    arrays = written(tiny, "encoder.layer.{}.", BERT, EMBEDDINGS, "bert.")
    arrays |= {"bert.pooler.dense.weight": pooler, "cls.predictions.transform.dense.weight": transform}
    arrays |= {
        "cls.predictions.transform.LayerNorm.weight": gain,
        "cls.predictions.decoder.weight": tiny.head,
    }
    stored = checkpoint(arrays, CONFIG)
    layout = find_layout(stored)
    compare_weight(stored, one(layout, "W_pooler"), pooler, pooler * tiny.last_gain)
    compare_weight(stored, one(layout, "W_transform"), transform, transform * tiny.last_gain)
    compare_weight(stored, one(layout, "W_U"), tiny.head, tiny.head * gain)
    assert layout.notes == ()


def test_gains_may_be_called_gamma():
    tiny = Tiny()
    arrays = written(tiny, "encoder.layer.{}.", BERT)
    old = {name.replace("LayerNorm.weight", "LayerNorm.gamma"): array for name, array in arrays.items()}
    stored = checkpoint(old, CONFIG)
    compare_heads(stored, find_layout(stored), tiny)


def test_other_layouts_do_not_pass():
    tiny = Tiny()
    arrays = written(tiny, "encoder.layer.{}.", BERT)
    swapped = {name.replace("self.query", "self.value"): array for name, array in arrays.items()}
    swapped |= {
        name: arrays[name.replace("query", "value")] for name in arrays if "self.query.weight" in name
    }
    own_norm = {name.replace("layer.0.output.Lay", "layer.2.x"): array for name, array in arrays.items()}
    own_norm["encoder.layer.0.output.LayerNorm.weight"] = tiny.layers[0].gain
    for wrong, config in (
        (swapped, CONFIG),
        (own_norm, CONFIG),
        (arrays, {**CONFIG, "num_attention_heads": 3}),
    ):
        stored = checkpoint(wrong, config)
        with pytest.raises(AssertionError):
            compare_heads(stored, find_layout(stored), tiny)


def test_minilm_has_72_heads():
    stored = open_checkpoint(minilm())
    layout = find_layout(stored)
    assert (layout.layers, layout.heads, layout.head_dim, layout.width) == (6, 12, 32, 384)
    kinds = {weight.type for weight in layout.weights}
    assert kinds >= {"W_E", "W_pos", "W_type", "W_Q", "W_K", "W_V", "W_O", "W_up", "W_down", "W_pooler"}
    assert layout.notes == ()
    assert read_map(stored, layout.attention[71].query, is_folded=True).shape == (32, 384)
