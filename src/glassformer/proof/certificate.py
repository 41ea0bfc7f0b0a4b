"""The certificate of a proof: the model, the task, and what another program can verify of the verdict.

docs/certificate.md describes the format; `glassformer.check` verifies it with code of its own. The classes of
an adder's proof are in `adder_certificate.py`.
"""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from glassformer.model.architecture import Architecture
from glassformer.model.model import Model
from glassformer.proof.verdict import Verdict
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Task

FORMAT = 1


def refutation(proof: Verdict, model: Model, task: Task, origin: str) -> dict[str, Any]:
    """Of a model that reads strings: the context where it fails, which anybody can run."""
    content = heading(model, task, origin) | {
        "arithmetic": proof.arithmetic,
        "verdict": proof.verdict,
        "inputs": proof.inputs,
        "counterexample": proof.counterexample,
        "worst": proof.details["worst"],
    }
    return content | {"digest": digest(content)}


def heading(model: Model, task: Task, origin: str) -> dict[str, Any]:
    """Format, model and task."""
    about = {
        "origin": origin,
        "sha256": model_hash(model.architecture, model.params),
        "architecture": plain_tree(model.architecture),
        "params": {name: array_text(array) for name, array in model.params.items()},
    }
    made_with = f"glassformer {version('glassformer')}"
    return {"format": FORMAT, "made_with": made_with, "model": about, "task": to_tree(task)}


def model_hash(architecture: Architecture, params: Mapping[str, np.ndarray]) -> str:
    """Names, shapes, numbers and architecture, as one text of 64 characters."""
    found = hashlib.sha256()
    for name in sorted(params):
        array = np.asarray(params[name], np.dtype(architecture.precision).newbyteorder("<"))
        found.update(name.encode() + b"\0" + repr(array.shape).encode() + b"\0" + array.tobytes())
    found.update(canonical(plain_tree(architecture)).encode())
    return found.hexdigest()


def plain_tree(architecture: Architecture) -> Any:
    """The architecture as it is after being written and read, so that 7 and 7.0 are the same text."""
    return to_tree(from_tree(Architecture, to_tree(architecture), "model"))


def digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def array_text(array: np.ndarray) -> dict[str, Any]:
    """Numbers as hexadecimal texts, exact to the last bit."""
    return {"shape": list(array.shape), "values": [float(value).hex() for value in array.ravel()]}
