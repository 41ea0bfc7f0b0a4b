"""The certificate of a proof: the model, the task, and what another program can verify of the verdict.

docs/certificate.md describes the format; `glassformer.checker` verifies it with code of its own. The classes
of an adder's proof are in `adder_certificate.py`, the rows of a rule's in `rule_certificate.py`.
"""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from glassformer.models.architecture import Architecture
from glassformer.models.model import Model
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Addition, Task
from glassformer.tasks.addition import SCHEDULE_SETTINGS

_FORMAT = 3
_LONGEST_ORIGIN = 400  # characters of a name or path; the end of a longer one


def make_heading(model: Model, task: Task, origin: str) -> dict[str, Any]:
    """Format, model and task."""
    about = {
        "origin": _make_printable(origin),
        "sha256": hash_model(model.architecture, model.params),
        "architecture": _normalise_tree(model.architecture),
        "params": {name: _to_hex_array(array) for name, array in model.params.items()},
    }
    made_with = f"glassformer {version('glassformer')}"
    return {"format": _FORMAT, "made_with": made_with, "model": about, "task": to_tree(task)}


def describe_problem(task: Addition) -> dict[str, Any]:
    """What is asked of an adder and how it is written: the task without its schedule of training."""
    return {name: value for name, value in to_tree(task).items() if name not in SCHEDULE_SETTINGS}


def _make_printable(origin: str) -> str:
    """What is only said, not claimed, in a form that any reader can show."""
    return "".join(one if one.isprintable() else "?" for one in origin)[-_LONGEST_ORIGIN:]


def hash_model(architecture: Architecture, params: Mapping[str, np.ndarray]) -> str:
    """Names, shapes, parameters and architecture, as one text of 64 characters."""
    found = hashlib.sha256()
    for name in sorted(params):
        array = np.asarray(params[name], np.dtype(architecture.precision).newbyteorder("<"))
        found.update(name.encode() + b"\0" + repr(array.shape).encode() + b"\0" + array.tobytes())
    found.update(_to_canonical_json(_normalise_tree(architecture)).encode())
    return found.hexdigest()


def _normalise_tree(architecture: Architecture) -> Any:
    """The architecture as it is after being written and read, so that 7 and 7.0 are the same text."""
    return to_tree(from_tree(Architecture, to_tree(architecture), "model"))


def digest_certificate(content: Mapping[str, object]) -> str:
    return hashlib.sha256(_to_canonical_json(content).encode()).hexdigest()


def _to_canonical_json(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _to_hex_array(array: np.ndarray) -> dict[str, Any]:
    """Numbers as hexadecimal texts, exact to the last bit."""
    return {"shape": list(array.shape), "values": [float(value).hex() for value in array.ravel()]}
