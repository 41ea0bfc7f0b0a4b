"""A fingerprint of a checkpoint: another one, other weights; cheap, for it reads no tensor.

>>> import numpy as np
>>> from glassformer.lens.read.tensor import make_memory_tensor
>>> tensors = {"w": make_memory_tensor("w", np.eye(2))}
>>> before = compute_checkpoint_fingerprint([("a.safetensors", 48, 0)], tensors)
>>> before == compute_checkpoint_fingerprint([("a.safetensors", 49, 0)], tensors)
False
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from glassformer.lens.read.tensor import Tensor

Stamp = tuple[str, int, int | str]  # a file's name, its size, and its time or its tag


def stamp_file(path: Path) -> Stamp:
    """A file's name, size and time of change."""
    about = path.stat()
    return path.name, about.st_size, about.st_mtime_ns


def compute_checkpoint_fingerprint(stamps: Iterable[Stamp], tensors: Mapping[str, Tensor]) -> str:
    """Of the files' names, sizes and times and the tensors' names, shapes and types."""
    facts = [sorted(stamps), sorted((name, one.shape, one.dtype) for name, one in tensors.items())]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
