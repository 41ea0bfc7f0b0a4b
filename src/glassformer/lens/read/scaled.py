"""Weights in 8 bits with scales: a number is what its byte stands for, times the scale of its block or row.

`X.weight_scale_inv` (DeepSeek) has one per block of 128 x 128, `X.weight_scale` one in all or one per row.

>>> from glassformer.lens.read.tensor import make_memory_tensor
>>> weight = make_memory_tensor("w.weight", np.ones((2, 3)))
>>> scale = make_memory_tensor("w.weight_scale", np.array([2.0, 3.0]))
>>> _scale_tensor(weight, scale, (128, 128)).block().tolist()
[[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from glassformer.core.errors import UserError
from glassformer.lens.read.tensor import Block, Tensor

_SUFFIXES = ("_scale_inv", "_scale")  # the weight is multiplied by both, whatever the first is called
_BLOCK = (128, 128)  # rows and columns that share a scale where the configuration says nothing


def apply_scales(tensors: Mapping[str, Tensor], config: Mapping[str, object]) -> dict[str, Tensor]:
    """The same tensors with scales multiplied in, and without the scales."""
    pairs = {
        name: name + suffix
        for name, tensor in tensors.items()
        for suffix in _SUFFIXES
        if tensor.dtype.startswith("F8") and name + suffix in tensors
    }
    size = _read_block_size(config) if pairs else _BLOCK
    rest = {name: tensor for name, tensor in tensors.items() if name not in pairs.values()}
    return rest | {name: _scale_tensor(tensors[name], tensors[scale], size) for name, scale in pairs.items()}


def _read_block_size(config: Mapping[str, object]) -> tuple[int, int]:
    """Rows and columns of a block with one scale."""
    quantization = config.get("quantization_config")
    size = quantization.get("weight_block_size") if isinstance(quantization, dict) else None
    if size is None:
        return _BLOCK
    if (
        not isinstance(size, list)
        or len(size) != 2
        or any(type(side) is not int or side < 1 for side in size)
    ):
        raise UserError("weight_block_size in config.json must be two positive integers")
    return size[0], size[1]


def _scale_tensor(tensor: Tensor, scale: Tensor, size: tuple[int, int]) -> Tensor:
    """The tensor times its scales; they are read when it is first read."""
    rows, columns = (max(side, 1) for side in tensor.matrix_shape)
    blocks = -(-rows // size[0]), -(-columns // size[1])
    if scale.shape in ((), (1,), (1, 1)):
        down, across = rows, columns
    elif scale.shape in ((rows,), (rows, 1)):
        down, across = 1, columns
    elif scale.shape == blocks:
        down, across = size
    else:
        raise UserError(
            f"{scale.place} has scales {list(scale.shape)} for '{tensor.name}' of {list(tensor.shape)};"
            f" expected are one, one per row, or {list(blocks)} for blocks of {list(size)}"
        )

    def read(down_to: slice, across_to: slice) -> Block:
        factors = scale.block().reshape(-(-rows // down), -(-columns // across)).astype(np.float32)
        here = factors[np.arange(down_to.start, down_to.stop) // down]
        if factors.shape[1] > 1:
            here = here[:, np.arange(across_to.start, across_to.stop) // across]
        block: Block = tensor.read(down_to, across_to) * here
        return block

    return replace(tensor, read=read)
