"""Blocks of 256 quantised weights (the K types of GGUF), unpacked to float32.

Groups of 16 or 32 weights have small scales of their own, which a scale in half precision multiplies. In a
block of Q6_K whose scale is 1 and all of whose other bytes are 0x11, the low bits of every level are 1, the
high bits 1 or 0 by turns of 32, and every group's scale is 17: (1 + 16 - 32) 17 and (1 - 32) 17.

>>> block = np.frombuffer(b"\\x11" * 208 + np.float16(1).tobytes(), _Q6_K.record)
>>> weights = np.empty((1, 256), np.float32)
>>> _Q6_K.unpack(block, weights)
>>> weights[0, [0, 32]].tolist()
[-255.0, -527.0]

The formats are those of ggml (ggml-common.h and ggml-quants.c in github.com/ggml-org/ggml), and so is the
order of the products.
"""

import numpy as np
from jaxtyping import Float32, UInt8

from glassformer.lens.read.gguf_blocks import (
    SIXTEEN_LEVELS,
    BlockFormat,
    Blocks,
    Weights,
    lower_levels,
    make_record_type,
    to_float_column,
    unpack_fields,
    write_scaled_levels,
)

_Groups = UInt8[np.ndarray, "block group"]


def _unpack_q2_k(blocks: Blocks, weights: Weights) -> None:
    scales, offsets = blocks["scales"] & 15, blocks["scales"] >> 4
    _write_offset_levels(weights, unpack_fields(blocks["low"], 2, 32), blocks, scales, offsets)


def _unpack_q3_k(blocks: Blocks, weights: Weights) -> None:
    levels = unpack_fields(blocks["high"], 1, 32)
    levels <<= 2
    levels |= unpack_fields(blocks["low"], 2, 32)
    scales = unpack_fields(blocks["scales"][:, :8], 4, 8) | unpack_fields(blocks["scales"][:, 8:], 2, 4) << 4
    write_scaled_levels(
        weights, lower_levels(levels, 4), to_float_column(blocks["scale"]) * lower_levels(scales, 32)
    )


def _unpack_q4_k(blocks: Blocks, weights: Weights) -> None:
    _write_offset_levels(
        weights, unpack_fields(blocks["low"], 4, 32), blocks, *_unpack_six_bits(blocks["scales"])
    )


def _unpack_q5_k(blocks: Blocks, weights: Weights) -> None:
    levels = unpack_fields(blocks["high"], 1, 32)
    levels <<= 4
    levels |= unpack_fields(blocks["low"], 4, 32)
    _write_offset_levels(weights, levels, blocks, *_unpack_six_bits(blocks["scales"]))


def _unpack_q6_k(blocks: Blocks, weights: Weights) -> None:
    levels = unpack_fields(blocks["high"], 2, 32)
    levels <<= 4
    levels |= unpack_fields(blocks["low"], 4, 64)
    write_scaled_levels(
        weights, lower_levels(levels, 32), to_float_column(blocks["scale"]) * blocks["scales"]
    )


def _unpack_q8_k(blocks: Blocks, weights: Weights) -> None:
    write_scaled_levels(weights, blocks["level"], blocks["scale"][:, None])


def _unpack_iq4_xs(blocks: Blocks, weights: Weights) -> None:
    scales = unpack_fields(blocks["low_scales"], 4, 1) | unpack_fields(blocks["high_scales"], 2, 1) << 4
    levels = SIXTEEN_LEVELS[unpack_fields(blocks["low"], 4, 16)]
    write_scaled_levels(weights, levels, to_float_column(blocks["scale"]) * lower_levels(scales, 32))


def _write_offset_levels(
    weights: Weights,
    levels: UInt8[np.ndarray, "block 256"],
    blocks: Blocks,
    scales: _Groups,
    offsets: _Groups,
) -> None:
    """Writes scale x level - offset, each group with its own two."""
    grouped = write_scaled_levels(weights, levels, to_float_column(blocks["scale"]) * scales)
    down: Float32[np.ndarray, "block group"] = to_float_column(blocks["least"]) * offsets
    grouped -= down[:, :, None]


def _unpack_six_bits(packed: UInt8[np.ndarray, "block 12"]) -> tuple[_Groups, _Groups]:
    """Eight scales and eight offsets of 6 bits each, in 12 bytes.

    The first four of each are the low 6 bits of bytes 0-3 and 4-7; of the last four, bytes 8-11 hold the low
    4 bits (scales below, offsets above), and the top 2 bits of bytes 0-3 and 4-7 the rest.
    """
    first, last = packed[:, :8], packed[:, 8:]
    whole, rest = first & 63, first >> 6 << 4
    scales = np.concatenate([whole[:, :4], rest[:, :4] | last & 15], axis=1)
    offsets = np.concatenate([whole[:, 4:], rest[:, 4:] | last >> 4], axis=1)
    return scales, offsets


_SCALE, _LEAST, _SIX_BITS = ("scale", "<f2"), ("least", "<f2"), ("scales", "u1", 12)
_FOUR_BITS, _TWO_BITS, _ONE_BIT = ("low", "u1", 128), ("low", "u1", 64), ("high", "u1", 32)
_Q6_K = BlockFormat(
    14,
    "Q6_K",
    256,
    make_record_type(_FOUR_BITS, ("high", "u1", 64), ("scales", "i1", 16), _SCALE),
    _unpack_q6_k,
)
K_BLOCKS = (
    BlockFormat(
        10, "Q2_K", 256, make_record_type(("scales", "u1", 16), _TWO_BITS, _SCALE, _LEAST), _unpack_q2_k
    ),
    BlockFormat(11, "Q3_K", 256, make_record_type(_ONE_BIT, _TWO_BITS, _SIX_BITS, _SCALE), _unpack_q3_k),
    BlockFormat(12, "Q4_K", 256, make_record_type(_SCALE, _LEAST, _SIX_BITS, _FOUR_BITS), _unpack_q4_k),
    BlockFormat(
        13, "Q5_K", 256, make_record_type(_SCALE, _LEAST, _SIX_BITS, _ONE_BIT, _FOUR_BITS), _unpack_q5_k
    ),
    _Q6_K,
    BlockFormat(
        15,
        "Q8_K",
        256,
        make_record_type(("scale", "<f4"), ("level", "i1", 256), ("sums", "<i2", 16)),
        _unpack_q8_k,
    ),
    BlockFormat(
        23,
        "IQ4_XS",
        256,
        make_record_type(_SCALE, ("high_scales", "u1", 2), ("low_scales", "u1", 4), _FOUR_BITS),
        _unpack_iq4_xs,
    ),
)
