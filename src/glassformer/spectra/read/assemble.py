"""A checkpoint out of a folder or a file: which files hold the weights, and what they are read by.

In a folder, the first of these that is there: model.safetensors.index.json, model.safetensors, all
*.safetensors; *.gguf; pytorch_model.bin.index.json, pytorch_model.bin, all *.bin, *.pt and *.pth.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.errors import UserError
from glassformer.spectra.read.checkpoint import Checkpoint, Kind
from glassformer.spectra.read.fingerprint import fingerprint
from glassformer.spectra.read.folder import Folder, LocalFolder, read_config
from glassformer.spectra.read.mapped import MappedFile, Source, refuse_pointer
from glassformer.spectra.read.packed import refuse_packed
from glassformer.spectra.read.safetensors import looks_like_safetensors, read_safetensors
from glassformer.spectra.read.scaled import with_scales
from glassformer.spectra.read.shards import Found, Reader, read_indexed, read_together
from glassformer.spectra.read.tensor import Tensor
from glassformer.spectra.read.torch_file import LEGACY, MAGIC, read_torch

ASIDE = re.compile(r"(consolidated|adapter_|optimizer|scheduler|training_args|rng_state|scaler).*")
KINDS = "*.safetensors, *.gguf, pytorch_model.bin, *.bin, *.pt or *.pth"
FIRST_PART = re.compile(r"(.*)-00001-of-(\d{5})\.gguf")


@dataclass(frozen=True)
class Format:
    """How the files of a kind are called and read."""

    kind: Kind
    main: str  # the usual file; its index is called like it
    suffixes: tuple[str, ...]
    reader: Reader


SAFETENSORS = Format("safetensors", "model.safetensors", (".safetensors",), read_safetensors)
TORCH = Format("torch", "pytorch_model.bin", (".bin", ".pt", ".pth"), read_torch)


def read_folder(folder: Folder) -> Checkpoint:
    """The checkpoint of a folder; one sentence where it has no weights."""
    names = folder.names()
    for kind in (SAFETENSORS, TORCH):
        found = find_files(folder, names, kind)
        if found:
            return assembled(folder, *found, kind.kind)
        if kind is SAFETENSORS and any(name.endswith(".gguf") for name in names):
            return read_gguf(folder, [name for name in names if name.endswith(".gguf")])
    raise UserError(f"{folder.place} has no weights: {KINDS} are looked for")


def read_file(path: Path) -> Checkpoint:
    """The checkpoint of one file, by what it starts with; config.json beside it is read too."""
    source = MappedFile(path)
    kind = kind_of(source, path.suffix)
    if kind is None:
        from glassformer.spectra.read.gguf import open_gguf

        return open_gguf(path)
    folder = LocalFolder(path.parent)
    return assembled(folder, dict(kind.reader(source)), [path.name], kind.kind, str(path), path.stem)


def assembled(
    folder: Folder,
    tensors: dict[str, Tensor],
    files: Sequence[str],
    kind: Kind,
    source: str = "",
    name: str = "",
) -> Checkpoint:
    config = read_config(folder)
    if not tensors:
        raise UserError(f"{source or folder.place} holds no tensors")
    refuse_packed(tensors, config)
    tensors = with_scales(tensors, config)
    mark = fingerprint([folder.stamp(file) for file in files], tensors)
    title = name or Path(os.path.abspath(folder.place)).name  # noqa: PTH100  a link keeps its name
    return Checkpoint(title, source or folder.place, kind, config, tensors, mark)


def find_files(folder: Folder, names: Sequence[str], kind: Format) -> Found | None:
    """The tensors of all files of a kind, and those files; none where there is no such file."""
    indexes = [name for name in names if name.endswith(kind.suffixes[0] + ".index.json")]
    main_index = kind.main + ".index.json"
    if main_index in indexes or len(indexes) == 1:
        return read_indexed(folder, main_index if main_index in indexes else indexes[0], kind.reader)
    if kind.main in names:
        return read_together(folder, [kind.main], kind.reader)
    files = [name for name in names if name.endswith(kind.suffixes)]
    weights = [name for name in files if not ASIDE.fullmatch(name)] or [
        name for name in files if name.startswith(("consolidated", "adapter_"))
    ]
    return read_together(folder, weights, kind.reader) if weights else None


def read_gguf(folder: Folder, names: Sequence[str]) -> Checkpoint:
    """The only GGUF file of a folder, or the one whose parts they all are."""
    from glassformer.spectra.read.gguf import open_gguf

    first = FIRST_PART.fullmatch(names[0])
    is_one = first and all(
        name.startswith(f"{first[1]}-") and name.endswith(f"-of-{first[2]}.gguf") for name in names
    )
    if len(names) > 1 and not is_one:
        raise UserError(
            f"{folder.place} has {len(names)} GGUF files; name one of them: {', '.join(names[:5])}"
        )
    paths = [folder.path(name) for name in names]
    return open_gguf(paths[0])


def kind_of(source: Source, suffix: str) -> Format | None:
    """The format that a file starts like, else the one that it is called like; none: GGUF."""
    first = source.bytes(0, min(source.size, 64)).tobytes()
    refuse_pointer(source)
    if first.startswith(b"GGUF") or suffix == ".gguf":
        return None
    if first.startswith((MAGIC, LEGACY)):
        return TORCH
    if looks_like_safetensors(source):
        return SAFETENSORS
    for kind in (SAFETENSORS, TORCH):
        if suffix in kind.suffixes:
            return kind
    raise UserError(f"{source.place} is no safetensors, GGUF or PyTorch file: it starts with {first[:4]!r}")
