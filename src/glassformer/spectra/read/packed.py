"""Weights that are packed into integers: refused by the name of their format.

>>> import numpy as np
>>> from glassformer.spectra.read.tensor import in_memory
>>> tensors = {name: in_memory(name, np.eye(2)) for name in ("a.qweight", "a.qzeros", "a.g_idx")}
>>> refuse_packed(tensors, {})
Traceback (most recent call last):
glassformer.errors.UserError: memory holds 'a.qweight' packed by GPTQ, but unpacked weights are expected
"""

from collections.abc import Iterable, Mapping
from typing import Any

from glassformer.errors import UserError
from glassformer.spectra.read.tensor import INTEGERS, Tensor

MARKS = (  # the end of a tensor's name and what packs so; the first that fits is said
    (".quant_state.bitsandbytes__nf4", "bitsandbytes (nf4)"),
    (".quant_state.bitsandbytes__fp4", "bitsandbytes (fp4)"),
    (".absmax", "bitsandbytes (4 bits)"),
    (".SCB", "bitsandbytes (int8)"),
    (".weight_packed", "compressed-tensors"),
    (".weight_scale_2", "NVFP4"),
    ("_blocks", "MXFP4"),
    (".W_q", "HQQ"),
)
METHODS = {"gptq": "GPTQ", "awq": "AWQ", "bitsandbytes": "bitsandbytes", "mxfp4": "MXFP4", "hqq": "HQQ"}


def refuse_packed(tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> None:
    """One sentence that names the format, where some weight is packed."""
    for name, tensor in tensors.items():
        is_integer_weight = tensor.dtype in INTEGERS and name.endswith((".weight", "_blocks"))
        if is_integer_weight or name.endswith((".qweight", ".weight_packed", ".W_q")):
            raise UserError(
                f"{tensor.place} holds '{name}' packed by {format_of(tensors, config)},"
                " but unpacked weights are expected"
            )


def format_of(tensors: Iterable[str], config: Mapping[str, Any]) -> str:
    """The format's name: as the configuration says, else by the tensors that go with it."""
    quantization = config.get("quantization_config")
    method = quantization.get("quant_method") if isinstance(quantization, dict) else None
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]
    names = list(tensors)
    for end, title in MARKS:
        if any(name.endswith(end) for name in names):
            return title
    if any(name.endswith(".qweight") for name in names):
        return "GPTQ" if any(name.endswith(".g_idx") for name in names) else "AWQ"
    return "an unknown format of integers"
