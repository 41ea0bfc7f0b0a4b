"""An entry of the zoo: a model that comes with glassformer, and where its parameters come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glassformer.models.architecture import Architecture
from glassformer.tasks import Addition

WEIGHTS = Path(__file__).parent / "weights"
VERDICTS = WEIGHTS / "verdicts.json"  # what `glassformer prove` says of every model that has weights


@dataclass(frozen=True)
class ZooEntry:
    """An adder under its id; hand-built parameters are computed, trained ones are in a file here."""

    id: str
    about: str
    task: Addition
    architecture: Architecture
    build: Callable[[], Mapping[str, np.ndarray]] | None = None  # hand-built parameters; none: trained
    at_length: Callable[[int], "ZooEntry"] | None = None  # its formulas for so many digits

    @property
    def weights(self) -> Path | None:
        """The file of trained weights that ships with the package, where a good seed was found."""
        path = WEIGHTS / f"{self.id}.safetensors"
        return path if self.build is None and path.exists() else None
