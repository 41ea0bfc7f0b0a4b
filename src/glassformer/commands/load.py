"""`glassformer.load`: a model in memory, with its parameters, its task and its forward pass."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glassformer.runs.load import LoadedModel


def load(target: str | Path, model: str | None = None) -> "LoadedModel":
    """Load a model by zoo id, run folder, run name or .safetensors file.

    Args:
        target: a zoo id, a run folder, a run's name or a .safetensors file
        model: architecture of a .safetensors file that names none: a zoo id or configuration

    >>> adder = load("glass-8")
    >>> adder.task.name, adder.add(57, 68)
    ('addition', 125)
    """
    from glassformer.runs.load import load_model

    return load_model(target, model)
