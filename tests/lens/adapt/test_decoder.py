"""Every family's heads and matrices come back as they were before packing; a wrong packing does not."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.adapt.decoder import read_decoder
from glassformer.lens.adapt.find import find_layout
from glassformer.lens.read.checkpoint import Checkpoint
from tests.lens.adapt.compared import differences
from tests.lens.adapt.written import (
    DIMS,
    HEADS,
    Arrays,
    gguf_config,
    gguf_tensors,
    hf_config,
    hf_tensors,
    random_model,
    stored,
)

PLAIN = {"norms before", "final"}
MODEL = random_model()
HF = {
    "llama": PLAIN,
    "mistral": PLAIN,
    "qwen2": PLAIN | {"biases"},
    "qwen3": PLAIN | {"head norms"},
    "gemma": PLAIN,
    "gemma2": PLAIN | {"norms after"},
    "gemma3_text": PLAIN | {"norms after", "head norms", "local bases"},
    "phi3": PLAIN,
    "olmo": set[str](),
    "olmo2": {"norms after", "whole norms", "final"},
    "mixtral": PLAIN | {"experts"},
    "qwen2_moe": PLAIN | {"biases", "experts", "shared"},
    "qwen3_moe": PLAIN | {"head norms", "experts"},
}
GGUF = {
    "llama": PLAIN | {"adjacent"},
    "qwen2": PLAIN | {"biases"},
    "qwen3": PLAIN | {"head norms"},
    "gemma": PLAIN,
    "gemma2": PLAIN | {"norms after"},
    "gemma3": PLAIN | {"norms after", "head norms", "local bases"},
    "phi3": PLAIN,
    "olmo": {"adjacent"},
    "olmo2": {"norms after", "whole norms", "final"},
    "qwen2moe": PLAIN | {"biases", "experts", "shared"},
    "qwen3moe": PLAIN | {"head norms", "experts"},
}
LOCAL = {"gemma3_text", "gemma3"}  # sliding layers have a base of their own


def hf(family: str) -> Checkpoint:
    config = hf_config(family)
    if family not in LOCAL:
        del config["rope_local_base_freq"]
    return stored(hf_tensors(MODEL, family), config, "safetensors")


def gguf(family: str) -> Checkpoint:
    config = gguf_config(family)
    if family not in LOCAL:
        del config[f"{family}.rope.freq_base_swa"]
    return stored(gguf_tensors(MODEL, family), config, "gguf")


@pytest.mark.parametrize("family", HF)
def test_hf_names(family: str) -> None:
    assert differences(hf(family), MODEL, HF[family]) == []


@pytest.mark.parametrize("family", GGUF)
def test_gguf_names(family: str) -> None:
    assert differences(gguf(family), MODEL, GGUF[family]) == []


def with_tensors(checkpoint: Checkpoint, change: Callable[[Arrays], None]) -> Checkpoint:
    tensors = {name: tensor.block().reshape(tensor.shape) for name, tensor in checkpoint.tensors.items()}
    change(tensors)
    return stored(tensors, dict(checkpoint.config), checkpoint.kind)


def interleaved(array: np.ndarray) -> np.ndarray:
    """The first row of every head, then the second of every head."""
    return array.reshape(HEADS, DIMS, -1).swapaxes(0, 1).reshape(array.shape)


def interleave_queries(tensors: Arrays) -> None:
    for name in [name for name in tensors if name.endswith(("q_proj.weight", "attn_q.weight"))]:
        tensors[name] = interleaved(tensors[name])


def interleave_outputs(tensors: Arrays) -> None:
    for name in [name for name in tensors if name.endswith(("o_proj.weight", "attn_output.weight"))]:
        tensors[name] = interleaved(tensors[name].T).T


def swap_keys_and_values(tensors: Arrays) -> None:
    for name in [name for name in tensors if name.endswith(("k_proj.weight", "attn_k.weight"))]:
        other = name.replace("k_proj", "v_proj").replace("attn_k", "attn_v")
        tensors[name], tensors[other] = tensors[other], tensors[name]


def next_head_queries(tensors: Arrays) -> None:
    for name in [name for name in tensors if name.endswith(("q_proj.weight", "attn_q.weight"))]:
        tensors[name] = np.roll(tensors[name], DIMS, axis=0)


WRONG = {
    "QK": (interleave_queries, swap_keys_and_values, next_head_queries),
    "OV": (interleave_outputs, swap_keys_and_values),
}


@pytest.mark.parametrize("make", [hf, gguf])
@pytest.mark.parametrize(
    ("kernel", "change"), [(kernel, change) for kernel in WRONG for change in WRONG[kernel]]
)
def test_wrong_layouts_are_told(
    make: Callable[[str], Checkpoint], kernel: str, change: Callable[[Arrays], None]
) -> None:
    for family in ("llama", "qwen3", "olmo2"):
        has = (HF if make is hf else GGUF)[family]
        found = differences(with_tensors(make(family), change), MODEL, has)
        assert sum(name.startswith(kernel) for name in found) >= 6, family


@pytest.mark.parametrize("make", [hf, gguf])
def test_fused_rows_in_another_order_are_told(make: Callable[[str], Checkpoint]) -> None:
    def turn_round(tensors: Arrays) -> None:
        for name in [name for name in tensors if "qkv" in name or "gate_up" in name or "ffn_up" in name]:
            tensors[name] = tensors[name][::-1]

    found = differences(with_tensors(make("phi3"), turn_round), MODEL, PLAIN)
    assert {name.split()[0] for name in found} >= {"QK", "OV", "W_Q", "W_gate", "W_up"}


def test_experts_in_another_order_are_told() -> None:
    def roll(tensors: Arrays) -> None:
        tensors["blk.1.ffn_up_exps.weight"] = np.roll(tensors["blk.1.ffn_up_exps.weight"], 1, axis=0)

    found = differences(with_tensors(gguf("qwen3moe"), roll), MODEL, GGUF["qwen3moe"])
    assert sorted(found) == ["W_up 1 0", "W_up 1 1", "W_up 1 2"]


def test_experts_stacked_or_apart() -> None:
    """transformers 5 in memory stacks gate and up of all experts; old GGUF files have three tensors an expert."""

    def stack(tensors: Arrays) -> None:
        for layer in range(2):
            place = f"model.layers.{layer}.mlp.experts"
            parts = {
                kind: [tensors.pop(f"{place}.{expert}.{kind}_proj.weight") for expert in range(3)]
                for kind in ("gate", "up", "down")
            }
            both = [np.concatenate(pair) for pair in zip(parts["gate"], parts["up"], strict=True)]
            tensors[f"{place}.gate_up_proj"] = np.stack(both)
            tensors[f"{place}.down_proj"] = np.stack(parts["down"])

    def unstack(tensors: Arrays) -> None:
        for name in [name for name in tensors if "_exps" in name]:
            for expert, array in enumerate(tensors.pop(name)):
                tensors[name.replace("_exps", f".{expert}")] = array

    assert differences(with_tensors(hf("qwen3_moe"), stack), MODEL, HF["qwen3_moe"]) == []
    assert differences(with_tensors(gguf("qwen3moe"), unstack), MODEL, GGUF["qwen3moe"]) == []


@pytest.mark.parametrize("prefix", ["language_model.model.", "model.language_model.", ""])
def test_prefixes_and_nested_configurations(prefix: str) -> None:
    def rename(tensors: Arrays) -> None:
        for name in list(tensors):
            tensors[prefix + name.removeprefix("model.") if name.startswith("model.") else name] = (
                tensors.pop(name)
            )

    renamed = with_tensors(hf("llama"), rename)
    nested = replace(renamed, config={"model_type": "llava", "text_config": dict(renamed.config)})
    assert differences(nested, MODEL, PLAIN) == []


def test_tied_embeddings_have_no_unembedding() -> None:
    def tie(tensors: Arrays) -> None:
        del tensors["lm_head.weight"]

    layout = find_layout(with_tensors(hf("llama"), tie))
    assert [weight.type for weight in layout.weights if weight.layer is None] == ["W_E"]


def test_heads_can_differ_from_layer_to_layer() -> None:
    def drop_heads(tensors: Arrays) -> None:
        tensors["blk.1.attn_q.weight"] = tensors["blk.1.attn_q.weight"][: 2 * DIMS]
        tensors["blk.1.attn_output.weight"] = tensors["blk.1.attn_output.weight"][:, : 2 * DIMS]

    checkpoint = with_tensors(gguf("qwen3"), drop_heads)
    config = {
        **checkpoint.config,
        "qwen3.attention.head_count": [4, 2],
        "qwen3.attention.head_count_kv": [2, 2],
    }
    layout = read_decoder(replace(checkpoint, config=config))
    assert [(head.layer, head.index, head.kv_index) for head in layout.attention][3:] == [
        (0, 3, 1),
        (1, 0, 0),
        (1, 1, 1),
    ]


BAD = {
    "head_dim": (5, "'model.layers.0.self_attn.q_proj.weight' is 24 x 10, but the configuration (4 heads and 2 key "
                    "heads of 5, width 10) makes it 20 x 10"),
    "num_attention_heads": (6, "'model.layers.0.self_attn.q_proj.weight' is 24 x 10"),
    "num_key_value_heads": (3, "4 heads cannot share 3 key heads evenly"),
    "num_hidden_layers": (3, "layer 2 of 3 is incomplete, 'model.layers.2.self_attn.o_proj.weight' is missing"),
    "hidden_size": (12, "'model.layers.0.input_layernorm.weight' is 10, but the configuration (its width) makes it 12"),
}  # fmt: skip


@pytest.mark.parametrize("field", BAD)
def test_a_configuration_that_disagrees_is_one_sentence(field: str) -> None:
    value, sentence = BAD[field]
    checkpoint = hf("llama")
    with pytest.raises(UserError) as caught:
        find_layout(replace(checkpoint, config={**checkpoint.config, field: value}))
    assert sentence in str(caught.value)


def test_more_layers_than_the_configuration_says() -> None:
    checkpoint = hf("llama")
    with pytest.raises(
        UserError, match=r"says 1 layers, but there is a 'model\.layers\.1\.self_attn\.o_proj\.weight'"
    ):
        find_layout(replace(checkpoint, config={**checkpoint.config, "num_hidden_layers": 1}))


def test_the_width_is_shared_where_no_head_size_is_said() -> None:
    checkpoint = hf("llama")
    config = {name: value for name, value in checkpoint.config.items() if name != "head_dim"}
    with pytest.raises(UserError, match="4 heads and 2 key heads of 2, width 10"):
        find_layout(replace(checkpoint, config=config))


def test_an_unknown_scaling_leaves_rotations_out_with_a_note() -> None:
    checkpoint = hf("llama")
    layout = find_layout(
        replace(checkpoint, config={**checkpoint.config, "rope_scaling": {"type": "spiral"}})
    )
    assert {head.rope for head in layout.attention} == {None}
    assert layout.notes == ("rotations were not read: their scaling 'spiral' is not known here",)
