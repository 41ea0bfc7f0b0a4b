"""GGUF's quantised types, one weight at a time, written from their definition in ggml-common.h.

Every function gives weight i of one block; arithmetic is in float32.
"""

import struct

import numpy as np

F = np.float32
SIXTEEN = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]
FP4 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def half(block: bytes, at: int) -> np.float32:
    return F(struct.unpack_from("<e", block, at)[0])


def nibble(block: bytes, at: int, i: int) -> int:
    """Weight i of 32 whose 16 bytes start there: the low halves come first."""
    return block[at + i] & 15 if i < 16 else block[at + i - 16] >> 4


def bit(block: bytes, at: int, i: int) -> int:
    return block[at + i // 8] >> i % 8 & 1


def signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def q4_0(block: bytes, i: int) -> np.float32:
    return half(block, 0) * F(nibble(block, 2, i) - 8)


def q4_1(block: bytes, i: int) -> np.float32:
    return half(block, 0) * F(nibble(block, 4, i)) + half(block, 2)


def q5_0(block: bytes, i: int) -> np.float32:
    return half(block, 0) * F(nibble(block, 6, i) + 16 * bit(block, 2, i) - 16)


def q5_1(block: bytes, i: int) -> np.float32:
    return half(block, 0) * F(nibble(block, 8, i) + 16 * bit(block, 4, i)) + half(block, 2)


def q8_0(block: bytes, i: int) -> np.float32:
    return half(block, 0) * F(signed(block[2 + i]))


def iq4_nl(block: bytes, i: int) -> np.float32:
    return half(block, 0) * F(SIXTEEN[nibble(block, 2, i)])


def mxfp4(block: bytes, i: int) -> np.float32:
    sign, level = divmod(nibble(block, 1, i), 8)
    return F((-1.0 if sign else 1.0) * FP4[level] * 2.0 ** (block[0] - 127))


def q2_k(block: bytes, i: int) -> np.float32:
    scales, low = block[:16], block[16:80]
    part, lane = divmod(i, 32)
    level = low[part // 4 * 32 + lane] >> 2 * (part % 4) & 3
    scale, offset = scales[i // 16] & 15, scales[i // 16] >> 4
    return half(block, 80) * F(scale) * F(level) - half(block, 82) * F(offset)


def q3_k(block: bytes, i: int) -> np.float32:
    high, low, scales = block[:32], block[32:96], block[96:108]
    part, lane = divmod(i, 32)
    level = (low[part // 4 * 32 + lane] >> 2 * (part % 4) & 3) - (0 if high[lane] >> part & 1 else 4)
    group = i // 16
    small = scales[group] & 15 if group < 8 else scales[group - 8] >> 4
    small |= (scales[8 + group % 4] >> 2 * (group // 4) & 3) << 4
    return half(block, 108) * F(small - 32) * F(level)


def six_bits(packed: bytes, group: int) -> tuple[int, int]:
    if group < 4:
        return packed[group] & 63, packed[group + 4] & 63
    scale = packed[group + 4] & 15 | packed[group - 4] >> 6 << 4
    return scale, packed[group + 4] >> 4 | packed[group] >> 6 << 4


def q4_k(block: bytes, i: int) -> np.float32:
    scale, offset = six_bits(block[4:16], i // 32)
    byte = block[16 + i // 64 * 32 + i % 32]
    level = byte >> 4 if i % 64 >= 32 else byte & 15
    return half(block, 0) * F(scale) * F(level) - half(block, 2) * F(offset)


def q5_k(block: bytes, i: int) -> np.float32:
    scale, offset = six_bits(block[4:16], i // 32)
    byte = block[48 + i // 64 * 32 + i % 32]
    level = (byte >> 4 if i % 64 >= 32 else byte & 15) + 16 * (block[16 + i % 32] >> i // 32 & 1)
    return half(block, 0) * F(scale) * F(level) - half(block, 2) * F(offset)


def q6_k(block: bytes, i: int) -> np.float32:
    low, high, scales = block[:128], block[128:192], block[192:208]
    side, within = divmod(i, 128)
    quarter, lane = divmod(within, 32)
    level = low[64 * side + 32 * (quarter % 2) + lane] >> 4 * (quarter // 2) & 15
    level |= (high[32 * side + lane] >> 2 * quarter & 3) << 4
    return half(block, 208) * F(signed(scales[i // 16])) * F(level - 32)


def q8_k(block: bytes, i: int) -> np.float32:
    return F(struct.unpack_from("<f", block)[0]) * F(signed(block[4 + i]))


def iq4_xs(block: bytes, i: int) -> np.float32:
    high, low = struct.unpack_from("<H", block, 2)[0], block[4:8]
    group = i // 32
    small = low[group // 2] >> 4 * (group % 2) & 15 | (high >> 2 * group & 3) << 4
    return half(block, 0) * F(small - 32) * F(SIXTEEN[nibble(block, 8 + 16 * group, i % 32)])


REFERENCES = {
    "Q4_0": q4_0,
    "Q4_1": q4_1,
    "Q5_0": q5_0,
    "Q5_1": q5_1,
    "Q8_0": q8_0,
    "IQ4_NL": iq4_nl,
    "MXFP4": mxfp4,
    "Q2_K": q2_k,
    "Q3_K": q3_k,
    "Q4_K": q4_k,
    "Q5_K": q5_k,
    "Q6_K": q6_k,
    "Q8_K": q8_k,
    "IQ4_XS": iq4_xs,
}
