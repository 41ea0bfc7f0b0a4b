"""Blocks of 32 quantised weights, as GGUF files store them, unpacked to float32.

A block of Q4_0 holds a scale in half precision and 16 bytes: the low halves are weights 0 to 15, the high
halves 16 to 31, each 8 too large. Here the scale is 0.5 and every byte is 0x9A:

>>> block = np.frombuffer(np.float16(0.5).tobytes() + b"\\x9a" * 16, Q4_0.record)
>>> weights = np.empty((1, 32), np.float32)
>>> Q4_0.unpack(block, weights)
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

Blocks = np.ndarray  # records, one a block
Weights = Float32[np.ndarray, "block weight"]
Result = type[np.float32] | type[np.float64]
Unpack = Callable[[Blocks, Weights], None]  # writes the weights of whole blocks

SIXTEEN_LEVELS = np.array(  # of IQ4_NL and IQ4_XS: finer near zero
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8
)
HALVES = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], np.int8)  # FP4 (E2M1), doubled


@dataclass(frozen=True)
class Format:
    """A type of tensor: how many weights a block holds, and how its bytes are laid out."""

    number: int  # of the type, in ggml.h
    name: str
    weights: int
    record: np.dtype[Any]
    unpack: Unpack | None  # none where its weights cannot be read
    result: Result = np.float32  # what its numbers become


def fields(packed: UInt8[np.ndarray, "block byte"], bits: int, run: int) -> UInt8[np.ndarray, "block field"]:
    """Fields of so many bits: of each run of bytes first all lowest fields, then all next ones.

    >>> [hex(field) for field in fields(np.array([[0x21, 0x43, 0x65, 0x87]], np.uint8), bits=4, run=2)[0]]
    ['0x1', '0x3', '0x2', '0x4', '0x5', '0x7', '0x6', '0x8']
    """
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    parts = packed.reshape(len(packed), -1, 1, run) >> shifts
    parts &= np.uint8((1 << bits) - 1)
    return parts.reshape(len(packed), -1)


def put_scaled(
    weights: Weights, levels: Integer[np.ndarray, "block weight"], scales: Float[np.ndarray, "block group"]
) -> Float32[np.ndarray, "block group member"]:
    """Writes levels times the scale of their group; gives the weights by group."""
    np.copyto(weights, levels)
    grouped = weights.reshape(len(weights), scales.shape[1], -1)
    grouped *= scales[:, :, None]
    return grouped


def half(numbers: np.ndarray) -> Float32[np.ndarray, "block 1"]:
    """The scales of blocks, stored in half precision, as a column."""
    return numbers.astype(np.float32)[:, None]


def unpack_q4_0(blocks: Blocks, weights: Weights) -> None:
    put_scaled(weights, lowered(fields(blocks["low"], 4, 16), 8), half(blocks["scale"]))


def unpack_q4_1(blocks: Blocks, weights: Weights) -> None:
    put_scaled(weights, fields(blocks["low"], 4, 16), half(blocks["scale"]))
    weights += half(blocks["least"])


def unpack_q5_0(blocks: Blocks, weights: Weights) -> None:
    put_scaled(weights, lowered(five_bits(blocks), 16), half(blocks["scale"]))


def unpack_q5_1(blocks: Blocks, weights: Weights) -> None:
    put_scaled(weights, five_bits(blocks), half(blocks["scale"]))
    weights += half(blocks["least"])


def unpack_q8_0(blocks: Blocks, weights: Weights) -> None:
    put_scaled(weights, blocks["level"], half(blocks["scale"]))


def unpack_iq4_nl(blocks: Blocks, weights: Weights) -> None:
    put_scaled(weights, SIXTEEN_LEVELS[fields(blocks["low"], 4, 16)], half(blocks["scale"]))


def unpack_mxfp4(blocks: Blocks, weights: Weights) -> None:
    """FP4 with a power of two a block; the levels are doubled, so the power is halved."""
    scales = np.ldexp(np.float32(1), blocks["exponent"].astype(np.int32) - 128)
    put_scaled(weights, HALVES[fields(blocks["low"], 4, 16)], scales[:, None])


def five_bits(blocks: Blocks) -> UInt8[np.ndarray, "block 32"]:
    levels = np.unpackbits(blocks["high"], axis=1, bitorder="little")
    levels <<= 4
    levels |= fields(blocks["low"], 4, 16)
    return levels


def lowered(levels: UInt8[np.ndarray, "..."], by: int) -> Integer[np.ndarray, "..."]:
    """Levels that are stored too large, in place."""
    levels -= np.uint8(by)  # wraps around: the bits of the negative number
    return levels.view(np.int8)


def record(*parts: tuple[str, str] | tuple[str, str, int]) -> np.dtype[Any]:
    return np.dtype([*parts])


SCALE, LEAST, LOW, HIGH = ("scale", "<f2"), ("least", "<f2"), ("low", "u1", 16), ("high", "u1", 4)
Q4_0 = Format(2, "Q4_0", 32, record(SCALE, LOW), unpack_q4_0)
SMALL_BLOCKS = (
    Q4_0,
    Format(3, "Q4_1", 32, record(SCALE, LEAST, LOW), unpack_q4_1),
    Format(6, "Q5_0", 32, record(SCALE, HIGH, LOW), unpack_q5_0),
    Format(7, "Q5_1", 32, record(SCALE, LEAST, HIGH, LOW), unpack_q5_1),
    Format(8, "Q8_0", 32, record(SCALE, ("level", "i1", 32)), unpack_q8_0),
    Format(20, "IQ4_NL", 32, record(SCALE, LOW), unpack_iq4_nl),
    Format(39, "MXFP4", 32, record(("exponent", "u1"), LOW), unpack_mxfp4),
)
