"""The engine of one machine: worker processes, one per GPU where units want GPUs.

A worker that dies (killed, out of memory, a crash of a driver) takes nothing with it: a fresh one does its
unit again. A unit that no worker survives ends the work.

>>> list(ProcessEngine(1).work(abs, [-2]))
[(-2, 2)]
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from glassformer.core.errors import UserError, require_value
from glassformer.core.spread import count_cores
from glassformer.scale.answer import TRIES, describe_deaths, name_unit
from glassformer.scale.child import ChildProcess
from glassformer.scale.engine import Result, Unit
from glassformer.scale.gpus import require_gpu_shares
from glassformer.scale.session import guard_folder
from glassformer.scale.worker import pack_letter, unpack_letter


@dataclass(frozen=True)
class ProcessEngine:
    """`workers` 0: one per GPU where units have GPUs, else one per core."""

    workers: int = 0
    gpus_per_unit: float = 0

    def work(self, job: Callable[[Unit], Result], units: Sequence[Unit]) -> Iterator[tuple[Unit, Result]]:
        with guard_folder() as folder:  # what workers leave in it goes with them, however we end
            scratch = {"TMPDIR": str(folder)}
            hands = [_WorkerSlot(pack_letter(job), place | scratch) for place in self.places()[: len(units)]]
            try:
                yield from _share_out_units(hands, units)
            finally:
                for hand in hands:
                    hand.end()

    def places(self) -> list[dict[str, str]]:
        """What the environment of each worker has beside ours."""
        if not self.gpus_per_unit:
            return [{} for _ in range(self.workers or count_cores())]
        there = require_gpu_shares(self.gpus_per_unit)
        require_value(
            self.workers <= len(there), "--workers", f"at most {len(there)}, one per GPU", self.workers
        )
        shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} if self.gpus_per_unit < 1 else {}
        return [{"CUDA_VISIBLE_DEVICES": name} | shared for name in there[: self.workers or None]]


class _WorkerSlot:
    """A slot for a worker: started when there is a unit for it, and again when it has died."""

    def __init__(self, job: bytes, place: Mapping[str, str]) -> None:
        self.job, self.place = job, place
        self.worker: ChildProcess | None = None

    def give(self, unit: Any) -> ChildProcess:
        if self.worker is None or not self.worker.is_alive:
            self.end()
            self.worker = ChildProcess("glassformer.scale.worker", self.place)
            self.worker.send(self.job)
        self.worker.send(pack_letter(unit))
        return self.worker

    def end(self) -> None:
        if self.worker is not None:
            self.worker.end()


def _share_out_units(hands: Sequence[_WorkerSlot], units: Sequence[Unit]) -> Iterator[tuple[Unit, Any]]:
    """A unit for every hand that is free until all are done; what a dead worker had comes first again."""
    left = deque((unit, 1) for unit in units)  # and which try it is
    free, busy = (
        deque(hands),
        dict[Any, tuple[_WorkerSlot, ChildProcess, Unit, int]](),
    )  # by the worker's pipe
    while left or busy:
        while left and free:
            hand, (unit, tries) = free.popleft(), left.popleft()
            worker = hand.give(unit)
            busy[worker.pipe] = hand, worker, unit, tries
        for pipe in wait([*busy]):
            hand, worker, unit, tries = busy.pop(pipe)
            letter = worker.receive()
            free.append(hand)
            if letter is not None:
                yield unit, unpack_letter(letter)
            elif tries < TRIES:
                left.appendleft((unit, tries + 1))
            else:
                raise UserError(f"{name_unit(unit)}: {describe_deaths(worker.death)}")
