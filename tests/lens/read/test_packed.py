"""Packed weights are refused by name."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from tests.lens.read.opened import opened

BYTES, WORDS = np.ones((4, 1), np.uint8), np.ones((4, 4), np.int32)


@pytest.mark.parametrize(
    "tensors, config, name",
    [
        ({"a.qweight": WORDS, "a.qzeros": WORDS, "a.g_idx": WORDS}, "{}", "GPTQ"),
        ({"a.qweight": WORDS, "a.qzeros": WORDS, "a.scales": WORDS}, "{}", "AWQ"),
        (
            {"a.qweight": WORDS, "a.qzeros": WORDS},
            '{"quantization_config": {"quant_method": "gptq"}}',
            "GPTQ",
        ),
        (
            {"a.weight": BYTES, "a.weight.absmax": BYTES, "a.weight.quant_state.bitsandbytes__nf4": BYTES},
            "{}",
            r"bitsandbytes \(nf4\)",
        ),
        ({"a.weight": WORDS.astype(np.int8), "a.SCB": BYTES}, "{}", r"bitsandbytes \(int8\)"),
        ({"a.weight_packed": WORDS}, "{}", "compressed-tensors"),
        ({"a.gate_up_proj_blocks": BYTES, "a.gate_up_proj_scales": BYTES}, "{}", "MXFP4"),
        ({"a.weight": BYTES}, '{"quantization_config": 3}', "an unknown format of integers"),
    ],
)
def test_packed_weights_are_refused_by_name(tmp_path, tensors, config, name):
    with pytest.raises(UserError, match=rf"packed by {name}, but unpacked weights are expected"):
        opened(tmp_path, tensors, config)
