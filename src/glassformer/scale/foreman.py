"""The driver of a Ray cluster, a process of its own: `python -m glassformer.scale.foreman 7`.

Ray's client prints where it likes, takes over signals and waits for minutes for a cluster that is not there;
here it does so where nobody is disturbed and the engine can end it. From the engine come the settings, the
job and all units; to it go `ClusterReady`, and for each unit one `AnsweredUnit` or `_AbandonedUnit`. Jobs,
units and results pass through as they were packed.
"""

import os
import pickle
import secrets
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from glassformer.scale import worker
from glassformer.scale.answer import TRIES, describe_deaths
from glassformer.scale.worker import collect_letters, pack_letter

_NODES = 10  # nodes that may be lost with a unit; most often it is not to blame
_AHEAD = 2  # units that are with the cluster for each that it has room for
_LOOK = 5.0  # seconds between two looks at how large the cluster is
_STORE = 256 * 2**20  # bytes for results under way, in a cluster that is started here
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # leaves CUDA_VISIBLE_DEVICES to units without GPUs
    "RAY_SCHEDULER_EVENTS": "0",
}


@dataclass(frozen=True)
class ClusterSettings:
    address: str | None  # none: a cluster of this machine, for this work only
    workers: int  # units at a time; 0: as many as there is room for
    cpus: float  # of a unit
    gpus: float
    folder: Path | None = None  # private, of a cluster of this machine


@dataclass(frozen=True)
class ClusterReady:
    """The cluster answers; it has room for so many units."""

    room: int


@dataclass(frozen=True)
class AnsweredUnit:
    index: int
    letter: bytes


@dataclass(frozen=True)
class _AbandonedUnit:
    """The unit that workers or nodes die of, or what Ray says that cannot be mended by trying again."""

    index: int
    words: str


@dataclass(frozen=True)
class _PendingUnit:
    index: int
    unit: bytes
    crashes: int = 0
    losses: int = 0


def lead_cluster(pipe: "Connection[Any, Any]") -> None:
    """Connect, hand out, and stay until the engine closes the pipe."""
    letters = collect_letters(pipe)
    settings: ClusterSettings = pickle.loads(letters.get())
    job, units = letters.get(), pickle.loads(letters.get())
    _connect_cluster(settings)
    pipe.send_bytes(pack_letter(ClusterReady(_count_room(settings))))
    for event in _hand_out_units(settings, job, units):
        pipe.send_bytes(pack_letter(event))


def _connect_cluster(settings: ClusterSettings) -> None:
    os.environ.update(
        QUIET
        if settings.folder is None
        else {**QUIET, **_make_loopback_environment(), "TMPDIR": str(settings.folder)}
    )
    import ray

    quiet: dict[str, Any] = {"logging_level": "CRITICAL", "log_to_driver": False}
    if settings.folder is None:
        ray.init(settings.address, **quiet)
        return
    here: dict[str, Any] = {"num_cpus": settings.workers or None, "object_store_memory": _STORE}
    inner = str(settings.folder / "r")  # Ray opens its folder to everyone, so it gets one inside
    ray.init("local", include_dashboard=False, _temp_dir=inner, **here, **quiet)


def _make_loopback_environment() -> dict[str, str]:
    """The environment by which Ray listens on loopback alone, and takes nobody without a new token."""
    return {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # one machine, by its loopback address, on Linux too
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_ENABLE_K8S_TOKEN_AUTH": "0",  # which would ask Kubernetes about our token
    }


def _count_room(settings: ClusterSettings) -> int:
    """Units that the nodes which are there now can work on at a time."""
    import ray

    free = [node.get("Resources", {}) for node in ray.nodes() if node["Alive"]]
    wants = [(kind, much) for kind, much in (("CPU", settings.cpus), ("GPU", settings.gpus)) if much]
    return sum(int(min(node.get(kind, 0.0) / much for kind, much in wants)) for node in free)


def _hand_out_units(
    settings: ClusterSettings, job: bytes, units: Sequence[bytes]
) -> Iterator[AnsweredUnit | _AbandonedUnit]:
    """Every unit's answer once; what was lost with a worker or a node is handed out again, first."""
    import ray

    remote = ray.remote(num_cpus=settings.cpus, num_gpus=settings.gpus, max_retries=0)(worker.answer_letter)
    left = deque(_PendingUnit(index, unit) for index, unit in enumerate(units))
    out: dict[Any, _PendingUnit] = {}
    limit = _UnitLimit(settings)
    while left or out:
        while left and len(out) < limit.now():
            task = left.popleft()
            out[remote.remote(job, task.unit)] = task
        ready, _ = ray.wait([*out], num_returns=1, timeout=_LOOK)
        for one in ready:
            task = out.pop(one)
            event = _take_outcome(task, one)
            if isinstance(event, _PendingUnit):
                left.appendleft(event)
            else:
                yield event


class _UnitLimit:
    """Units that may be with the cluster: as many as are asked for, or more than it has room for now."""

    def __init__(self, settings: ClusterSettings) -> None:
        self.settings, self.count, self.next = settings, 1, 0.0

    def now(self) -> int:
        if time.monotonic() >= self.next:
            self.count = self.settings.workers or max(1, _AHEAD * _count_room(self.settings))
            self.next = time.monotonic() + _LOOK
        return self.count


def _take_outcome(task: _PendingUnit, ref: object) -> AnsweredUnit | _AbandonedUnit | _PendingUnit:
    """Its answer, or the task again, with what has befallen it."""
    import ray
    from ray import exceptions as died

    try:
        return AnsweredUnit(task.index, ray.get(ref))
    except (died.WorkerCrashedError, died.OutOfMemoryError) as error:
        again, is_over = replace(task, crashes=task.crashes + 1), task.crashes + 1 >= TRIES
        words = describe_deaths(_describe_ray_error(error))
    except (died.NodeDiedError, died.LocalRayletDiedError, died.ObjectLostError) as error:
        again, is_over = replace(task, losses=task.losses + 1), task.losses + 1 >= _NODES
        words = f"{_NODES} nodes were lost with it, the last one by {_describe_ray_error(error)}"
    except died.RayError as error:
        again, is_over, words = task, True, _describe_ray_error(error)
    return _AbandonedUnit(task.index, words) if is_over else again


def _describe_ray_error(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__} ({lines[-1] if 'Traceback' in str(error) else lines[0]})"


if __name__ == "__main__":
    from glassformer.scale import foreman  # under its own name, by which the engine knows the events

    foreman.lead_cluster(Connection(int(sys.argv[1])))
