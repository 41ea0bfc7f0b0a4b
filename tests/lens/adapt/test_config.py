"""Typed values: the first name that is there, and one sentence for anything else."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.adapt.config import (
    CheckpointConfig,
    list_architecture_names,
    normalize_architecture,
    read_model_config,
)
from glassformer.lens.read.checkpoint import Checkpoint

CONFIG = CheckpointConfig(
    {"n": 3, "listed": [1, 2], "array": np.array([4, 5]), "no": None, "rate": 0.5}, "config.json"
)


def test_the_first_name_that_is_there_counts() -> None:
    assert CONFIG.count("no", "missing", "n") == 3
    assert CONFIG.count("missing", default=7) == 7
    assert CONFIG.number("rate") == 0.5
    assert CONFIG.word("n", default="x") == "x"
    assert CONFIG.flag("n") and not CONFIG.flag("missing")


def test_one_number_is_for_all_layers() -> None:
    assert CONFIG.counts(3, "n") == (3, 3, 3)
    assert CONFIG.counts(2, "listed") == (1, 2)
    assert CONFIG.counts(2, "array") == (4, 5)
    with pytest.raises(UserError, match="'listed' has 2 values for 3 layers"):
        CONFIG.counts(3, "listed")


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "8", [8], {"a": 1}, 2**60])
def test_a_count_is_a_whole_number_above_0(value: object) -> None:
    with pytest.raises(UserError, match="'heads'"):
        CheckpointConfig({"heads": value}, "config.json").count("heads")


@pytest.mark.parametrize(
    "value", [0, -1.0, True, float("nan"), float("inf"), 1e308, pytest.param(2**2000, id="huge"), "1"]
)
def test_a_number_is_finite_and_above_0(value: object) -> None:
    with pytest.raises(UserError, match="'base' must be a number from 1e-12"):
        CheckpointConfig({"base": value}, "config.json").number("base")


def test_a_missing_value_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"config\.json does not say 'heads', which its architecture needs"):
        CheckpointConfig({}, "config.json").count("heads")


def test_a_nested_configuration_goes_first() -> None:
    config = {"model_type": "llava", "width": 1, "text_config": {"model_type": "llama", "width": 2}}
    checkpoint = Checkpoint("x", "x", "safetensors", config, {}, "")
    assert read_model_config(checkpoint).count("width") == 2
    assert list_architecture_names(checkpoint)[0] == "llama"


def test_gguf_values_lose_their_architecture() -> None:
    config = {"general.architecture": "llama", "llama.block_count": 4}
    checkpoint = Checkpoint("x", "x", "gguf", config, {}, "")
    assert read_model_config(checkpoint).count("block_count") == 4
    assert list_architecture_names(checkpoint) == ("llama",)


def test_classes_and_types_are_the_same_name() -> None:
    for kind, name in (
        ("Qwen2MoeForCausalLM", "qwen2_moe"),
        ("BloomModel", "bloom"),
        ("OPTForCausalLM", "opt"),
    ):
        assert normalize_architecture(kind) == normalize_architecture(name)


def test_odd_configurations_do_not_crash() -> None:
    config = {"model_type": 3, "architectures": "LlamaForCausalLM", "text_config": [1]}
    assert list_architecture_names(Checkpoint("x", "x", "safetensors", config, {}, "")) == ()
