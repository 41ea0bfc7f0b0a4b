"""Workers side by side: cases are handed out in batches, and a worker that dies or hangs is replaced."""

import multiprocessing
import os
import shutil
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from fuzz.case import FOREIGN, REFUSED, WALL, Case, Outcome
from fuzz.worker import serve

READY_WITHIN = 300.0  # seconds for imports and warm-up
LAST_WORDS = 0.5  # seconds for a hanging worker to say where it is


@dataclass(frozen=True)
class Batch:
    """Cases of one kind, one after the other."""

    kind: str
    seed: int
    first: int
    stop: int


@dataclass
class Hand:
    """A worker as the pool sees it."""

    root: Path
    kinds: tuple[str, ...]
    planted: str = ""
    batch: Batch | None = None
    since: float = field(default_factory=time.monotonic)  # of its last word
    is_ready: bool = False

    def __post_init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(theirs, self.root, self.kinds, self.planted), daemon=False
        )
        self.process.start()
        theirs.close()

    def give(self, batch: Batch) -> None:
        self.batch, self.since = batch, time.monotonic()
        self.connection.send((batch.kind, batch.seed, batch.first, batch.stop))

    def is_late(self) -> bool:
        allowed = WALL if self.is_ready else READY_WITHIN
        return (self.batch is not None or not self.is_ready) and time.monotonic() - self.since > allowed

    def end(self) -> None:
        """Whatever it is doing; its last words stay in its folder."""
        if self.process.is_alive():
            os.kill(self.process.pid or 0, signal.SIGKILL)
        self.process.join()
        self.connection.close()


def run_batches(
    batches: Iterable[Batch], workers: int, root: Path, kinds: tuple[str, ...], planted: str = ""
) -> Iterator[Outcome]:
    """The outcomes, as they come."""
    left = deque(batches)
    hands = [Hand(root / f"worker-{number}", kinds, planted) for number in range(min(workers, len(left)))]
    try:
        while hands and (left or any(hand.batch for hand in hands)):
            yield from heard(hands, left)
    finally:
        for hand in hands:
            hand.end()
        shutil.rmtree(root, ignore_errors=True)


def heard(hands: list[Hand], left: deque[Batch]) -> Iterator[Outcome]:
    """What the workers say next; those that say nothing any more are replaced."""
    by_connection: dict[Any, Hand] = {hand.connection: hand for hand in hands}
    for connection in wait(list(by_connection), timeout=1.0):
        hand = by_connection[connection]
        try:
            yield from answered(hand, left)
        except (EOFError, OSError):
            hand.process.join()
            yield from replaced(
                hands, hand, left, f"the process died (status {hand.process.exitcode})", FOREIGN
            )
    for hand in [hand for hand in hands if hand.is_late()]:
        if hand.process.is_alive():
            os.kill(hand.process.pid or 0, signal.SIGUSR1)
            time.sleep(LAST_WORDS)
        yield from replaced(hands, hand, left, f"killed after {WALL:.0f} s", REFUSED, True)


def answered(hand: Hand, left: deque[Batch]) -> Iterator[Outcome]:
    """One word of a worker: that it is ready, or an outcome; a free worker gets the next batch."""
    connection: Connection = hand.connection
    while connection.poll():
        said, hand.since = connection.recv(), time.monotonic()
        if said == "ready":
            hand.is_ready = True
        else:
            assert hand.batch is not None
            rest = Batch(hand.batch.kind, hand.batch.seed, said.case.index + 1, hand.batch.stop)
            hand.batch = rest if rest.first < rest.stop else None
            yield said
        if hand.is_ready and hand.batch is None and left:
            hand.give(left.popleft())


def replaced(
    hands: list[Hand], hand: Hand, left: deque[Batch], why: str, end: str, is_killed: bool = False
) -> Iterator[Outcome]:
    """A new worker in its place; the case that it was at is a finding, the rest of its batch continues."""
    hand.end()
    printed = hand.root / "printed"
    words = f"{why}\n{printed.read_text(errors='replace')[-6000:] if printed.exists() else ''}"
    if not hand.is_ready:
        raise RuntimeError(f"a worker did not start: {words}")
    if batch := hand.batch:
        yield Outcome(
            Case(batch.kind, batch.seed, batch.first),
            end,
            WALL if is_killed else 0.0,
            is_killed=is_killed,
            words=words,
        )
        if batch.first + 1 < batch.stop:
            left.appendleft(Batch(batch.kind, batch.seed, batch.first + 1, batch.stop))
    shutil.rmtree(hand.root, ignore_errors=True)
    hands.remove(hand)
    if left:
        hands.append(Hand(hand.root, hand.kinds, hand.planted))
