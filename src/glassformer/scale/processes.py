"""The engine of one machine: worker processes, one a GPU where units want GPUs.

A worker that dies (killed, out of memory, a crash of a driver) takes nothing with it: a fresh one does its
unit again. A unit that no worker survives ends the work.

>>> list(Processes(1).work(abs, [-2]))
[(-2, 2)]
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from glassformer.errors import UserError, require
from glassformer.scale.answer import TRIES, died_of, name_of
from glassformer.scale.child import Child
from glassformer.scale.engine import Result, Unit
from glassformer.scale.gpus import gpu_shares
from glassformer.scale.session import guarded_folder
from glassformer.scale.worker import packed, unpacked
from glassformer.spread import cores


@dataclass(frozen=True)
class Processes:
    """`workers` 0: one a GPU where units have GPUs, else one a core."""

    workers: int = 0
    gpus_per_unit: float = 0

    def work(self, job: Callable[[Unit], Result], units: Sequence[Unit]) -> Iterator[tuple[Unit, Result]]:
        with guarded_folder() as folder:  # what workers leave in it goes with them, however we end
            scratch = {"TMPDIR": str(folder)}
            hands = [Hand(packed(job), place | scratch) for place in self.places()[: len(units)]]
            try:
                yield from shared_out(hands, units)
            finally:
                for hand in hands:
                    hand.end()

    def places(self) -> list[dict[str, str]]:
        """What the environment of each worker has beside ours."""
        if not self.gpus_per_unit:
            return [{} for _ in range(self.workers or cores())]
        there = gpu_shares(self.gpus_per_unit)
        require(self.workers <= len(there), "--workers", f"at most {len(there)}, one a GPU", self.workers)
        shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} if self.gpus_per_unit < 1 else {}
        return [{"CUDA_VISIBLE_DEVICES": name} | shared for name in there[: self.workers or None]]


class Hand:
    """A place for a worker: started when there is a unit for it, and again when it has died."""

    def __init__(self, job: bytes, place: Mapping[str, str]) -> None:
        self.job, self.place = job, place
        self.worker: Child | None = None

    def give(self, unit: Any) -> Child:
        if self.worker is None or not self.worker.is_alive:
            self.end()
            self.worker = Child("glassformer.scale.worker", self.place)
            self.worker.send(self.job)
        self.worker.send(packed(unit))
        return self.worker

    def end(self) -> None:
        if self.worker is not None:
            self.worker.end()


def shared_out(hands: Sequence[Hand], units: Sequence[Unit]) -> Iterator[tuple[Unit, Any]]:
    """A unit for every hand that is free until all are done; what a dead worker had comes first again."""
    left = deque((unit, 1) for unit in units)  # and which try it is
    free, busy = deque(hands), dict[Any, tuple[Hand, Child, Unit, int]]()  # by the worker's pipe
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
                yield unit, unpacked(letter)
            elif tries < TRIES:
                left.appendleft((unit, tries + 1))
            else:
                raise UserError(f"{name_of(unit)}: {died_of(worker.death)}")
