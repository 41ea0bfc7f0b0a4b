"""The rotation of each layer, said in the words of transformers 4, of transformers 5 and of GGUF."""

from typing import Any

import numpy as np
import pytest

from glassformer.errors import UserError
from glassformer.spectra.adapt.config import Config
from glassformer.spectra.adapt.rope_config import gguf_ropes, layer_ropes, layer_types
from glassformer.spectra.layout import Rope
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.read.tensor import in_memory

FULL, SLIDING = "full_attention", "sliding_attention"


def second_rates(said: dict[str, Any], types: list[str]) -> list[float]:
    """The rate of the second of two pairs, by layer."""
    ropes, notes = layer_ropes(Config(said, "config.json"), types, 4, "halves")
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
        (rope,), _ = layer_ropes(Config(said, "config.json"), [FULL], 8, "halves")
        assert rope and len(rope.rates) == 2
    with pytest.raises(UserError, match="turns 3 dimensions of a head that has 6"):
        layer_ropes(Config({"partial_rotary_factor": 0.5}, "config.json"), [FULL], 6, "halves")


def test_types_of_layers() -> None:
    assert layer_types(Config({"layer_types": [FULL, SLIDING]}, ""), 2) == [FULL, SLIDING]
    assert layer_types(Config({"sliding_window_pattern": 3}, ""), 4) == [SLIDING, SLIDING, FULL, SLIDING]
    assert layer_types(Config({"attention.sliding_window_pattern": [True, False]}, ""), 2) == [SLIDING, FULL]
    assert layer_types(Config({}, ""), 2) == [FULL, FULL]
    with pytest.raises(UserError, match="the types of 1 layers are said, but there are 2"):
        layer_types(Config({"layer_types": [FULL]}, ""), 2)


def gguf(said: dict[str, Any], tensors: dict[str, np.ndarray] | None = None) -> Rope | None:
    held = {name: in_memory(name, array) for name, array in (tensors or {}).items()}
    checkpoint = Checkpoint("x", "x", "gguf", said, held, "")
    return gguf_ropes(Config(said, "x"), checkpoint, [FULL], 4, "adjacent")[0][0]


def test_gguf_metadata() -> None:
    assert gguf({}) == Rope((1.0, 0.01), "adjacent")
    assert gguf({"rope.freq_base": 100.0, "rope.dimension_count": 2}) == Rope((1.0,), "adjacent")
    scaled = {"rope.freq_base": 100.0, "rope.scaling.type": "linear", "rope.scaling.factor": 2.0}
    assert gguf(scaled) == Rope((0.5, 0.05), "adjacent")
    assert gguf({"rope.scaling.type": "spiral"}) is None


@pytest.mark.parametrize("name", ["rope_freqs.weight", "rope_factors_short.weight"])
def test_factors_in_a_gguf_file_divide_the_rates(name: str) -> None:
    said = {"rope.freq_base": 100.0, "rope.scaling.type": "longrope"}
    assert gguf(said, {name: np.array([1.0, 8.0])}) == Rope((1.0, 0.0125), "adjacent")
    with pytest.raises(UserError, match="must hold 2 numbers above 0"):
        gguf(said, {name: np.ones(3)})
