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

from glassformer.spectra.read.gguf_blocks import SMALL_BLOCKS, Blocks, Format, Result, Weights
from glassformer.spectra.read.gguf_k_blocks import K_BLOCKS


def unpack_plain(blocks: Blocks, weights: Float[np.ndarray, "block 1"]) -> None:
    np.copyto(weights, blocks[:, None], casting="unsafe")


def unpack_bf16(blocks: Blocks, weights: Weights) -> None:
    bits = weights.view(np.uint32)
    np.copyto(bits, blocks[:, None])
    bits <<= 16


def plain(number: int, name: str, stored: str, result: Result = np.float32) -> Format:
    return Format(number, name, 1, np.dtype(stored), unpack_plain, result)


def unread(number: int, name: str, weights: int, size: int) -> Format:
    """A type that a file may hold, though its weights cannot be read here."""
    return Format(number, name, weights, np.dtype((np.void, size)), None)


PLAIN = (
    plain(0, "F32", "<f4"),
    plain(1, "F16", "<f2"),
    plain(28, "F64", "<f8", np.float64),
    plain(24, "I8", "i1"),
    plain(25, "I16", "<i2"),
    plain(26, "I32", "<i4", np.float64),
    plain(27, "I64", "<i8", np.float64),
    Format(30, "BF16", 1, np.dtype("<u2"), unpack_bf16),
)
UNREAD = (
    unread(9, "Q8_1", 32, 36),
    unread(16, "IQ2_XXS", 256, 66),
    unread(17, "IQ2_XS", 256, 74),
    unread(18, "IQ3_XXS", 256, 98),
    unread(19, "IQ1_S", 256, 50),
    unread(21, "IQ3_S", 256, 110),
    unread(22, "IQ2_S", 256, 82),
    unread(29, "IQ1_M", 256, 56),
    unread(34, "TQ1_0", 256, 54),
    unread(35, "TQ2_0", 256, 66),
    unread(40, "NVFP4", 64, 36),
    unread(41, "Q1_0", 128, 18),
)
TYPES = {one.number: one for one in (*PLAIN, *SMALL_BLOCKS, *K_BLOCKS, *UNREAD)}
