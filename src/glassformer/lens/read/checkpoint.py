"""A checkpoint: its configuration and its tensors, by name, wherever they lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from glassformer.core.errors import UserError
from glassformer.lens.read.tensor import Tensor

Kind = Literal["safetensors", "gguf", "torch", "glassformer"]  # of the files, wherever they lie


@dataclass(frozen=True)
class Checkpoint:
    """What a reader makes of a file, a folder or a hub id."""

    name: str  # for titles: the folder's or the file's name, or the hub id
    source: str  # where it was read from
    kind: Kind
    config: Mapping[str, Any]  # config.json, or the metadata of a GGUF file; empty where there is none
    tensors: Mapping[str, Tensor]
    fingerprint: str  # of names, shapes, types, sizes and times of the files: another one, other weights

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name; one sentence where there is none."""
        if name not in self.tensors:
            raise UserError(f"{self.source} has no tensor called '{name}', which its architecture needs")
        return self.tensors[name]
