"""The engine of a Ray cluster: every unit is a task of Ray's, on whatever node has room for it.

    make_engine("ray")                                  a cluster of this machine, started for the work
    make_engine("ray", address="auto")                  the cluster that this machine is a node of
    make_engine("ray", address="ray://head:10001")      one elsewhere

When a worker or a node dies, its units are handed out again; each result is taken once.
"""

import os
import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from glassformer.core.errors import UserError
from glassformer.scale.answer import name_unit
from glassformer.scale.child import ChildProcess
from glassformer.scale.engine import Result, Unit
from glassformer.scale.foreman import AnsweredUnit, ClusterReady, ClusterSettings
from glassformer.scale.session import guard_folder
from glassformer.scale.worker import pack_letter, unpack_letter

_KNOCK = 5.0  # seconds for a machine to take a connection
CONNECT = 60.0  # seconds for a cluster to answer, or to start here


@dataclass(frozen=True)
class RayEngine:
    address: str | None = None
    workers: int = 0
    gpus_per_unit: float = 0
    cpus_per_unit: float = 1

    def work(self, job: Callable[[Unit], Result], units: Sequence[Unit]) -> Iterator[tuple[Unit, Result]]:
        if not units:
            return
        _require_ray()
        _require_cluster(self.address)
        foreman = ChildProcess("glassformer.scale.foreman", {})
        try:
            with nullcontext() if self.address else guard_folder(foreman.process.pid) as folder:
                for content in (self.settings(folder), job, [pack_letter(unit) for unit in units]):
                    foreman.send(pack_letter(content))
                self.wait_ready(foreman)
                yield from _take_results(foreman, units)
        finally:
            foreman.end()

    def settings(self, folder: Path | None) -> ClusterSettings:
        return ClusterSettings(self.address, self.workers, self.cpus_per_unit, self.gpus_per_unit, folder)

    def wait_ready(self, foreman: ChildProcess) -> None:
        """One sentence where no cluster answers in time, or none of its nodes could ever do a unit."""
        if not foreman.pipe.poll(CONNECT):
            raise UserError(f"{self.place} did not answer within {CONNECT:.0f} seconds{self.hint}")
        letter = foreman.receive()
        if letter is None:
            raise UserError(f"{self.place} cannot be used: {foreman.death}{self.hint}")
        ready: ClusterReady = pickle.loads(letter)
        if not ready.room:
            wants = f"{self.cpus_per_unit:g} CPU"
            wants += f" and {self.gpus_per_unit:g} GPU" if self.gpus_per_unit else ""
            raise UserError(f"no node of {self.place} has {wants}, which a work unit needs")

    @property
    def place(self) -> str:
        return f"the Ray cluster at {self.address}" if self.address else "a Ray cluster on this machine"

    @property
    def hint(self) -> str:
        """Ray says nothing of it when a cluster turns somebody away."""
        if not self.address or "RAY_AUTH_MODE" in os.environ:
            return ""
        return "; if it asks for a token, RAY_AUTH_MODE=token must be set here too"


def _take_results(foreman: ChildProcess, units: Sequence[Unit]) -> Iterator[tuple[Unit, Any]]:
    """As they come; the unit that workers or nodes died of ends it."""
    for _ in units:
        event = _receive_event(foreman)
        if not isinstance(event, AnsweredUnit):
            raise UserError(f"{name_unit(units[event.index])}: {event.words}")
        yield units[event.index], unpack_letter(event.letter)


def _receive_event(foreman: ChildProcess) -> Any:
    letter = foreman.receive()
    if letter is None:
        raise UserError(f"the connection to the Ray cluster was lost: {foreman.death}")
    return pickle.loads(letter)


def _require_ray() -> None:
    if find_spec("ray") is None:
        raise UserError("--engine ray needs Ray: pip install 'glassformer[ray]'")


def _require_cluster(address: str | None) -> None:
    """Knock, so that a wrong address is told at once; names as `auto` are Ray's to find."""
    if address is None or address == "auto":
        return
    place = _split_address(address)
    if place is None:
        raise UserError(f"--address must be auto, HOST:PORT or ray://HOST:PORT, but it is '{address}'")
    try:
        socket.create_connection(place, _KNOCK).close()
    except OSError as error:
        raise UserError(f"no Ray cluster answers at {address}: {error.strerror or error}") from None


def _split_address(address: str) -> tuple[str, int] | None:
    """
    >>> _split_address("ray://head:10001"), _split_address("10.0.0.7:6379"), _split_address("head")
    (('head', 10001), ('10.0.0.7', 6379), None)
    """
    try:
        parts = urlsplit(address if "://" in address else f"ray://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (host, port) if parts.scheme == "ray" and host and port else None
