"""Weights that are packed into integers: refused by the name of their format.

>>> import numpy as np
>>> from glassformer.lens.read.tensor import make_memory_tensor
>>> tensors = {name: make_memory_tensor(name, np.eye(2)) for name in ("a.qweight", "a.qzeros", "a.g_idx")}
>>> refuse_packed_weights(tensors, {})
Traceback (most recent call last):
glassformer.core.errors.UserError: memory holds 'a.qweight' packed by GPTQ, but unpacked weights are expected
"""

from collections.abc import Iterable, Mapping

from glassformer.core.errors import UserError
from glassformer.lens.read.tensor import INTEGERS, Tensor

_MARKS = (  # the end of a tensor's name and what packs so; the first that fits is said
    (".quant_state.bitsandbytes__nf4", "bitsandbytes (nf4)"),
    (".quant_state.bitsandbytes__fp4", "bitsandbytes (fp4)"),
    (".absmax", "bitsandbytes (4 bits)"),
    (".SCB", "bitsandbytes (int8)"),
    (".weight_packed", "compressed-tensors"),
    (".weight_scale_2", "NVFP4"),
    ("_blocks", "MXFP4"),
    (".W_q", "HQQ"),
)
_METHODS = {"gptq": "GPTQ", "awq": "AWQ", "bitsandbytes": "bitsandbytes", "mxfp4": "MXFP4", "hqq": "HQQ"}


def refuse_packed_weights(tensors: Mapping[str, Tensor], config: Mapping[str, object]) -> None:
    """One sentence that names the format, where some weight is packed."""
    for name, tensor in tensors.items():
        is_integer_weight = tensor.dtype in INTEGERS and name.endswith((".weight", "_blocks"))
        if is_integer_weight or name.endswith((".qweight", ".weight_packed", ".W_q")):
            raise UserError(
                f"{tensor.place} holds '{name}' packed by {_find_packing_format(tensors, config)}, but "
                "unpacked weights are expected"
            )


def _find_packing_format(tensors: Iterable[str], config: Mapping[str, object]) -> str:
    """The format's name: as the configuration says, else by the tensors that go with it."""
    quantization = config.get("quantization_config")
    method = quantization.get("quant_method") if isinstance(quantization, dict) else None
    if isinstance(method, str) and method in _METHODS:
        return _METHODS[method]
    names = list(tensors)
    for end, title in _MARKS:
        if any(name.endswith(end) for name in names):
            return title
    if any(name.endswith(".qweight") for name in names):
        return "GPTQ" if any(name.endswith(".g_idx") for name in names) else "AWQ"
    return "an unknown format of integers"
