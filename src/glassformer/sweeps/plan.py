"""What a sweep does: configurations x seeds, in blocks.

Sweep("rates", 256, 0, 64, (slow, fast)).units() are eight units: seeds 0-63, 64-127, ... of each of the two.
How it is written in a file or on the command line is in `reading.py`.
"""

from dataclasses import dataclass, replace

from glassformer.core.errors import UserError, require_bounds, require_value
from glassformer.runs.budget import ResourceCost, estimate_run_cost
from glassformer.runs.config import Run
from glassformer.runs.start import require_startable
from glassformer.runs.tree import to_tree
from glassformer.sweeps.identity import digest_settings
from glassformer.sweeps.unit import Unit

SEEDS = 64  # of each configuration: a success rate of a half is then known to 13 points either way
# Seeds per unit. A processor trains its seeds one after the other, so a block need only be long against the
# time to compile, and one block is what is lost with a worker that dies. A GPU trains 1,024 seeds side by
# side, always, and is idle by as much as a block has fewer (GPU_LANES in training/rows.py).
BLOCK, GPU_BLOCK = 64, 1024
_MOST_UNITS = 100_000  # each is a pair of files


@dataclass(frozen=True)
class Sweep:
    """All that the table of a sweep depends on."""

    name: str  # also the folder's name under sweeps/
    seeds: int  # of each configuration
    first_seed: int
    block: int  # seeds per unit
    configurations: tuple[Run, ...]  # each with a name of its own

    def __post_init__(self) -> None:
        plain = bool(self.name) and all(letter.isalnum() or letter in "-_." for letter in self.name)
        require_value(
            plain and self.name[0].isalnum(), "name", "letters, digits, '-', '_' and '.'", self.name
        )
        require_bounds(self, seeds=(1, 2**31), block=(1, 2**31), first_seed=(0, 2**31))
        fits = self.first_seed >= 0 and self.first_seed + self.seeds <= 2**31
        require_value(fits, "first_seed", "at least 0, and below 2^31 with all seeds", self.first_seed)
        require_value(bool(self.configurations), "configuration", "a list of one or more", [])
        for run in self.configurations:
            require_startable(run)
        _refuse_same_configurations(self.configurations)
        count = len(self.configurations) * -(-self.seeds // self.block)
        require_value(
            count <= _MOST_UNITS, "the number of units", f"at most {_MOST_UNITS:,}; try a larger block", count
        )

    def units(self) -> list[Unit]:
        """Blocks of consecutive seeds; the last of a configuration may be shorter."""
        end = self.first_seed + self.seeds
        return [
            Unit(run.name, tree, first, min(self.block, end - first))
            for run, tree in ((run, to_tree(run)) for run in self.configurations)
            for first in range(self.first_seed, end, self.block)
        ]


def estimate_sweep_cost(sweep: Sweep, workers: int, gpu: bool = False) -> ResourceCost:
    """The memory and scratch of so many units at a time, and the time of all."""
    seeds = min(sweep.block, sweep.seeds)
    trains = [replace(run.train, first_seed=0, seeds=seeds) for run in sweep.configurations]
    pairs = zip(sweep.configurations, trains, strict=True)
    units = [estimate_run_cost(replace(run, train=train), gpu) for run, train in pairs]
    memory, disk = (workers * max(getattr(one, name) for one in units) for name in ("memory", "disk"))
    return ResourceCost(memory, disk, -(-sweep.seeds // sweep.block) * sum(one.seconds for one in units))


def _refuse_same_configurations(runs: tuple[Run, ...]) -> None:
    """Names that are shared, and configurations that are equal but for their names."""
    seen: dict[str, str] = {}
    for run in runs:
        if run.name in seen.values():
            raise UserError(f"two configurations are called '{run.name}'; give one another name")
        digest = digest_settings(to_tree(run))
        if digest in seen:
            raise UserError(f"the configurations '{seen[digest]}' and '{run.name}' are the same")
        seen[digest] = run.name
