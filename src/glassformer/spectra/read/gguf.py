"""A GGUF file, whole or split, as a checkpoint: metadata and tensors that are unpacked a block at a time.

    checkpoint = open_gguf("SmolLM2-135M-Instruct.Q4_1.gguf")
    checkpoint.config["general.architecture"]        "llama"
    checkpoint.tensor("blk.0.attn_q.weight").block(rows=slice(0, 64))

Parts of a split model are told by their names:

>>> str(next(part_names(Path("big-00002-of-00003.gguf"), 3)))
'big-00001-of-00003.gguf'
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from glassformer.errors import UserError
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.read.fingerprint import fingerprint, stamp
from glassformer.spectra.read.gguf_header import Entry, Header, read_header
from glassformer.spectra.read.gguf_stored import Stored
from glassformer.spectra.read.mapped import MappedFile, refuse_pointer
from glassformer.spectra.read.quoted import quoted
from glassformer.spectra.read.tensor import Tensor

PART = re.compile(r"(?P<stem>.*)-\d{5}-of-(?P<count>\d{5})\.gguf")


@dataclass(frozen=True)
class Part:
    """One file of a model: most have only one."""

    path: Path
    file: MappedFile
    header: Header


def open_gguf(path: str | Path) -> Checkpoint:
    """The checkpoint in a GGUF file, with all other parts where it is one of several."""
    given = open_part(Path(path))
    count = given.header.metadata.get("split.count", 1)
    parts = [given] if count in (0, 1) else open_parts(given, count)
    tensors = all_tensors(parts)
    if not tensors:
        raise UserError(f"{path} holds no tensors, but weights are expected")
    first, name = parts[0], PART.fullmatch(given.path.name)
    return Checkpoint(
        name=name["stem"] if name else given.path.stem,
        source=str(first.path),
        kind="gguf",
        config=first.header.metadata,
        tensors=tensors,
        fingerprint=fingerprint([stamp(part.path) for part in parts], tensors),
    )


def open_part(path: Path) -> Part:
    file = MappedFile(path)
    refuse_pointer(file)
    return Part(path, file, read_header(memoryview(file.map), str(path)))


def open_parts(given: Part, count: object) -> list[Part]:
    """All parts in order, each of which says that it is the one that its name tells."""
    parts = []
    for index, path in enumerate(part_names(given.path, count)):
        if not path.exists():
            raise UserError(f"{given.path} is one of {count} parts, but there is no {path}")
        part = given if path == given.path else open_part(path)
        told = part.header.metadata.get("split.no", index), part.header.metadata.get("split.count")
        if told != (index, count):
            raise UserError(
                f"{path} says that it is part {quoted(told[0])} of {quoted(told[1])}, not {index} of {count}"
            )
        parts.append(part)
    return parts


def part_names(path: Path, count: object) -> Iterator[Path]:
    """The files of a split model, in order."""
    name = PART.fullmatch(path.name)
    if not name or int(name["count"]) != count:
        raise UserError(
            f"{path} is one of {quoted(count)} parts, but its name does not end like -00001-of-00002.gguf"
        )
    stem, total = name["stem"], int(name["count"])
    return (path.with_name(f"{stem}-{number:05}-of-{total:05}.gguf") for number in range(1, total + 1))


def all_tensors(parts: list[Part]) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for part in parts:
        for entry in part.header.tensors:
            if entry.name in tensors:
                raise UserError(f"{part.path} has the tensor {quoted(entry.name)}, as an earlier part has")
            tensors[entry.name] = as_tensor(part.file, entry)
    return tensors


def as_tensor(file: MappedFile, entry: Entry) -> Tensor:
    stored = Stored(entry.name, file, entry.start, entry.format, entry.shape[-1])
    forget = partial(file.forget, entry.start, entry.stop)
    return Tensor(entry.name, entry.shape, entry.format.name, file.place, stored.read, forget)
