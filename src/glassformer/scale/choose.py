"""The engine that the words of a command name: `--engine ray --address auto`.

>>> make_engine("here")
LocalEngine(threads=1)
>>> make_engine("hare")
Traceback (most recent call last):
glassformer.core.errors.UserError: no engine called 'hare'; did you mean 'here'? (see docs/clusters.md)
"""

from glassformer.core.errors import UserError, make_unknown_error, require_value
from glassformer.scale.engine import Engine
from glassformer.scale.here import LocalEngine

_ENGINES = ("here", "processes", "ray")


def make_engine(
    name: str = "here", workers: int = 0, address: str | None = None, gpus_per_unit: float = 0
) -> Engine:
    """The engine of that name; nothing starts before it is given work.

    `workers` are units at a time: 0 is one for `here`, one per GPU or one per core for `processes`, and as
    many as the cluster has room for with `ray`. `gpus_per_unit` is for `processes` and `ray`; `here` uses
    what the job asks for.
    """
    require_value(workers >= 0, "--workers", "at least 1, or 0 for as many as there is room for", workers)
    require_value(gpus_per_unit >= 0, "GPUs per unit", "0 or more", gpus_per_unit)
    if address is not None and name in _ENGINES[:2]:
        raise UserError(f"--address is for --engine ray, but the engine is '{name}'")
    if name == "here":
        return LocalEngine(workers or 1)
    if name == "processes":
        from glassformer.scale.processes import ProcessEngine

        return ProcessEngine(workers, gpus_per_unit)
    if name == "ray":
        from glassformer.scale.cluster import RayEngine

        return RayEngine(address, workers, gpus_per_unit)
    raise make_unknown_error("engine", name, _ENGINES, hint="see docs/clusters.md")
