"""A checkpoint out of a folder or a file: which files hold the weights, and what they are read by.

In a folder, the first of these that is there: model.safetensors.index.json, model.safetensors, all
*.safetensors; *.gguf; pytorch_model.bin.index.json, pytorch_model.bin, all *.bin, *.pt and *.pth.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.core.errors import UserError
from glassformer.lens.read.checkpoint import Checkpoint, Kind
from glassformer.lens.read.fingerprint import compute_checkpoint_fingerprint
from glassformer.lens.read.folder import LocalFolder, WeightFolder, read_config_json
from glassformer.lens.read.mapped import ByteSource, MappedFile, refuse_pointer
from glassformer.lens.read.packed import refuse_packed_weights
from glassformer.lens.read.safetensors import looks_like_safetensors, read_safetensors
from glassformer.lens.read.scaled import apply_scales
from glassformer.lens.read.shards import Found, Reader, read_all_shards, read_indexed_shards
from glassformer.lens.read.tensor import Tensor
from glassformer.lens.read.torch_file import LEGACY, MAGIC, read_torch_tensors

_ASIDE = re.compile(r"(consolidated|adapter_|optimizer|scheduler|training_args|rng_state|scaler).*")
KINDS = "*.safetensors, *.gguf, pytorch_model.bin, *.bin, *.pt or *.pth"
_FIRST_PART = re.compile(r"(.*)-00001-of-(\d{5})\.gguf")


@dataclass(frozen=True)
class _FileFormat:
    """How the files of a kind are called and read."""

    kind: Kind
    main: str  # the usual file; its index is called like it
    suffixes: tuple[str, ...]
    reader: Reader


SAFETENSORS = _FileFormat("safetensors", "model.safetensors", (".safetensors",), read_safetensors)
_TORCH = _FileFormat("torch", "pytorch_model.bin", (".bin", ".pt", ".pth"), read_torch_tensors)


def read_checkpoint_folder(folder: WeightFolder) -> Checkpoint:
    """The checkpoint of a folder; one sentence where it has no weights."""
    names = folder.names()
    for kind in (SAFETENSORS, _TORCH):
        found = _find_weight_files(folder, names, kind)
        if found:
            return _assemble_checkpoint(folder, *found, kind.kind)
        if kind is SAFETENSORS and any(name.endswith(".gguf") for name in names):
            return _read_gguf_folder(folder, [name for name in names if name.endswith(".gguf")])
    raise UserError(f"{folder.place} has no weights: {KINDS} are looked for")


def read_checkpoint_file(path: Path) -> Checkpoint:
    """The checkpoint of one file, by what it starts with; config.json beside it is read too."""
    source = MappedFile(path)
    kind = _detect_format(source, path.suffix)
    if kind is None:
        from glassformer.lens.read.gguf import open_gguf

        return open_gguf(path)
    folder = LocalFolder(path.parent)
    return _assemble_checkpoint(
        folder, dict(kind.reader(source)), [path.name], kind.kind, str(path), path.stem
    )


def _assemble_checkpoint(
    folder: WeightFolder,
    tensors: dict[str, Tensor],
    files: Sequence[str],
    kind: Kind,
    source: str = "",
    name: str = "",
) -> Checkpoint:
    config = read_config_json(folder)
    if not tensors:
        raise UserError(f"{source or folder.place} holds no tensors")
    refuse_packed_weights(tensors, config)
    tensors = apply_scales(tensors, config)
    mark = compute_checkpoint_fingerprint([folder.stamp(file) for file in files], tensors)
    title = name or Path(os.path.abspath(folder.place)).name  # noqa: PTH100  a link keeps its name
    return Checkpoint(title, source or folder.place, kind, config, tensors, mark)


def _find_weight_files(folder: WeightFolder, names: Sequence[str], kind: _FileFormat) -> Found | None:
    """The tensors of all files of a kind, and those files; none where there is no such file."""
    indexes = [name for name in names if name.endswith(kind.suffixes[0] + ".index.json")]
    main_index = kind.main + ".index.json"
    if main_index in indexes or len(indexes) == 1:
        return read_indexed_shards(folder, main_index if main_index in indexes else indexes[0], kind.reader)
    if kind.main in names:
        return read_all_shards(folder, [kind.main], kind.reader)
    files = [name for name in names if name.endswith(kind.suffixes)]
    weights = [name for name in files if not _ASIDE.fullmatch(name)] or [
        name for name in files if name.startswith(("consolidated", "adapter_"))
    ]
    return read_all_shards(folder, weights, kind.reader) if weights else None


def _read_gguf_folder(folder: WeightFolder, names: Sequence[str]) -> Checkpoint:
    """The only GGUF file of a folder, or the one whose parts they all are."""
    from glassformer.lens.read.gguf import open_gguf

    first = _FIRST_PART.fullmatch(names[0])
    is_one = first and all(
        name.startswith(f"{first[1]}-") and name.endswith(f"-of-{first[2]}.gguf") for name in names
    )
    if len(names) > 1 and not is_one:
        raise UserError(
            f"{folder.place} has {len(names)} GGUF files; name one of them: {', '.join(names[:5])}"
        )
    paths = [folder.path(name) for name in names]
    return open_gguf(paths[0])


def _detect_format(source: ByteSource, suffix: str) -> _FileFormat | None:
    """The format that a file starts like, else the one that it is called like; none: GGUF."""
    first = source.bytes(0, min(source.size, 64)).tobytes()
    refuse_pointer(source)
    if first.startswith(b"GGUF") or suffix == ".gguf":
        return None
    if first.startswith((MAGIC, LEGACY)):
        return _TORCH
    if looks_like_safetensors(source):
        return SAFETENSORS
    for kind in (SAFETENSORS, _TORCH):
        if suffix in kind.suffixes:
            return kind
    raise UserError(f"{source.place} is no safetensors, GGUF or PyTorch file: it starts with {first[:4]!r}")
