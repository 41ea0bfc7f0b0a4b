"""Our own tiny models under the lens: weights as they act, whatever numbers are stored for them.

A query weight that is stored as one angle, a rank-one output and a tied head become plain matrices of the
residual stream's width.

>>> checkpoint, layout = own_checkpoint("nanogpt-58")
>>> layout.heads, layout.width, layout.weights[2].type, checkpoint.tensors["attn.q"].shape
(2, 4, 'W_Q', (4, 4))
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.spectra.layout import Layout
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.read.tensor import in_memory

HEADER = 100_000_000  # bytes: no header of a safetensors file is longer
RUNS = Path("runs")


def is_own(target: str) -> bool:
    """Whether a target is a model of ours: a zoo id, a run, or a weights file that says so."""
    path = Path(target)
    if path.suffix == ".safetensors":
        return "glassformer" in safetensors_metadata(path)
    if any(is_file(folder / "run.toml") for folder in (path, RUNS / path)):
        return True
    return len(path.parts) == 1 and not path.suffix and is_zoo_id(target)


def is_file(path: Path) -> bool:
    """Whether a file is there, and not where none can be: a name may be too long for the disk."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_zoo_id(name: str) -> bool:
    from glassformer.zoo import ZOO

    return name in ZOO


def safetensors_metadata(path: Path) -> Mapping[str, Any]:
    """The texts that a file says about itself; none where it is no such file."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size)) if size <= min(HEADER, path.stat().st_size) else {}
    except (OSError, ValueError, RecursionError):
        return {}
    about = header.get("__metadata__") if isinstance(header, dict) else None
    return about if isinstance(about, dict) else {}


def own_checkpoint(target: str) -> tuple[Checkpoint, Layout]:
    """The effective matrices of one of our models, and where its heads lie in them."""
    from glassformer.runs.load import load
    from glassformer.spectra.adapt.own_arrays import effective
    from glassformer.spectra.adapt.own_layout import own_layout

    model = load(target)
    arrays = effective(model.architecture, model.params)
    tensors = {name: in_memory(name, array, model.origin) for name, array in arrays.items()}
    about = {"architecture": repr(model.architecture)}
    fingerprint = hashlib.sha256(about["architecture"].encode())
    for name, array in sorted(model.params.items()):
        fingerprint.update(name.encode() + array.tobytes())
    name = Path(target).name.removesuffix(".safetensors")
    checkpoint = Checkpoint(name, model.origin, "glassformer", about, tensors, fingerprint.hexdigest())
    return checkpoint, own_layout(model.architecture, arrays)
