"""The engine that the words of a command name: `--engine ray --address auto`.

>>> make_engine("here")
Here(threads=1)
>>> make_engine("hare")
Traceback (most recent call last):
glassformer.errors.UserError: no engine called 'hare'; did you mean 'here'? (see docs/clusters.md)
"""

from glassformer.errors import UserError, require, unknown
from glassformer.scale.engine import Engine
from glassformer.scale.here import Here

ENGINES = ("here", "processes", "ray")


def make_engine(
    name: str = "here", workers: int = 0, address: str | None = None, gpus_per_unit: float = 0
) -> Engine:
    """The engine of that name; nothing starts before it is given work.

    `workers` are units at a time: 0 is one for `here`, one a GPU or one a core for `processes`, and as many
    as the cluster has room for with `ray`. `gpus_per_unit` is for `processes` and `ray`; `here` uses what the
    job asks for.
    """
    require(workers >= 0, "--workers", "at least 1, or 0 for as many as there is room for", workers)
    require(gpus_per_unit >= 0, "GPUs per unit", "0 or more", gpus_per_unit)
    if address is not None and name in ENGINES[:2]:
        raise UserError(f"--address is for --engine ray, but the engine is '{name}'")
    if name == "here":
        return Here(workers or 1)
    if name == "processes":
        from glassformer.scale.processes import Processes

        return Processes(workers, gpus_per_unit)
    if name == "ray":
        from glassformer.scale.cluster import RayCluster

        return RayCluster(address, workers, gpus_per_unit)
    raise unknown("engine", name, ENGINES, hint="see docs/clusters.md")
