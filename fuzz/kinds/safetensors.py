"""Safetensors files and the JSON files beside them: a tiny Llama, whole and in two shards."""

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.kinds.kind import Kind
from fuzz.kinds.looking import look
from fuzz.mutate.bytes import LENGTHS, mutate_bytes
from fuzz.mutate.text import write_json
from fuzz.mutate.tree import mutate_tree
from fuzz.mutate.values import draw_text
from fuzz.place import Place

Files = dict[str, bytes]
DTYPES = (
    "F64",
    "F32",
    "F16",
    "BF16",
    "F8_E4M3",
    "F8_E5M2",
    "I64",
    "I8",
    "U8",
    "BOOL",
    "F4",
    "I4",
    "C64",
    "E8M0",
)


def prepare(folder: Path) -> list[Files]:
    """The files of three models by name: one file, two shards with an index, and one file of many types."""
    from tests.lens.small_llama import arrays, config

    parts = {"config.json": json.dumps(config(1)).encode()}
    stored = arrays(1)
    names, weights = list(stored), {name: array.astype("<f4").tobytes() for name, array in stored.items()}
    entries = {name: ("F32", list(stored[name].shape)) for name in names}
    whole = {"model.safetensors": packed(entries, weights)}
    halves = [names[:6], names[6:]]
    files = [f"model-{number}.safetensors" for number in (1, 2)]
    shards = {
        file: packed({name: entries[name] for name in half}, weights)
        for file, half in zip(files, halves, strict=True)
    }
    index = {"weight_map": {name: file for file, half in zip(files, halves, strict=True) for name in half}}
    index["metadata"] = {"total_size": sum(map(len, weights.values()))}
    types = {f"t.{dtype}": (dtype, [2, 4]) for dtype in DTYPES[:10]}
    many = packed(types, {name: bytes(range(64))[: size_of(*entry)] for name, entry in types.items()})
    return [
        parts | whole,
        parts | shards | {"model.safetensors.index.json": json.dumps(index).encode()},
        {"model.safetensors": many},
    ]


def size_of(dtype: str, shape: list[int]) -> int:
    bits = {"F64": 64, "I64": 64, "F32": 32, "F16": 16, "BF16": 16}.get(dtype, 8)
    return shape[0] * shape[1] * bits // 8


def packed(entries: dict[str, tuple[str, list[int]]], weights: dict[str, bytes]) -> bytes:
    """A file: the header's length, the header, the numbers."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, (dtype, shape) in entries.items():
        stop = start + len(weights[name])
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}
        start = stop
    return join(json.dumps(header).encode(), b"".join(weights[name] for name in entries))


def join(header: bytes, numbers: bytes, length: int | None = None) -> bytes:
    return (len(header) if length is None else length).to_bytes(8, "little") + header + numbers


def attempt(random: Random, inputs: list[Files], place: Place) -> int | None:
    """One model with one file damaged, read by its folder or by its file."""
    files = dict(random.choice(inputs))
    name = random.choice(list(files))
    files[name] = (
        damaged_json(files[name], random) if name.endswith(".json") else damaged(files[name], random)
    )
    folder = place.folder / "model"
    folder.mkdir()
    for one, content in files.items():
        (folder / one).write_bytes(content)
    is_file = random.random() < 0.4 and name.endswith(".safetensors")
    return look(folder / name if is_file else folder, random)


def damaged_json(content: bytes, random: Random) -> bytes:
    if random.random() < 0.3:
        return mutate_bytes(content, random)
    return write_json(mutate_tree(json.loads(content), random))


def damaged(content: bytes, random: Random) -> bytes:
    """By its bytes, by its header's tree, by one field of an entry, or by its length."""
    length = int.from_bytes(content[:8], "little")
    header, numbers = content[8 : 8 + length], content[8 + length :]
    chosen = random.random()
    if chosen < 0.25:
        return mutate_bytes(content, random)
    if chosen < 0.35:
        return join(header, numbers, random.choice((*LENGTHS, length + 1, length - 1, len(content))))
    if chosen < 0.45:
        return join(mutate_bytes(header, random), numbers)
    tree = json.loads(header)
    tree = mutate_tree(tree, random) if chosen < 0.7 else change_entry(tree, random)
    return join(write_json(tree), numbers)


def change_entry(tree: dict[str, Any], random: Random) -> dict[str, Any]:
    """One tensor with another type, shape, span or name, of the right form."""
    name = random.choice([key for key in tree if key != "__metadata__"])
    entry, sizes = dict(tree[name]), (0, 1, 2, 3, 2**20, 2**31, 2**62, 2**63, 2**64, 10**400, -1)
    what = random.choice(("dtype", "shape", "data_offsets", "name"))
    if what == "dtype":
        entry["dtype"] = random.choice((*DTYPES, draw_text(random)))
    elif what == "shape":
        entry["shape"] = [
            random.choice((*sizes, *entry["shape"])) for _ in range(random.choice((0, 1, 2, 3, 65)))
        ]
    elif what == "data_offsets":
        entry["data_offsets"] = [random.choice((*sizes, *entry["data_offsets"])) for _ in range(2)]
    else:
        return {
            (random.choice((draw_text(random), *tree)) if key == name else key): one
            for key, one in tree.items()
        }
    return tree | {name: entry}


KIND = Kind(share=230, needs=("numpy", "jaxtyping", "safetensors"), prepare=prepare, attempt=attempt)
