"""Our own tiny models under the lens: weights as they act, whatever parameters are stored for them.

A query weight that is stored as one angle, a rank-one output and a tied head become plain matrices of the
residual stream's width.

>>> checkpoint, layout = open_own_checkpoint("nanogpt-58")
>>> layout.heads, layout.width, layout.weights[2].type, checkpoint.tensors["attn.q"].shape
(2, 4, 'W_Q', (4, 4))
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.lens.layout import ModelLayout
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor

_HEADER = 100_000_000  # bytes: no header of a safetensors file is longer
RUNS = Path("runs")


def is_own_model(target: str) -> bool:
    """Whether a target is a model of ours: a zoo id, a run, or a weights file that says so."""
    path = Path(target)
    if path.suffix == ".safetensors":
        return "glassformer" in _read_safetensors_metadata(path)
    if any(is_existing_file(folder / "run.toml") for folder in (path, RUNS / path)):
        return True
    return len(path.parts) == 1 and not path.suffix and _is_zoo_id(target)


def is_existing_file(path: Path) -> bool:
    """Whether a file is there, and not where none can be: a name may be too long for the disk."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_zoo_id(name: str) -> bool:
    from glassformer.zoo import ZOO

    return name in ZOO


def _read_safetensors_metadata(path: Path) -> Mapping[str, Any]:
    """The texts that a file says about itself; none where it is no such file."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size)) if size <= min(_HEADER, path.stat().st_size) else {}
    except (OSError, ValueError, RecursionError):
        return {}
    about = header.get("__metadata__") if isinstance(header, dict) else None
    return about if isinstance(about, dict) else {}


def open_own_checkpoint(target: str) -> tuple[Checkpoint, ModelLayout]:
    """The effective matrices of one of our models, and where its heads lie in them."""
    from glassformer.lens.adapt.own_arrays import compute_effective_weights
    from glassformer.lens.adapt.own_layout import make_own_layout
    from glassformer.runs.load import load_model

    model = load_model(target)
    arrays = compute_effective_weights(model.architecture, model.params)
    tensors = {name: make_memory_tensor(name, array, model.origin) for name, array in arrays.items()}
    about = {"architecture": repr(model.architecture)}
    fingerprint = hashlib.sha256(about["architecture"].encode())
    for name, array in sorted(model.params.items()):
        fingerprint.update(name.encode() + array.tobytes())
    name = Path(target).name.removesuffix(".safetensors")
    checkpoint = Checkpoint(name, model.origin, "glassformer", about, tensors, fingerprint.hexdigest())
    return checkpoint, make_own_layout(model.architecture, arrays)
