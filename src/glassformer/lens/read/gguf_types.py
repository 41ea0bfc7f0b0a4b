"""The types of tensors in a GGUF file, by number: what a block of each holds.

>>> (TYPES[12].name, TYPES[12].weights, TYPES[12].record.itemsize)
('Q4_K', 256, 144)
>>> weights = np.empty((2, 1), np.float32)
>>> TYPES[30].unpack(np.array([0x3F80, 0xC000], np.uint16), weights)  # BF16: the high half of a float32
>>> weights.ravel().tolist()
[1.0, -2.0]
"""

import numpy as np
from jaxtyping import Float

from glassformer.lens.read.gguf_blocks import SMALL_BLOCKS, BlockFormat, Blocks, Result, Weights
from glassformer.lens.read.gguf_k_blocks import K_BLOCKS


def _unpack_plain(blocks: Blocks, weights: Float[np.ndarray, "block 1"]) -> None:
    np.copyto(weights, blocks[:, None], casting="unsafe")


def _unpack_bf16(blocks: Blocks, weights: Weights) -> None:
    bits = weights.view(np.uint32)
    np.copyto(bits, blocks[:, None])
    bits <<= 16


def _make_plain_format(number: int, name: str, stored: str, result: Result = np.float32) -> BlockFormat:
    return BlockFormat(number, name, 1, np.dtype(stored), _unpack_plain, result)


def _make_unread_format(number: int, name: str, weights: int, size: int) -> BlockFormat:
    """A type that a file may hold, though its weights cannot be read here."""
    return BlockFormat(number, name, weights, np.dtype((np.void, size)), None)


_PLAIN = (
    _make_plain_format(0, "F32", "<f4"),
    _make_plain_format(1, "F16", "<f2"),
    _make_plain_format(28, "F64", "<f8", np.float64),
    _make_plain_format(24, "I8", "i1"),
    _make_plain_format(25, "I16", "<i2"),
    _make_plain_format(26, "I32", "<i4", np.float64),
    _make_plain_format(27, "I64", "<i8", np.float64),
    BlockFormat(30, "BF16", 1, np.dtype("<u2"), _unpack_bf16),
)
_UNREAD = (
    _make_unread_format(9, "Q8_1", 32, 36),
    _make_unread_format(16, "IQ2_XXS", 256, 66),
    _make_unread_format(17, "IQ2_XS", 256, 74),
    _make_unread_format(18, "IQ3_XXS", 256, 98),
    _make_unread_format(19, "IQ1_S", 256, 50),
    _make_unread_format(21, "IQ3_S", 256, 110),
    _make_unread_format(22, "IQ2_S", 256, 82),
    _make_unread_format(29, "IQ1_M", 256, 56),
    _make_unread_format(34, "TQ1_0", 256, 54),
    _make_unread_format(35, "TQ2_0", 256, 66),
    _make_unread_format(40, "NVFP4", 64, 36),
    _make_unread_format(41, "Q1_0", 128, 18),
)
TYPES = {one.number: one for one in (*_PLAIN, *SMALL_BLOCKS, *K_BLOCKS, *_UNREAD)}
