"""Tensors of several files as one: by the index that names each tensor's file, or all files together.

{"weight_map": {"model.embed.weight": "model-00001-of-00002.safetensors", ...}}
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from glassformer.core.errors import UserError
from glassformer.lens.read.folder import WeightFolder, read_json_object
from glassformer.lens.read.mapped import ByteSource
from glassformer.lens.read.quoted import quote_name
from glassformer.lens.read.stored import require_tensor_name
from glassformer.lens.read.tensor import Tensor

_PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})(\.\w+)")

Reader = Callable[[ByteSource], Mapping[str, Tensor]]
Found = tuple[dict[str, Tensor], list[str]]  # tensors by name, and the files that they lie in


def read_indexed_shards(folder: WeightFolder, index: str, reader: Reader) -> Found:
    """The tensors that an index promises, each from the file that it names."""
    files = _list_promised_tensors(read_json_object(folder, index, unique=True), f"{folder.place}/{index}")
    present = set(folder.names())
    tensors: dict[str, Tensor] = {}
    for file, names in files.items():
        if "/" not in file and file not in present:
            raise UserError(f"{folder.place} lacks the shard {quote_name(file)}, which {index} names")
        shard = reader(folder.source(file))
        for name in names:
            if name not in shard:
                raise UserError(
                    f"{folder.place}/{file} has no tensor called {quote_name(name)}, which {index} promises"
                )
            tensors[name] = shard[name]
    return tensors, list(files)


def _list_promised_tensors(index: Mapping[str, object], place: str) -> dict[str, list[str]]:
    """The tensors of each file, by an index."""
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise UserError(f"{place} must have a weight_map from tensors to files")
    files: dict[str, list[str]] = {}
    for name, file in weight_map.items():
        require_tensor_name(name, place)
        if not isinstance(file, str) or not _stays_inside(file):
            raise UserError(
                f"{place} puts tensor {quote_name(name)} into {quote_name(file)}, outside the folder"
            )
        files.setdefault(file, []).append(name)
    return files


def _stays_inside(file: str) -> bool:
    """Whether a name is one of a file below the folder, whatever the system.

    >>> [_stays_inside(name) for name in ("a.bin", "part/a.bin", "../a.bin", "/a.bin", "c:\\\\a.bin")]
    [True, True, False, False, False]
    """
    parts = PurePosixPath(file).parts
    is_relative = bool(parts) and parts[0] != "/" and ".." not in parts
    return is_relative and file.isprintable() and not set(file) & {"\\", ":"}


def read_all_shards(folder: WeightFolder, files: Sequence[str], reader: Reader) -> Found:
    """The tensors of all files; a name in two of them is an error."""
    _refuse_missing_parts(folder, files)
    tensors: dict[str, Tensor] = {}
    for file in files:
        for name, tensor in reader(folder.source(file)).items():
            if name in tensors:
                raise UserError(
                    f"{tensor.place} and {tensors[name].place} both hold a tensor {quote_name(name)}"
                )
            tensors[name] = tensor
    return tensors, list(files)


def _refuse_missing_parts(folder: WeightFolder, files: Sequence[str]) -> None:
    for file in files:
        match = _PART.fullmatch(file)
        if not match:
            continue
        stem, _, count, suffix = match.groups()
        for number in range(1, min(int(count), len(files) + 1) + 1):
            part = f"{stem}-{number:05d}-of-{count}{suffix}"
            if part not in files:
                raise UserError(f"{folder.place} lacks the shard '{part}', which '{file}' is a part with")
