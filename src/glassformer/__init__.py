"""Transformers you can see through.

    import glassformer

    glassformer.run("plus_last_even", seeds=8, out="runs/demo")
    model = glassformer.load("runs/demo")
    model.params["attn.q.weight"], model.forward([4, 7, 11]), model.trace([4, 7, 11])
    glassformer.prove("glass-29").verdict
    glassformer.draw("runs/demo", only=["05"])
    glassformer.page("runs/demo")
    glassformer.spectra("model.gguf", layers="0-5").qk_effective_rank

Every function is a command of the same name: `glassformer prove glass-29`. Nothing heavy is imported until it
is used.
"""

from glassformer.commands.add import add
from glassformer.commands.check import check
from glassformer.commands.count import count
from glassformer.commands.draw import draw
from glassformer.commands.export import export
from glassformer.commands.list import list_items as list
from glassformer.commands.load import load
from glassformer.commands.page import page
from glassformer.commands.prove import prove, prove_population
from glassformer.commands.prove_bits import prove_bits
from glassformer.commands.prune import prune
from glassformer.commands.run import run, train
from glassformer.commands.sweep import sweep
from glassformer.commands.test import test
from glassformer.commands.video import video
from glassformer.lens.command.spectra import spectra

__version__ = "0.2.0"
__all__ = [
    "add",
    "check",
    "count",
    "draw",
    "export",
    "list",
    "load",
    "page",
    "prove",
    "prove_bits",
    "prove_population",
    "prune",
    "run",
    "spectra",
    "sweep",
    "test",
    "train",
    "video",
]


def __dir__() -> tuple[str, ...]:
    """What tab completion shows: the verbs, and no package."""
    return tuple(__all__)
