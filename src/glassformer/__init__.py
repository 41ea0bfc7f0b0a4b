"""Transformers you can see through.

    import glassformer

    glassformer.run("plus_last_even", out="runs/demo")
    model = glassformer.load("runs/demo")
    model.params["attn.q.weight"], model.forward([4, 7, 11]), model.trace([4, 7, 11])
    glassformer.prove("glass-29").verdict
    glassformer.draw("runs/demo", only=["05"])
    glassformer.page("runs/demo")
    glassformer.spectra("model.gguf", layers="0-5").qk_effective_rank

Nothing heavy is imported until it is used.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

PLACES = {
    "load": "glassformer.runs.load",
    "run": "glassformer.commands.run",
    "prove": "glassformer.commands.prove",
    "check": "glassformer.commands.check",
    "draw": "glassformer.commands.draw",
    "video": "glassformer.commands.video",
    "page": "glassformer.commands.page",
    "spectra": "glassformer.commands.spectra",
    "export": "glassformer.commands.export",
    "sweep": "glassformer.commands.sweep",
}


def __getattr__(name: str) -> Any:
    if name in PLACES:
        return getattr(import_module(PLACES[name]), name)
    raise AttributeError(f"module 'glassformer' has no attribute '{name}'")


class Verb(ModuleType):
    """A package that can be called by the function of its name: `glassformer.draw` is both."""

    def __call__(self, *words: Any, **options: Any) -> Any:
        return __getattr__(self.__name__.rpartition(".")[2])(*words, **options)


class Package(ModuleType):
    """Python sets `glassformer.draw` to the package once that is imported; it then stays callable."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in PLACES and isinstance(value, ModuleType):
            value.__class__ = Verb
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = Package
