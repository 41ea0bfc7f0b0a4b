"""GGUF files, built of fields: one of them gets another value, another width or another position."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.kinds.kind import Kind
from fuzz.kinds.looking import look
from fuzz.mutate.bytes import LENGTHS, mutate_bytes
from fuzz.mutate.values import draw_text
from fuzz.place import Place


@dataclass(frozen=True)
class Field:
    """A number of so many bytes, or plain bytes."""

    content: bytes
    is_number: bool = False


Fields = tuple[Field, ...]
SMALL = (
    0,
    1,
    2,
    3,
    4,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    16,
    20,
    31,
    32,
    33,
    39,
    64,
    255,
)  # types, counts, alignments


def prepare(folder: Path) -> list[tuple[Fields, bytes]]:
    """Header fields and tensor bytes of a tiny Llama, plain and quantised, and of a file with every type."""
    from tests.lens.gguf_writer import quantised

    draw = np.random.default_rng(0).standard_normal
    shapes = {"attn_q": (32, 32), "attn_k": (32, 32), "attn_v": (32, 32), "attn_output": (32, 32)}
    shapes |= {"ffn_gate": (32, 32), "ffn_up": (32, 32), "ffn_down": (32, 32)}
    plain = {f"blk.0.{name}.weight": draw(shape).astype(np.float32) for name, shape in shapes.items()}
    plain |= {
        "token_embd.weight": draw((10, 32)).astype(np.float32),
        "output_norm.weight": draw(32).astype(np.float32),
    }
    packed: dict[str, Any] = {
        name: quantised("Q8_0", array) if array.ndim == 2 else array for name, array in plain.items()
    }
    return [fields_of(llama(), plain), fields_of(llama() | {"general.alignment": 64}, packed), every_type()]


def llama() -> dict[str, Any]:
    counts = {
        "block_count": 1,
        "attention.head_count": 4,
        "attention.head_count_kv": 4,
        "embedding_length": 32,
    }
    counts |= {"feed_forward_length": 32, "context_length": 64, "attention.layer_norm_rms_epsilon": 1e-5}
    words = {"general.architecture": "llama", "tokenizer.ggml.tokens": ["a", "b", "c"], "scores": [0.5, 1.5]}
    return words | {f"llama.{name}": value for name, value in counts.items()}


def every_type() -> tuple[Fields, bytes]:
    """One block of every type that can be read, of bytes that count up."""
    from glassformer.lens.read.gguf_types import TYPES

    tensors = {
        f"t.{one.name}": (
            one.name,
            bytes(number % 256 for number in range(one.record.itemsize)),
            (1, one.weights),
        )
        for one in TYPES.values()
        if one.unpack
    }
    return fields_of({"general.architecture": "toy"}, tensors)


def fields_of(metadata: dict[str, Any], tensors: dict[str, Any]) -> tuple[Fields, bytes]:
    """The header as fields, and the tensors' bytes."""
    from tests.lens.gguf_writer import NUMBERS, as_raw, size, value

    alignment, offset, numbers = int(metadata.get("general.alignment", 32)), 0, b""
    fields = [Field(b"GGUF"), number("<I", 3), number("<Q", len(tensors)), number("<Q", len(metadata))]
    for key, one in metadata.items():
        stored = value(one)
        fields += [*text(key), Field(stored[:4], True), *split_value(stored[4:])]
    for name, one in tensors.items():
        kind, content, shape = as_raw(one)
        fields += [*text(name), number("<I", len(shape)), *(number("<Q", side) for side in shape[::-1])]
        fields += [number("<I", NUMBERS[kind]), number("<Q", offset)]
        assert isinstance(content, bytes) and len(content) == size(kind, shape)
        content += bytes(-len(content) % alignment)
        offset, numbers = offset + len(content), numbers + content
    return tuple(fields), numbers


def text(words: str) -> list[Field]:
    return [number("<Q", len(words.encode())), Field(words.encode())]


def number(form: str, value: int) -> Field:
    return Field(struct.pack(form, value), True)


def split_value(stored: bytes) -> list[Field]:
    """The first numbers of a value are lengths or the value itself; what follows is plain."""
    cuts = [stored[:4], stored[4:12], stored[12:]] if len(stored) > 12 else [stored]
    return [Field(cut, len(cut) in (1, 2, 4, 8)) for cut in cuts]


def attempt(random: Random, inputs: list[tuple[Fields, bytes]], place: Place) -> int | None:
    """A file with a few fields changed, or with damaged bytes, under one of several names."""
    fields, numbers = random.choice(inputs)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        fields = random.choice(CHANGES)(fields, random)
    content = b"".join(field.content for field in fields)
    align = 64 if random.random() < 0.9 else 1  # 64 serves both alignments
    content += bytes(-len(content) % align) + numbers
    if random.random() < 0.2:
        content = mutate_bytes(content, random)
    names = ("a.gguf", "a.gguf", "a.gguf", "a-00001-of-00002.gguf", "a-00001-of-99999.gguf", "a.bin")
    path = place.folder / random.choice(names)
    path.write_bytes(content)
    return look(path, random)


def put_number(fields: Fields, random: Random) -> Fields:
    """A number replaced by one that readers hate, in as many bytes."""
    at = random.choice([place for place, field in enumerate(fields) if field.is_number])
    width = len(fields[at].content)
    old = int.from_bytes(fields[at].content, "little")
    new = random.choice((*LENGTHS, *SMALL, old + 1, old - 1, old * 2)) % 2 ** (8 * width)
    return put(fields, at, replace(fields[at], content=new.to_bytes(width, "little")))


def put_text(fields: Fields, random: Random) -> Fields:
    """A text replaced by another, its length before it right."""
    at = random.choice([place for place, field in enumerate(fields) if place and not field.is_number] or [0])
    content = draw_text(random).encode("utf-8", "surrogatepass")
    changed = put(fields, at, Field(content))
    is_long = at and fields[at - 1].is_number and len(fields[at - 1].content) == 8
    return put(changed, at - 1, number("<Q", len(content))) if is_long else changed


def copy_number(fields: Fields, random: Random) -> Fields:
    """A number of the file in another position: valid by itself, wrong there."""
    places = [place for place, field in enumerate(fields) if field.is_number]
    source, target = random.choice(places), random.choice(places)
    width = len(fields[target].content)
    return put(fields, target, Field(fields[source].content[:width].ljust(width, b"\0"), True))


def delete(fields: Fields, random: Random) -> Fields:
    at = random.randrange(len(fields))
    return fields[:at] + fields[at + 1 :] or fields


def repeat(fields: Fields, random: Random) -> Fields:
    start = random.randrange(len(fields))
    stop = min(len(fields), start + random.randint(1, 6))
    return fields[:stop] + fields[start:stop] * random.choice((1, 1, 30)) + fields[stop:]


def nest(fields: Fields, random: Random) -> Fields:
    """Arrays of arrays of arrays, as deep as they go."""
    at = random.randrange(4, len(fields))
    array = Field(struct.pack("<IQ", 9, 1) * random.choice((1, 3, 3000)))
    return (*fields[:at], array, *fields[at:])


def put(fields: Fields, at: int, new: Field) -> Fields:
    return (*fields[:at], new, *fields[at + 1 :])


CHANGES: tuple[Callable[[Fields, Random], Fields], ...] = (
    *(put_number, put_number, put_number, put_text, copy_number, delete, repeat, nest),
)
KIND = Kind(share=230, needs=("numpy", "jaxtyping"), prepare=prepare, attempt=attempt)
