"""A GGUF file, whole or split, as a checkpoint: metadata and tensors that are unpacked a block at a time.

    checkpoint = open_gguf("SmolLM2-135M-Instruct.Q4_1.gguf")
    checkpoint.config["general.architecture"]        "llama"
    checkpoint.tensor("blk.0.attn_q.weight").block(rows=slice(0, 64))

Parts of a split model are told by their names:

>>> str(next(_list_part_paths(Path("big-00002-of-00003.gguf"), 3)))
'big-00001-of-00003.gguf'
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from glassformer.core.errors import UserError
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.fingerprint import compute_checkpoint_fingerprint, stamp_file
from glassformer.lens.read.gguf_header import GgufHeader, TensorEntry, read_gguf_header
from glassformer.lens.read.gguf_stored import GgufRows
from glassformer.lens.read.mapped import MappedFile, refuse_pointer
from glassformer.lens.read.quoted import quote_name
from glassformer.lens.read.tensor import Tensor

_PART = re.compile(r"(?P<stem>.*)-\d{5}-of-(?P<count>\d{5})\.gguf")


@dataclass(frozen=True)
class _GgufPart:
    """One file of a model: most have only one."""

    path: Path
    file: MappedFile
    header: GgufHeader


def open_gguf(path: str | Path) -> Checkpoint:
    """The checkpoint in a GGUF file, with all other parts where it is one of several."""
    given = _open_gguf_part(Path(path))
    count = given.header.metadata.get("split.count", 1)
    parts = [given] if count in (0, 1) else _open_gguf_parts(given, count)
    tensors = _join_part_tensors(parts)
    if not tensors:
        raise UserError(f"{path} holds no tensors, but weights are expected")
    first, name = parts[0], _PART.fullmatch(given.path.name)
    return Checkpoint(
        name=name["stem"] if name else given.path.stem,
        source=str(first.path),
        kind="gguf",
        config=first.header.metadata,
        tensors=tensors,
        fingerprint=compute_checkpoint_fingerprint([stamp_file(part.path) for part in parts], tensors),
    )


def _open_gguf_part(path: Path) -> _GgufPart:
    file = MappedFile(path)
    refuse_pointer(file)
    return _GgufPart(path, file, read_gguf_header(memoryview(file.map), str(path)))


def _open_gguf_parts(given: _GgufPart, count: object) -> list[_GgufPart]:
    """All parts in order, each of which says that it is the one that its name tells."""
    parts = []
    for index, path in enumerate(_list_part_paths(given.path, count)):
        if not path.exists():
            raise UserError(f"{given.path} is one of {count} parts, but there is no {path}")
        part = given if path == given.path else _open_gguf_part(path)
        told = part.header.metadata.get("split.no", index), part.header.metadata.get("split.count")
        if told != (index, count):
            raise UserError(
                f"{path} says that it is part {quote_name(told[0])} of "
                f"{quote_name(told[1])}, not {index} of {count}"
            )
        parts.append(part)
    return parts


def _list_part_paths(path: Path, count: object) -> Iterator[Path]:
    """The files of a split model, in order."""
    name = _PART.fullmatch(path.name)
    if not name or int(name["count"]) != count:
        raise UserError(
            f"{path} is one of {quote_name(count)} parts, but its name does not end like -00001-of-00002.gguf"
        )
    stem, total = name["stem"], int(name["count"])
    return (path.with_name(f"{stem}-{number:05}-of-{total:05}.gguf") for number in range(1, total + 1))


def _join_part_tensors(parts: list[_GgufPart]) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for part in parts:
        for entry in part.header.tensors:
            if entry.name in tensors:
                raise UserError(
                    f"{part.path} has the tensor {quote_name(entry.name)}, as an earlier part has"
                )
            tensors[entry.name] = _make_gguf_tensor(part.file, entry)
    return tensors


def _make_gguf_tensor(file: MappedFile, entry: TensorEntry) -> Tensor:
    stored = GgufRows(entry.name, file, entry.start, entry.format, entry.shape[-1])
    forget = partial(file.forget, entry.start, entry.stop)
    return Tensor(entry.name, entry.shape, entry.format.name, file.place, stored.read, forget)
