"""Blocks of 256 quantised weights (the K types of GGUF), unpacked to float32.

Groups of 16 or 32 weights have small scales of their own, which a scale in half precision multiplies. In a
block of Q6_K whose scale is 1 and all of whose other bytes are 0x11, the low bits of every level are 1, the
high bits 1 or 0 by turns of 32, and every group's scale is 17: (1 + 16 - 32) 17 and (1 - 32) 17.

>>> block = np.frombuffer(b"\\x11" * 208 + np.float16(1).tobytes(), Q6_K.record)
>>> weights = np.empty((1, 256), np.float32)
>>> Q6_K.unpack(block, weights)
>>> weights[0, [0, 32]].tolist()
[-255.0, -527.0]

The formats are those of ggml (ggml-common.h and ggml-quants.c in github.com/ggml-org/ggml), and so is the
order of the products.
"""

import numpy as np
from jaxtyping import Float32, UInt8

from glassformer.spectra.read.gguf_blocks import (
    SIXTEEN_LEVELS,
    Blocks,
    Format,
    Weights,
    fields,
    half,
    lowered,
    put_scaled,
    record,
)

Groups = UInt8[np.ndarray, "block group"]


def unpack_q2_k(blocks: Blocks, weights: Weights) -> None:
    scales, offsets = blocks["scales"] & 15, blocks["scales"] >> 4
    put_offset(weights, fields(blocks["low"], 2, 32), blocks, scales, offsets)


def unpack_q3_k(blocks: Blocks, weights: Weights) -> None:
    levels = fields(blocks["high"], 1, 32)
    levels <<= 2
    levels |= fields(blocks["low"], 2, 32)
    scales = fields(blocks["scales"][:, :8], 4, 8) | fields(blocks["scales"][:, 8:], 2, 4) << 4
    put_scaled(weights, lowered(levels, 4), half(blocks["scale"]) * lowered(scales, 32))


def unpack_q4_k(blocks: Blocks, weights: Weights) -> None:
    put_offset(weights, fields(blocks["low"], 4, 32), blocks, *six_bit_pairs(blocks["scales"]))


def unpack_q5_k(blocks: Blocks, weights: Weights) -> None:
    levels = fields(blocks["high"], 1, 32)
    levels <<= 4
    levels |= fields(blocks["low"], 4, 32)
    put_offset(weights, levels, blocks, *six_bit_pairs(blocks["scales"]))


def unpack_q6_k(blocks: Blocks, weights: Weights) -> None:
    levels = fields(blocks["high"], 2, 32)
    levels <<= 4
    levels |= fields(blocks["low"], 4, 64)
    put_scaled(weights, lowered(levels, 32), half(blocks["scale"]) * blocks["scales"])


def unpack_q8_k(blocks: Blocks, weights: Weights) -> None:
    put_scaled(weights, blocks["level"], blocks["scale"][:, None])


def unpack_iq4_xs(blocks: Blocks, weights: Weights) -> None:
    scales = fields(blocks["low_scales"], 4, 1) | fields(blocks["high_scales"], 2, 1) << 4
    levels = SIXTEEN_LEVELS[fields(blocks["low"], 4, 16)]
    put_scaled(weights, levels, half(blocks["scale"]) * lowered(scales, 32))


def put_offset(
    weights: Weights, levels: UInt8[np.ndarray, "block 256"], blocks: Blocks, scales: Groups, offsets: Groups
) -> None:
    """Writes scale x level - offset, each group with its own two."""
    grouped = put_scaled(weights, levels, half(blocks["scale"]) * scales)
    down: Float32[np.ndarray, "block group"] = half(blocks["least"]) * offsets
    grouped -= down[:, :, None]


def six_bit_pairs(packed: UInt8[np.ndarray, "block 12"]) -> tuple[Groups, Groups]:
    """Eight scales and eight offsets of 6 bits each, in 12 bytes.

    The first four of each are the low 6 bits of bytes 0-3 and 4-7; of the last four, bytes 8-11 hold the low
    4 bits (scales below, offsets above), and the top 2 bits of bytes 0-3 and 4-7 the rest.
    """
    first, last = packed[:, :8], packed[:, 8:]
    whole, rest = first & 63, first >> 6 << 4
    scales = np.concatenate([whole[:, :4], rest[:, :4] | last & 15], axis=1)
    offsets = np.concatenate([whole[:, 4:], rest[:, 4:] | last >> 4], axis=1)
    return scales, offsets


SCALE, LEAST, SIX_BITS = ("scale", "<f2"), ("least", "<f2"), ("scales", "u1", 12)
FOUR_BITS, TWO_BITS, ONE_BIT = ("low", "u1", 128), ("low", "u1", 64), ("high", "u1", 32)
Q6_K = Format(
    14, "Q6_K", 256, record(FOUR_BITS, ("high", "u1", 64), ("scales", "i1", 16), SCALE), unpack_q6_k
)
K_BLOCKS = (
    Format(10, "Q2_K", 256, record(("scales", "u1", 16), TWO_BITS, SCALE, LEAST), unpack_q2_k),
    Format(11, "Q3_K", 256, record(ONE_BIT, TWO_BITS, SIX_BITS, SCALE), unpack_q3_k),
    Format(12, "Q4_K", 256, record(SCALE, LEAST, SIX_BITS, FOUR_BITS), unpack_q4_k),
    Format(13, "Q5_K", 256, record(SCALE, LEAST, SIX_BITS, ONE_BIT, FOUR_BITS), unpack_q5_k),
    Q6_K,
    Format(15, "Q8_K", 256, record(("scale", "<f4"), ("level", "i1", 256), ("sums", "<i2", 16)), unpack_q8_k),
    Format(
        23,
        "IQ4_XS",
        256,
        record(SCALE, ("high_scales", "u1", 2), ("low_scales", "u1", 4), FOUR_BITS),
        unpack_iq4_xs,
    ),
)
