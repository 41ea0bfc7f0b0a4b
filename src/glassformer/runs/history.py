"""Every saved step of a run's chosen seed, read back: any of them is a model of its own."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int

from glassformer.core.atomic import read_arrays
from glassformer.core.errors import UserError
from glassformer.runs.seal import require_unchanged


@dataclass(frozen=True, eq=False)
class History:
    """The parameters at each saved step, stacked by name."""

    steps: Int[np.ndarray, " step"]
    params: dict[str, np.ndarray]  # name to `step ...`

    def at(self, index: int) -> dict[str, np.ndarray]:
        """The parameters of one saved step."""
        return {name: stacked[index] for name, stacked in self.params.items()}

    def index_of(self, step: int) -> int:
        """Where a step is stored; one that was not saved is refused with the nearest ones."""
        found = np.flatnonzero(self.steps == step)
        if not len(found):
            near = sorted(sorted(self.steps.tolist(), key=lambda saved: abs(saved - step))[:2])
            nearest = " and ".join(f"{saved:,}" for saved in near)
            raise UserError(
                f"step {step} was not saved; the nearest are {nearest} "
                f"({len(self.steps)} are saved, from {self.steps[0]:,} to {self.steps[-1]:,})"
            )
        return int(found[0])


def read_seed(folder: Path) -> int:
    """The seed whose weights a run kept; 0 where the file does not say it."""
    _, about = read_arrays(folder / "params.safetensors")
    seed = about.get("seed", 0)
    return seed if type(seed) is int and 0 <= seed < 2**31 else 0


def read_history(folder: Path) -> History | None:
    """The history of a run folder, where it has one."""
    path = folder / "history.safetensors"
    require_unchanged(path)
    if not path.exists():
        return None
    arrays, _ = read_arrays(path)
    if "step" not in arrays or not len(arrays["step"]):
        raise UserError(f"{path} holds no steps; it was left as it is")
    steps = arrays.pop("step")
    return History(steps, arrays)
