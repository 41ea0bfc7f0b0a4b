"""Writes small GGUF files for tests, and large ones for benchmarks.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "toy.gguf"
>>> write_gguf(path, {"general.architecture": "toy"}, {"w": np.eye(2, dtype=np.float32)})
>>> path.read_bytes()[:4]
b'GGUF'
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.lens.read.gguf_types import TYPES

NUMBERS = {one.name: number for number, one in TYPES.items()}
PLAIN = {"f4": "F32", "f2": "F16", "f8": "F64", "i1": "I8", "i2": "I16", "i4": "I32", "i8": "I64"}
VALUES = dict(zip(["u1", "i1", "u2", "i2", "u4", "i4", "f4", "b1"], range(8), strict=True)) | {
    "u8": 10,
    "i8": 11,
    "f8": 12,
}
STRING, ARRAY = 8, 9

Raw = tuple[str, bytes | Callable[[], bytes], tuple[int, ...]]  # type, blocks (made when written), shape


def write_gguf(
    path: Path,
    metadata: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray | Raw],
    version: int = 3,
) -> None:
    """A GGUF file with these tensors, in their order."""
    alignment = int(metadata.get("general.alignment", 32))
    raw = {name: as_raw(one) for name, one in tensors.items()}
    with path.open("wb") as file:
        file.write(header(metadata, raw, alignment, version))
        for _, blocks, _ in raw.values():
            data = blocks() if callable(blocks) else blocks
            file.write(data)
            file.write(bytes(-len(data) % alignment))


def header(metadata: Mapping[str, Any], tensors: Mapping[str, Raw], alignment: int, version: int) -> bytes:
    parts = [b"GGUF", struct.pack("<IQQ", version, len(tensors), len(metadata))]
    parts += [text(key) + value(one) for key, one in metadata.items()]
    offset = 0
    for name, (kind, _, shape) in tensors.items():
        parts.append(tensor_entry(name, shape, NUMBERS[kind], offset))
        offset += -(-size(kind, shape) // alignment) * alignment
    front = b"".join(parts)
    return front + bytes(-len(front) % alignment)


def tensor_entry(name: str, shape: tuple[int, ...], number: int, offset: int) -> bytes:
    dims = struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
    return text(name) + dims + struct.pack("<IQ", number, offset)


def size(kind: str, shape: tuple[int, ...]) -> int:
    one = TYPES[NUMBERS[kind]]
    return int(np.prod(shape)) // one.weights * one.record.itemsize


def as_raw(tensor: np.ndarray | Raw) -> Raw:
    if isinstance(tensor, tuple):
        return tensor
    return PLAIN[tensor.dtype.str[1:]], tensor.tobytes(), tensor.shape


def text(words: str) -> bytes:
    encoded = words.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def value(one: Any) -> bytes:
    """A value with its type before it; Python's integers are uint32 where they fit, its floats float32."""
    if isinstance(one, str):
        return struct.pack("<I", STRING) + text(one)
    if isinstance(one, list | tuple) and one and isinstance(one[0], str):
        return texts(one)
    array = as_numbers(one)
    kind = VALUES[array.dtype.str[1:]]
    if array.ndim == 0:
        return struct.pack("<I", kind) + array.tobytes()
    return struct.pack("<IIQ", ARRAY, kind, len(array)) + array.tobytes()


def texts(words: Iterable[str]) -> bytes:
    encoded = [text(word) for word in words]
    return struct.pack("<IIQ", ARRAY, STRING, len(encoded)) + b"".join(encoded)


def as_numbers(one: Any) -> np.ndarray:
    array = np.asarray(one)
    if isinstance(one, np.ndarray | np.generic):
        return array
    if array.dtype == np.float64:
        return array.astype(np.float32)
    is_small = array.dtype == np.int64 and array.size and array.min() >= 0 and array.max() < 2**32
    return array.astype(np.uint32) if is_small else array


def quantised(kind: str, weights: np.ndarray) -> Raw:
    """Weights in Q8_0, Q4_0 or Q4_K; each is within one step of what it was."""
    blocks = weights.astype(np.float32).reshape(-1, TYPES[NUMBERS[kind]].weights)
    return kind, QUANTISERS[kind](blocks), weights.shape


def q8_0(blocks: np.ndarray) -> bytes:
    scales = half(np.abs(blocks).max(axis=1) / 127)
    levels = np.rint(blocks / positive(scales)).clip(-127, 127).astype(np.int8)
    return joined(scales.astype(np.float16), levels)


def q4_0(blocks: np.ndarray) -> bytes:
    scales = half(np.abs(blocks).max(axis=1) / 7)
    levels = np.rint(blocks / positive(scales) + 8).clip(0, 15).astype(np.uint8)
    return joined(scales.astype(np.float16), levels[:, :16] | levels[:, 16:] << 4)


def q4_k(blocks: np.ndarray) -> bytes:
    groups = blocks.reshape(-1, 8, 32)
    down = -groups.min(axis=2).clip(max=0)
    steps = (groups.max(axis=2) + down) / 15
    scale, least = half(steps.max(axis=1) / 63), half(down.max(axis=1) / 63)
    scales, offsets = (
        np.ceil(steps / positive(scale)).clip(0, 63),
        np.rint(down / positive(least)).clip(0, 63),
    )
    levels = groups + (least * offsets)[:, :, None]
    levels = np.rint(levels / positive(scale * scales)[:, :, None]).clip(0, 15).astype(np.uint8)
    packed = levels[:, 0::2] | levels[:, 1::2] << 4
    small = six_bits(scales.astype(np.uint8), offsets.astype(np.uint8))
    return joined(scale.astype(np.float16), least.astype(np.float16), small, packed)


def six_bits(scales: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Eight scales and eight offsets of 6 bits in 12 bytes, as Q4_K and Q5_K have them."""
    first = [one[:, :4] | one[:, 4:] >> 4 << 6 for one in (scales, offsets)]
    return np.concatenate([*first, scales[:, 4:] & 15 | (offsets[:, 4:] & 15) << 4], axis=1)


def half(numbers: np.ndarray) -> np.ndarray:
    """Rounded to half precision, as a column."""
    return numbers.astype(np.float16).astype(np.float32)[:, None]


def positive(scales: np.ndarray) -> np.ndarray:
    return np.where(scales > 0, scales, 1)


def joined(*parts: np.ndarray) -> bytes:
    """The parts of every block, one block after the other."""
    flat = [np.ascontiguousarray(part.reshape(len(part), -1)).view(np.uint8) for part in parts]
    return np.concatenate(flat, axis=1).tobytes()


QUANTISERS = {"Q8_0": q8_0, "Q4_0": q4_0, "Q4_K": q4_k}
