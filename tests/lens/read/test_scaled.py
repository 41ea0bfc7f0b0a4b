import ml_dtypes
import numpy as np
import pytest

from glassformer.core.errors import UserError
from tests.lens.read.opened import opened

RNG = np.random.default_rng(0)
WEIGHT = RNG.standard_normal((300, 200)).astype(ml_dtypes.float8_e4m3fn)


@pytest.mark.parametrize(
    "side, config", [(128, "{}"), (64, '{"quantization_config": {"weight_block_size": [64, 64]}}')]
)
def test_blocks_with_a_scale_each(tmp_path, side, config):
    scale = RNG.uniform(0.5, 2, (-(-300 // side), -(-200 // side))).astype(np.float32)
    checkpoint = opened(
        tmp_path, {"w.weight": WEIGHT, "w.weight_scale_inv": scale, "n": np.ones(3, np.float32)}, config
    )
    assert set(checkpoint.tensors) == {"w.weight", "n"}
    dense = WEIGHT.astype(np.float32) * np.kron(scale, np.ones((side, side), np.float32))[:300, :200]
    tensor = checkpoint.tensors["w.weight"]
    assert np.array_equal(tensor.block(), dense)
    assert np.array_equal(tensor.block(slice(100, 270), slice(120, 140)), dense[100:270, 120:140])


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (300,), (300, 1)])
def test_one_scale_or_one_a_row(tmp_path, shape):
    scale = RNG.uniform(0.5, 2, shape).astype(np.float32)
    tensor = opened(tmp_path, {"w.weight": WEIGHT, "w.weight_scale": scale}).tensors["w.weight"]
    dense = WEIGHT.astype(np.float32) * scale.reshape(-1, 1)
    assert np.array_equal(tensor.block(slice(7, 99), slice(3, 50)), dense[7:99, 3:50])


def test_scales_that_do_not_fit(tmp_path):
    scale = np.ones((7, 2), np.float32)
    with pytest.raises(
        UserError,
        match=r"has scales \[7, 2\] for 'w.weight' of \[300, 200\]; expected are one, one per row, or \[3, 2\]",
    ):
        opened(tmp_path, {"w.weight": WEIGHT, "w.weight_scale_inv": scale})
    config = '{"quantization_config": {"weight_block_size": [0, "x"]}}'
    with pytest.raises(UserError, match=r"weight_block_size in config.json must be two positive integers"):
        opened(tmp_path, {"w.weight": WEIGHT, "w.weight_scale_inv": scale}, config)


def test_integers_that_are_no_weights_stay(tmp_path):
    tensors = {"embeddings.position_ids": np.arange(4)[None], "w.weight": np.ones((2, 2), np.float32)}
    assert set(opened(tmp_path, tensors).tensors) == set(tensors)
