"""The right adapter by every name an architecture goes by; nothing is left out, nothing is guessed."""

from typing import Any

import numpy as np
import pytest

from glassformer.lens.adapt.families import GGUF, HF
from glassformer.lens.adapt.find import ADAPTERS, DECODER, GGUF_ADAPTERS, find_layout, load_adapter
from glassformer.lens.matrix import view_matrix
from glassformer.lens.read.gguf import open_gguf
from tests.lens.adapt.written import Arrays, hf_config, hf_tensors, random_model, stored
from tests.lens.real_weights import smollm2

MODEL = random_model()


def test_every_place_in_the_tables_is_a_function() -> None:
    for place in {*ADAPTERS.values(), *GGUF_ADAPTERS.values()}:
        assert callable(load_adapter(place))


def test_every_family_is_in_the_tables() -> None:
    assert {name for name, place in ADAPTERS.items() if place == DECODER} == set(HF)
    assert {name for name, place in GGUF_ADAPTERS.items() if place == DECODER} == set(GGUF)


@pytest.mark.parametrize("said", [{"model_type": "qwen3"}, {"architectures": ["Qwen3ForCausalLM"]}])
def test_an_architecture_is_known_by_its_type_or_its_class(said: dict[str, Any]) -> None:
    config = {name: value for name, value in hf_config("qwen3").items() if name != "model_type"}
    layout = find_layout(stored(hf_tensors(MODEL, "qwen3"), {**config, **said}, "safetensors"))
    assert (layout.layers, layout.heads, layout.kv_heads, layout.head_dim, layout.width) == (2, 4, 2, 6, 10)
    assert layout.notes == ()


def test_matrices_without_a_role_stand_under_their_own_names() -> None:
    tensors: Arrays = hf_tensors(MODEL, "llama")
    tensors["model.layers.1.adapter.weight"] = np.arange(12.0).reshape(3, 4)
    tensors["model.layers.1.adapter.scale"] = np.ones(4)
    tensors["model.layers.1.attn.bias"] = np.tri(5)[None, None]  # a causal mask is no weight
    layout = find_layout(stored(tensors, hf_config("llama"), "safetensors"))
    (rest,) = [weight for weight in layout.weights if not weight.type.startswith("W_")]
    assert (rest.layer, rest.type, rest.stream) == (1, "model.layers.#.adapter.weight", "none")
    assert len(layout.attention) == 8
    (note,) = layout.notes
    assert note == (
        "matrices with no role in this architecture, by their own names: "
        "'model.layers.#.adapter.weight' (1 in all)"
    )


@pytest.mark.parametrize(
    ("config", "kind", "note"),
    [
        ({}, "safetensors", "config.json is missing, so the architecture is not known"),
        ({"hidden_size": 4}, "safetensors", "does not say the architecture ('model_type' is missing)"),
        ({"model_type": "rwkv6"}, "safetensors", "no adapter for architecture 'rwkv6'"),
        ({"general.architecture": "rwkv6"}, "gguf", "no adapter for architecture 'rwkv6'"),
        ({"general.name": "x"}, "gguf", "'general.architecture' is missing"),
    ],
)
def test_an_unknown_architecture_has_every_matrix_and_no_head(
    config: dict[str, Any], kind: str, note: str
) -> None:
    checkpoint = stored(hf_tensors(MODEL, "llama"), config, kind)
    layout = find_layout(checkpoint)
    assert note in layout.notes[0]
    assert layout.notes[0].endswith(": every matrix's spectrum, but no heads")
    assert (layout.heads, layout.attention, layout.layers) == (0, (), 2)
    found = {weight.view.tensor: view_matrix(checkpoint, weight.view).dense() for weight in layout.weights}
    wanted = {name: tensor for name, tensor in checkpoint.tensors.items() if tensor.is_matrix}
    assert found.keys() == wanted.keys()
    assert all(np.array_equal(found[name], wanted[name].block()) for name in found)


def test_smollm2_is_a_llama_with_shared_keys() -> None:
    layout = find_layout(open_gguf(smollm2()))
    assert (layout.layers, layout.heads, layout.kv_heads, layout.head_dim, layout.width) == (
        30,
        9,
        3,
        64,
        576,
    )
    assert layout.notes == ()
    assert layout.attention[8].rope and layout.attention[8].rope.pairs == "adjacent"
