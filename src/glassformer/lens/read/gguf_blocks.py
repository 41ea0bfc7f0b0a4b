"""Blocks of 32 quantised weights, as GGUF files store them, unpacked to float32.

A block of Q4_0 holds a scale in half precision and 16 bytes: the low halves are weights 0 to 15, the high
halves 16 to 31, each 8 too large. Here the scale is 0.5 and every byte is 0x9A:

>>> block = np.frombuffer(np.float16(0.5).tobytes() + b"\\x9a" * 16, _Q4_0.record)
>>> weights = np.empty((1, 32), np.float32)
>>> _Q4_0.unpack(block, weights)
>>> weights[0, 15:17].tolist()
[1.0, 0.5]

The formats are those of ggml (ggml-common.h and ggml-quants.c in github.com/ggml-org/ggml); products are
formed in its order, so that weights are the same to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Integer, UInt8

Blocks = np.ndarray  # records, one per block
Weights = Float32[np.ndarray, "block weight"]
Result = type[np.float32] | type[np.float64]
_Unpack = Callable[[Blocks, Weights], None]  # writes the weights of whole blocks

SIXTEEN_LEVELS = np.array(  # of IQ4_NL and IQ4_XS: finer near zero
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8
)
_HALVES = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], np.int8)  # FP4 (E2M1), doubled


@dataclass(frozen=True)
class BlockFormat:
    """A type of tensor: how many weights a block holds, and how its bytes are laid out."""

    number: int  # of the type, in ggml.h
    name: str
    weights: int
    record: np.dtype[Any]
    unpack: _Unpack | None  # none where its weights cannot be read
    result: Result = np.float32  # what its numbers become


def unpack_fields(
    packed: UInt8[np.ndarray, "block byte"], bits: int, run: int
) -> UInt8[np.ndarray, "block field"]:
    """Fields of so many bits: of each run of bytes first all lowest fields, then all next ones.

    >>> packed = np.array([[0x21, 0x43, 0x65, 0x87]], np.uint8)
    >>> [hex(field) for field in unpack_fields(packed, bits=4, run=2)[0]]
    ['0x1', '0x3', '0x2', '0x4', '0x5', '0x7', '0x6', '0x8']
    """
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    parts = packed.reshape(len(packed), -1, 1, run) >> shifts
    parts &= np.uint8((1 << bits) - 1)
    return parts.reshape(len(packed), -1)


def write_scaled_levels(
    weights: Weights, levels: Integer[np.ndarray, "block weight"], scales: Float[np.ndarray, "block group"]
) -> Float32[np.ndarray, "block group member"]:
    """Writes levels times the scale of their group; gives the weights by group."""
    np.copyto(weights, levels)
    grouped = weights.reshape(len(weights), scales.shape[1], -1)
    grouped *= scales[:, :, None]
    return grouped


def to_float_column(numbers: np.ndarray) -> Float32[np.ndarray, "block 1"]:
    """The scales of blocks, stored in half precision, as a column."""
    return numbers.astype(np.float32)[:, None]


def _unpack_q4_0(blocks: Blocks, weights: Weights) -> None:
    write_scaled_levels(
        weights, lower_levels(unpack_fields(blocks["low"], 4, 16), 8), to_float_column(blocks["scale"])
    )


def _unpack_q4_1(blocks: Blocks, weights: Weights) -> None:
    write_scaled_levels(weights, unpack_fields(blocks["low"], 4, 16), to_float_column(blocks["scale"]))
    weights += to_float_column(blocks["least"])


def _unpack_q5_0(blocks: Blocks, weights: Weights) -> None:
    write_scaled_levels(
        weights, lower_levels(_unpack_five_bits(blocks), 16), to_float_column(blocks["scale"])
    )


def _unpack_q5_1(blocks: Blocks, weights: Weights) -> None:
    write_scaled_levels(weights, _unpack_five_bits(blocks), to_float_column(blocks["scale"]))
    weights += to_float_column(blocks["least"])


def _unpack_q8_0(blocks: Blocks, weights: Weights) -> None:
    write_scaled_levels(weights, blocks["level"], to_float_column(blocks["scale"]))


def _unpack_iq4_nl(blocks: Blocks, weights: Weights) -> None:
    write_scaled_levels(
        weights, SIXTEEN_LEVELS[unpack_fields(blocks["low"], 4, 16)], to_float_column(blocks["scale"])
    )


def _unpack_mxfp4(blocks: Blocks, weights: Weights) -> None:
    """FP4 with a power of two per block; the levels are doubled, so the power is halved."""
    scales = np.ldexp(np.float32(1), blocks["exponent"].astype(np.int32) - 128)
    write_scaled_levels(weights, _HALVES[unpack_fields(blocks["low"], 4, 16)], scales[:, None])


def _unpack_five_bits(blocks: Blocks) -> UInt8[np.ndarray, "block 32"]:
    levels = np.unpackbits(blocks["high"], axis=1, bitorder="little")
    levels <<= 4
    levels |= unpack_fields(blocks["low"], 4, 16)
    return levels


def lower_levels(levels: UInt8[np.ndarray, "..."], by: int) -> Integer[np.ndarray, "..."]:
    """Levels that are stored too large, in place."""
    levels -= np.uint8(by)  # wraps around: the bits of the negative number
    return levels.view(np.int8)


def make_record_type(*parts: tuple[str, str] | tuple[str, str, int]) -> np.dtype[Any]:
    return np.dtype([*parts])


_SCALE, _LEAST, _LOW, _HIGH = ("scale", "<f2"), ("least", "<f2"), ("low", "u1", 16), ("high", "u1", 4)
_Q4_0 = BlockFormat(2, "Q4_0", 32, make_record_type(_SCALE, _LOW), _unpack_q4_0)
SMALL_BLOCKS = (
    _Q4_0,
    BlockFormat(3, "Q4_1", 32, make_record_type(_SCALE, _LEAST, _LOW), _unpack_q4_1),
    BlockFormat(6, "Q5_0", 32, make_record_type(_SCALE, _HIGH, _LOW), _unpack_q5_0),
    BlockFormat(7, "Q5_1", 32, make_record_type(_SCALE, _LEAST, _HIGH, _LOW), _unpack_q5_1),
    BlockFormat(8, "Q8_0", 32, make_record_type(_SCALE, ("level", "i1", 32)), _unpack_q8_0),
    BlockFormat(20, "IQ4_NL", 32, make_record_type(_SCALE, _LOW), _unpack_iq4_nl),
    BlockFormat(39, "MXFP4", 32, make_record_type(("exponent", "u1"), _LOW), _unpack_mxfp4),
)
