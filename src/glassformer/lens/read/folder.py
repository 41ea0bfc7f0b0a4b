"""A folder of weights: its files by name, small ones read whole, large ones mapped.

A repository on the hub answers the same questions (hub.py), so that both are read by the same code.
"""

from pathlib import Path
from typing import Any, Protocol

from glassformer.core.errors import UserError
from glassformer.lens.read.fingerprint import Stamp, stamp_file
from glassformer.lens.read.json_object import parse_json_object
from glassformer.lens.read.mapped import ByteSource, MappedFile

_LARGEST_JSON = 50_000_000  # bytes; the index of a model of 100,000 tensors has 10 MB


class WeightFolder(Protocol):
    """What a reader asks of a place with files."""

    @property
    def place(self) -> str: ...  # for errors
    def names(self) -> list[str]: ...
    def source(self, name: str) -> ByteSource: ...
    def path(self, name: str) -> Path: ...  # the whole file, on this machine
    def stamp(self, name: str) -> Stamp: ...


class LocalFolder:
    """A folder on this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = str(root)

    def names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.root.iterdir() if path.is_file())
        except OSError as error:
            raise UserError(f"{self.root} cannot be read: {error.strerror or error}") from None

    def path(self, name: str) -> Path:
        return self.root / name

    def source(self, name: str) -> ByteSource:
        return MappedFile(self.path(name))

    def stamp(self, name: str) -> Stamp:
        return stamp_file(self.path(name))


def read_config_json(folder: WeightFolder) -> dict[str, Any]:
    """What config.json says; empty where there is none."""
    return read_json_object(folder, "config.json") if "config.json" in folder.names() else {}


def read_json_object(folder: WeightFolder, name: str, unique: bool = False) -> dict[str, Any]:
    """A small JSON file of the folder; one sentence where it is none."""
    source = folder.source(name)
    if source.size > _LARGEST_JSON:
        raise UserError(f"{source.place} has {source.size} bytes; at most {_LARGEST_JSON} are expected")
    return parse_json_object(source.bytes(0, source.size).tobytes(), source.place, unique)
