"""Digests and hashes that fit a changed certificate again, made by docs/certificate.md alone."""

import hashlib
import json
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np

Tree = dict[str, Any]


def seal_certificate(tree: Tree, random: Random) -> Tree:
    """With a hash and a digest that fit, as far as they can be made; sometimes the hash is left."""
    if random.random() < 0.8:
        with suppress(Exception):  # damaged beyond a hash
            tree["model"]["sha256"] = hash_stored(tree["model"])
    with suppress(TypeError, ValueError, RecursionError):
        rest = {key: value for key, value in tree.items() if key != "digest"}
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
        tree["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return tree


def hash_stored(model: Tree) -> str:
    """SHA-256 of arrays and architecture, by docs/certificate.md."""
    found, kind = hashlib.sha256(), "<f4" if model["architecture"]["precision"] == "float32" else "<f8"
    for name in sorted(model["params"]):
        stored = model["params"][name]
        values = np.array([float.fromhex(value) for value in stored["values"]]).astype(kind)
        found.update(f"{name}\0{tuple(stored['shape'])!r}\0".encode() + values.tobytes())
    found.update(json.dumps(model["architecture"], sort_keys=True, separators=(",", ":")).encode())
    return found.hexdigest()
