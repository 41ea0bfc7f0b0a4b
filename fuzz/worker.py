"""A worker runs case after case and tells of each; where it dies, the one not told of did it."""

import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fuzz.case import ACCEPTED, EXECUTED, FOREIGN, REFUSED, Case, Outcome
from fuzz.limits import (
    QUIET,
    GreedWatch,
    close_doors,
    cpu_seconds,
    end_watch,
    has_memory_error,
    peak,
    start_watch,
    statm,
)
from fuzz.place import Place

REFUSALS = (1, 2, 3)  # exit statuses that say no, in order
WARM_UP = 5  # cases of each kind before anything is measured
LOG = re.compile(r"details are in (\S+\.log)")  # what the command line says with status 70
KEPT = 6000  # letters of a finding's output


def serve(connection: Connection, root: Path, kinds: tuple[str, ...], planted: str = "") -> None:
    """Make everything ready, say so, then run what is asked for until nothing is."""
    place = Place(root)
    root.mkdir(parents=True, exist_ok=True)
    os.environ |= QUIET | {"TMPDIR": str(root), "HOME": str(root)}
    with capturing(place):
        watch, inputs = get_ready(place, kinds, planted)
        connection.send("ready")
        while (asked := connection.recv()) is not None:
            kind, seed, first, stop = asked
            for index in range(first, stop):
                connection.send(run_case(Case(kind, seed, index), inputs[kind], place, watch))


def get_ready(place: Place, kinds: tuple[str, ...], planted: str) -> tuple[GreedWatch, dict[str, Any]]:
    """The doors closed, valid inputs made, and all that is slow the first time done once."""
    from fuzz.kinds import KINDS
    from fuzz.planted import plant

    place.inputs.mkdir(exist_ok=True)
    place.empty()
    inputs = {name: KINDS[name].prepare(place.inputs) for name in kinds}
    for name in kinds:
        KINDS[name].warm(place)
        for index in range(WARM_UP):
            place.empty()
            judge(Case(name, -1, index), inputs[name], place)
    close_doors(sys.stderr)
    watch = GreedWatch()
    watch.hook()
    plant(planted, place)
    return watch, inputs


@contextmanager
def capturing(place: Place) -> Iterator[None]:
    """Standard output and error of the process and its children go to one file."""
    handle = os.open(place.printed, os.O_CREAT | os.O_RDWR | os.O_TRUNC | os.O_APPEND, 0o600)
    for standard in (1, 2):
        os.dup2(handle, standard)
    sys.stdout = open(1, "w", closefd=False, errors="backslashreplace")  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, errors="backslashreplace", buffering=1)  # noqa: SIM115
    yield
    os.close(handle)


def run_case(case: Case, inputs: Any, place: Place, watch: GreedWatch) -> Outcome:
    """The outcome of one case, measured."""
    place.empty()
    os.truncate(place.printed, 0)
    watch.is_greedy = False
    highest, before, began = peak(), statm(1), cpu_seconds()
    start_watch()
    end, words, is_greedy = judge(case, inputs, place)
    end_watch()
    seconds, grown = cpu_seconds() - began, max(0, peak() - before) if peak() > highest else 0
    if place.was_executed():
        end = EXECUTED
    outcome = Outcome(case, end, seconds, grown, is_greedy or watch.is_greedy, words=words)
    return outcome if not outcome.faults else told(outcome, place)


def judge(case: Case, inputs: Any, place: Place) -> tuple[str, str, bool]:
    """How it ends, the traceback of what is foreign, and whether memory was asked for in vain."""
    from fuzz.kinds import KINDS
    from glassformer.core.errors import UserError

    try:
        status = KINDS[case.kind].attempt(case.random(), inputs, place)
    except UserError as error:
        return REFUSED, "", has_memory_error(error)
    except MemoryError:
        return REFUSED, traceback.format_exc()[-KEPT:], True
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: none of them is an answer
        return FOREIGN, shortened(traceback.format_exc()), has_memory_error(error)
    if status in (None, 0):
        return ACCEPTED, "", False
    return (REFUSED, "", False) if status in REFUSALS else (FOREIGN, f"exit status {status}", False)


def told(outcome: Outcome, place: Place) -> Outcome:
    """With what was printed, for the report of a finding."""
    sys.stdout.flush()
    printed = place.printed.read_text(errors="replace")
    logs = "".join(map(taken, LOG.findall(printed)))
    words = "\n--- printed ---\n".join(shortened(text) for text in (outcome.words, printed, logs) if text)
    return replace(outcome, is_greedy=outcome.is_greedy or "MemoryError" in logs, words=words)


def taken(path: str) -> str:
    """The text of a log, which is taken away; nothing where there is none."""
    try:
        text = Path(path).read_text(errors="replace")
        Path(path).unlink()
    except OSError:
        return ""
    return text


def shortened(text: str) -> str:
    """Both ends of a long text."""
    return text if len(text) <= KEPT else f"{text[: KEPT // 3]}\n[...]\n{text[-2 * KEPT // 3 :]}"
