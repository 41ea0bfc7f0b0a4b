"""DeepSeek V2 and V3: keys of two pieces, products of low rank, experts and shared ones, three kinds of file."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.adapt.find import find_layout
from glassformer.lens.matrix import read_map, view_matrix
from tests.lens.adapt.tiny import VOCABULARY, checkpoint, compare_weight, one

WIDTH, HEADS, NOPE, ROPE, VALUE, RANK, QUERY_RANK, HIDDEN, EXPERTS = 12, 3, 4, 2, 5, 6, 7, 8, 2
CONFIG = {
    "model_type": "deepseek_v3",
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "qk_nope_head_dim": NOPE,
    "qk_rope_head_dim": ROPE,
    "v_head_dim": VALUE,
    "kv_lora_rank": RANK,
    "n_routed_experts": EXPERTS,
    "first_k_dense_replace": 1,
}
METADATA = {
    "block_count": 2,
    "embedding_length": WIDTH,
    "attention.head_count": HEADS,
    "attention.kv_lora_rank": RANK,
    "rope.dimension_count": ROPE,
    "expert_count": EXPERTS,
}
OLD = {**METADATA, "attention.key_length": NOPE + ROPE, "attention.value_length": VALUE}
NEW = {
    **METADATA,
    "attention.key_length": RANK + ROPE,  # of the latent, which all heads share
    "attention.value_length": RANK,
    "attention.key_length_mla": NOPE + ROPE,
    "attention.value_length_mla": VALUE,
}


class Low:
    """Factors of every head, apart: query_b[head] query_a, key_b[head] kv_a, shared key rows, value_b[head] kv_a."""

    def __init__(self, has_query_rank=True, seed=0):
        draw = np.random.default_rng(seed).normal
        self.gain, self.query_gain, self.gain_inside = (
            draw(size=WIDTH),
            draw(size=QUERY_RANK),
            draw(size=RANK),
        )
        self.query_a = draw(size=(QUERY_RANK, WIDTH)) if has_query_rank else None
        self.query_b = draw(size=(HEADS, NOPE + ROPE, QUERY_RANK if has_query_rank else WIDTH))
        self.kv_a, self.shared = draw(size=(RANK, WIDTH)), draw(size=(ROPE, WIDTH))
        self.key_b, self.value_b = draw(size=(HEADS, NOPE, RANK)), draw(size=(HEADS, VALUE, RANK))
        self.output = draw(size=(HEADS, WIDTH, VALUE))
        self.router, self.mlp_gain = draw(size=(EXPERTS, WIDTH)), draw(size=WIDTH)
        self.mlps = [
            [draw(size=(HIDDEN, WIDTH)), draw(size=(HIDDEN, WIDTH)), draw(size=(WIDTH, HIDDEN))]
            for _ in range(4)
        ]

    def kernels(self, head, is_folded=False):
        """QK and OV, written out."""
        outer = self.gain if is_folded else 1.0
        query_gain, inside = (self.query_gain, self.gain_inside) if is_folded else (1.0, 1.0)
        query = self.query_b[head] * (outer if self.query_a is None else query_gain)
        query = query if self.query_a is None else query @ (self.query_a * outer)
        key = np.concatenate([(self.key_b[head] * inside) @ (self.kv_a * outer), self.shared * outer])
        value = (self.value_b[head] * inside) @ (self.kv_a * outer)
        return query.T @ key, self.output[head] @ value


def hf(layers, order=("key_b", "value_b")):
    arrays = {
        "model.embed_tokens.weight": np.ones((VOCABULARY, WIDTH)),
        "lm_head.weight": np.ones((VOCABULARY, WIDTH)),
    }
    arrays["model.norm.weight"] = np.full(WIDTH, 3.0)
    for index, low in enumerate(layers):
        start = f"model.layers.{index}."
        heads = [np.concatenate([getattr(low, part)[head] for part in order]) for head in range(HEADS)]
        arrays |= {
            f"{start}input_layernorm.weight": low.gain,
            f"{start}self_attn.kv_a_proj_with_mqa.weight": np.concatenate([low.kv_a, low.shared]),
            f"{start}self_attn.kv_a_layernorm.weight": low.gain_inside,
            f"{start}self_attn.kv_b_proj.weight": np.concatenate(heads),
            f"{start}self_attn.o_proj.weight": np.concatenate(list(low.output), axis=1),
            f"{start}post_attention_layernorm.weight": low.mlp_gain,
        }
        arrays |= queries(low, f"{start}self_attn.", ("q_proj", "q_a_proj", "q_a_layernorm", "q_b_proj"))
        arrays |= {
            f"{start}mlp.{name}": array for name, array in feed_forward(low, has_experts=index > 0).items()
        }
    return arrays


def queries(low, start, names):
    whole, first, norm, second = (f"{start}{name}.weight" for name in names)
    rows = np.concatenate(list(low.query_b))
    return {whole: rows} if low.query_a is None else {first: low.query_a, norm: low.query_gain, second: rows}


def feed_forward(low, has_experts):
    def mlp(start, parts):
        return {
            f"{start}{key}_proj.weight": part for key, part in zip(("gate", "up", "down"), parts, strict=True)
        }

    if not has_experts:
        return mlp("", low.mlps[0])
    experts = {
        name: array
        for index in range(EXPERTS)
        for name, array in mlp(f"experts.{index}.", low.mlps[index]).items()
    }
    return {"gate.weight": low.router, **experts, **mlp("shared_experts.", low.mlps[3])}


def gguf(layers, is_split):
    """As llama.cpp's converter: kv_b whole, or (newer) apart, each head's key part transposed."""
    arrays = {"token_embd.weight": np.ones((VOCABULARY, WIDTH)), "output_norm.weight": np.full(WIDTH, 3.0)}
    for index, low in enumerate(layers):
        start = f"blk.{index}."
        whole = np.concatenate(
            [np.concatenate([low.key_b[head], low.value_b[head]]) for head in range(HEADS)]
        )
        apart = whole.reshape(HEADS, NOPE + VALUE, RANK)
        arrays |= {
            f"{start}attn_norm.weight": low.gain,
            f"{start}attn_kv_a_mqa.weight": np.concatenate([low.kv_a, low.shared]),
            f"{start}attn_kv_a_norm.weight": low.gain_inside,
            f"{start}attn_output.weight": np.concatenate(list(low.output), axis=1),
            f"{start}ffn_norm.weight": low.mlp_gain,
        }
        split = {"attn_k_b": apart[:, :NOPE].swapaxes(1, 2), "attn_v_b": apart[:, NOPE:]}
        latent = split if is_split else {"attn_kv_b": whole}
        arrays |= {f"{start}{name}.weight": array for name, array in latent.items()}
        arrays |= queries(low, start, ("attn_q", "attn_q_a", "attn_q_a_norm", "attn_q_b"))
        for place, key in enumerate(("gate", "up", "down")):
            stacked = np.stack([mlp[place] for mlp in low.mlps[:EXPERTS]])
            experts = {
                f"ffn_{key}_exps": stacked,
                f"ffn_{key}_shexp": low.mlps[3][place],
                "ffn_gate_inp": low.router,
            }
            found = experts if index else {f"ffn_{key}": low.mlps[0][place]}
            arrays |= {f"{start}{name}.weight": array for name, array in found.items()}
    return arrays


def metadata(values):
    return {
        "general.architecture": "deepseek2",
        **{f"deepseek2.{name}": value for name, value in values.items()},
    }


def compare(stored, layout, layers):
    assert len(layout.attention) == HEADS * len(layers)
    for head in layout.attention:
        for is_folded in (False, True):
            query, key, value = (
                read_map(stored, part, is_folded) for part in (head.query, head.key, head.value)
            )
            output = view_matrix(stored, head.output).dense()
            qk, ov = layers[head.layer].kernels(head.index, is_folded)
            np.testing.assert_allclose(query.T @ key, qk, atol=1e-12)
            np.testing.assert_allclose(output @ value, ov, atol=1e-12)


@pytest.mark.parametrize("has_query_rank", [True, False])
@pytest.mark.parametrize("how", ["hf", "gguf whole", "gguf apart"])
def test_every_head_is_read(how, has_query_rank):
    layers = [Low(has_query_rank, seed) for seed in (1, 2)]
    stored = (
        checkpoint(hf(layers), CONFIG)
        if how == "hf"
        else checkpoint(
            gguf(layers, is_split=how == "gguf apart"), metadata(NEW if how == "gguf apart" else OLD), "gguf"
        )
    )
    layout = find_layout(stored)
    compare(stored, layout, layers)
    sizes = layout.layers, layout.heads, layout.kv_heads, layout.head_dim, layout.width
    assert sizes == (2, HEADS, HEADS, NOPE + ROPE, WIDTH)
    rope = layout.attention[0].rope
    assert (rope.rates, rope.pairs, rope.first) == ((1.0,), "adjacent", NOPE)
    assert len(layout.notes) == (how == "gguf apart")


@pytest.mark.parametrize("how", ["hf", "gguf"])
def test_every_matrix_is_read(how):
    layers = [Low(seed=seed) for seed in (1, 2)]
    is_gguf = how == "gguf"
    stored = (
        checkpoint(gguf(layers, is_split=False), metadata(OLD), "gguf")
        if is_gguf
        else checkpoint(hf(layers), CONFIG)
    )
    layout, low = find_layout(stored), layers[1]
    latent = np.concatenate([low.kv_a, low.shared])
    compare_weight(stored, one(layout, "W_Q_a", 1), low.query_a, low.query_a * low.gain)
    compare_weight(stored, one(layout, "W_KV_a", 1), latent, latent * low.gain)
    rows = np.concatenate(list(low.query_b))
    compare_weight(stored, one(layout, "W_Q_b", 1), rows, rows * low.query_gain)
    assert [one(layout, kind, 1).stream for kind in ("W_Q_a", "W_Q_b", "W_KV_a", "W_KV_b", "W_O")] == [
        "in", "none", "in", "none", "out"
    ]  # fmt: skip
    compare_weight(stored, one(layout, "W_router", 1), low.router, low.router * low.mlp_gain)
    for mark, places in (("", range(EXPERTS)), ("_shared", [3])):
        for name, place in (("gate", 0), ("up", 1), ("down", 2)):
            found = [one for one in layout.weights if (one.layer, one.type) == (1, f"W_{name}{mark}")]
            for weight, place_of in zip(found, places, strict=True):
                plain = low.mlps[place_of][place]
                compare_weight(stored, weight, plain, plain * (1 if name == "down" else low.mlp_gain))
    assert one(layout, "W_gate", 0).expert is None
    assert ("W_U" in {weight.type for weight in layout.weights}) == (not is_gguf)


def test_the_other_order_of_keys_and_values_does_not_pass():
    layers = [Low(seed=seed) for seed in (1, 2)]
    stored = checkpoint(hf(layers, order=("value_b", "key_b")), CONFIG)
    with pytest.raises(AssertionError):
        compare(stored, find_layout(stored), layers)


def test_keys_that_are_not_transposed_do_not_pass():
    layers = [Low(seed=seed) for seed in (1, 2)]
    arrays = gguf(layers, is_split=True)
    name = "blk.0.attn_k_b.weight"
    arrays[name] = arrays[name].swapaxes(1, 2).reshape(arrays[name].shape)
    stored = checkpoint(arrays, metadata(NEW), "gguf")
    with pytest.raises(AssertionError):
        compare(stored, find_layout(stored), layers)


def test_rotations_are_scaled_and_paired_as_the_configuration_says():
    yarn = {
        "type": "yarn",
        "factor": 40,
        "original_max_position_embeddings": 4,
        "beta_fast": 32,
        "beta_slow": 1,
    }
    layers = [Low(seed=1), Low(seed=2)]
    config = {**CONFIG, "rope_interleave": False, "rope_scaling": yarn}
    rope = find_layout(checkpoint(hf(layers), config)).attention[0].rope
    assert (rope.pairs, len(rope.rates)) == ("halves", 1)


def test_layers_after_the_last_stand_under_their_own_names():
    arrays = hf([Low(seed=1), Low(seed=2)])
    arrays["model.layers.2.eh_proj.weight"] = np.ones((WIDTH, 2 * WIDTH))
    layout = find_layout(checkpoint(arrays, CONFIG))
    assert layout.layers == 2
    assert layout.weights[-1].type == "model.layers.#.eh_proj.weight"
    assert "no role" in layout.notes[-1]


def test_biases_of_the_latents_are_told():
    arrays = hf([Low(seed=1), Low(seed=2)])
    arrays["model.layers.0.self_attn.kv_a_proj_with_mqa.bias"] = np.ones(RANK + ROPE)
    assert "not part of the kernels" in find_layout(checkpoint(arrays, CONFIG)).notes[0]


def test_a_key_shorter_than_its_turned_part_is_one_sentence():
    lying = metadata({**OLD, "attention.key_length": ROPE})
    with pytest.raises(
        UserError, match=r"'rope\.dimension_count' must be below the key length 2, but it is 2"
    ):
        find_layout(checkpoint(gguf([Low(seed=1), Low(seed=2)], is_split=False), lying, "gguf"))
