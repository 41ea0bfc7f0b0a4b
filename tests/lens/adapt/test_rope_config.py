"""The rotation of each layer, said in the words of transformers 4, of transformers 5 and of GGUF."""

from typing import Any

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.adapt.config import CheckpointConfig
from glassformer.lens.adapt.rope_config import list_layer_types, read_config_ropes, read_gguf_ropes
from glassformer.lens.layout import RopeLayout
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor

FULL, SLIDING = "full_attention", "sliding_attention"


def second_rates(said: dict[str, Any], types: list[str]) -> list[float]:
    """The rate of the second of two pairs, by layer."""
    ropes, notes = read_config_ropes(CheckpointConfig(said, "config.json"), types, 4, "halves")
    assert notes == ()
    return [round(rope.rates[1], 9) for rope in ropes if rope]


@pytest.mark.parametrize(
    "said",
    [
        {"rope_theta": 100.0, "rope_scaling": {"type": "linear", "factor": 5.0}},
        {"rope_theta": 100.0, "rope_scaling": {"rope_type": "linear", "factor": 5.0}},
        {"rope_parameters": {"rope_theta": 100.0, "rope_type": "linear", "factor": 5.0}},
        {"rope_theta": 7.0, "rope_parameters": {"rope_theta": 100.0, "rope_type": "linear", "factor": 5.0}},
    ],
)
def test_old_and_new_words_for_one_rotation(said: dict[str, Any]) -> None:
    assert second_rates(said, [FULL]) == [0.02]


@pytest.mark.parametrize(
    "said",
    [
        {"rope_theta": 1e4, "rope_local_base_freq": 100.0, "rope_scaling": {"type": "linear", "factor": 8.0}},
        {
            "rope_parameters": {
                FULL: {"rope_theta": 1e4, "rope_type": "linear", "factor": 8.0},
                SLIDING: {"rope_theta": 100.0, "rope_type": "default"},
            },
            "rope_theta": 3.0,
            "rope_local_base_freq": 5.0,
        },
    ],
)
def test_sliding_layers_can_have_a_base_of_their_own(said: dict[str, Any]) -> None:
    assert second_rates(said, [SLIDING, FULL]) == [0.1, 0.00125]


def test_only_part_of_a_head_can_turn() -> None:
    for said in ({"partial_rotary_factor": 0.5}, {"rope_parameters": {"partial_rotary_factor": 0.5}}):
        (rope,), _ = read_config_ropes(CheckpointConfig(said, "config.json"), [FULL], 8, "halves")
        assert rope and len(rope.rates) == 2
    with pytest.raises(UserError, match="turns 3 dimensions of a head that has 6"):
        read_config_ropes(
            CheckpointConfig({"partial_rotary_factor": 0.5}, "config.json"), [FULL], 6, "halves"
        )


def test_types_of_layers() -> None:
    assert list_layer_types(CheckpointConfig({"layer_types": [FULL, SLIDING]}, ""), 2) == [FULL, SLIDING]
    assert list_layer_types(CheckpointConfig({"sliding_window_pattern": 3}, ""), 4) == [
        SLIDING,
        SLIDING,
        FULL,
        SLIDING,
    ]
    assert list_layer_types(CheckpointConfig({"attention.sliding_window_pattern": [True, False]}, ""), 2) == [
        SLIDING,
        FULL,
    ]
    assert list_layer_types(CheckpointConfig({}, ""), 2) == [FULL, FULL]
    with pytest.raises(UserError, match="the types of 1 layers are said, but there are 2"):
        list_layer_types(CheckpointConfig({"layer_types": [FULL]}, ""), 2)


def gguf(said: dict[str, Any], tensors: dict[str, np.ndarray] | None = None) -> RopeLayout | None:
    held = {name: make_memory_tensor(name, array) for name, array in (tensors or {}).items()}
    checkpoint = Checkpoint("x", "x", "gguf", said, held, "")
    return read_gguf_ropes(CheckpointConfig(said, "x"), checkpoint, [FULL], 4, "adjacent")[0][0]


def test_gguf_metadata() -> None:
    assert gguf({}) == RopeLayout((1.0, 0.01), "adjacent")
    assert gguf({"rope.freq_base": 100.0, "rope.dimension_count": 2}) == RopeLayout((1.0,), "adjacent")
    scaled = {"rope.freq_base": 100.0, "rope.scaling.type": "linear", "rope.scaling.factor": 2.0}
    assert gguf(scaled) == RopeLayout((0.5, 0.05), "adjacent")
    assert gguf({"rope.scaling.type": "spiral"}) is None


@pytest.mark.parametrize("name", ["rope_freqs.weight", "rope_factors_short.weight"])
def test_factors_in_a_gguf_file_divide_the_rates(name: str) -> None:
    said = {"rope.freq_base": 100.0, "rope.scaling.type": "longrope"}
    assert gguf(said, {name: np.array([1.0, 8.0])}) == RopeLayout((1.0, 0.0125), "adjacent")
    with pytest.raises(UserError, match="must hold 2 numbers above 0"):
        gguf(said, {name: np.ones(3)})
