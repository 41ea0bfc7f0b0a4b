"""Transformers you can see through.

    import glassformer

    glassformer.run("plus_last_even", out="runs/demo")
    model = glassformer.load("runs/demo")
    model.params["attn.q.weight"], model.forward([4, 7, 11]), model.trace([4, 7, 11])
    glassformer.prove("glass-29").verdict

Nothing heavy is imported until it is used.
"""

from importlib import import_module
from typing import Any

PLACES = {
    "load": "glassformer.runs.load",
    "run": "glassformer.commands.run",
    "prove": "glassformer.commands.prove",
    "check": "glassformer.commands.check",
    "draw": "glassformer.commands.draw",
    "video": "glassformer.commands.video",
}


def __getattr__(name: str) -> Any:
    if name in PLACES:
        return getattr(import_module(PLACES[name]), name)
    raise AttributeError(f"module 'glassformer' has no attribute '{name}'")
