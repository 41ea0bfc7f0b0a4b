"""A checkpoint by its path or its hub id: `models/qwen`, `model.gguf`, `Qwen/Qwen2.5-3B`."""

import re
from pathlib import Path

from glassformer.core.errors import UserError
from glassformer.lens.read.assemble import KINDS, read_checkpoint_file, read_checkpoint_folder
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.folder import LocalFolder
from glassformer.lens.read.quoted import quote_name

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_SUFFIXES = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".json")  # the end of a path, not of a hub id


def open_checkpoint(target: str | Path) -> Checkpoint:
    """The checkpoint at a path, or of a hub id where there is no such path; no tensor is read yet."""
    text = str(target)
    try:
        path = Path(text).expanduser()
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        raise UserError(f"{quote_name(text)} cannot be read: {error.strerror or error}") from None
    except (ValueError, RuntimeError):
        raise UserError(f"{quote_name(text)} is no path that this machine can have") from None
    if is_folder:
        return read_checkpoint_folder(LocalFolder(path))
    if is_there:
        return read_checkpoint_file(path)
    if _looks_like_hub_id(text):
        from glassformer.lens.read.hub import open_hub

        return open_hub(text)
    raise UserError(
        f"there is no file or folder {quote_name(text)}; expected are {KINDS}, a folder with "
        "them, or a hub id org/name"
    )


def _looks_like_hub_id(text: str) -> bool:
    """
    >>> [_looks_like_hub_id(text) for text in ("Qwen/Qwen2.5-3B", "gpt2", "./models/a", "models/a.gguf")]
    [True, False, False, False]
    """
    return _HUB_ID.fullmatch(text) is not None and not text.endswith(_SUFFIXES)
