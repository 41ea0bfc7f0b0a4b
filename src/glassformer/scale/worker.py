"""A worker process: `python -m glassformer.scale.worker 7` takes units from a pipe until its driver is gone.

7 is the file descriptor of the pipe. The job comes first, then unit after unit, and an answer goes back for
each. What travels is pickled, between this process and its own parent alone.
"""

import os
import pickle
import sys
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from glassformer.scale.answer import Answer, make_failure, open_answer, run_job


def _serve_units(pipe: "Connection[Any, Any]") -> None:
    """Answer every unit; the process ends with the pipe."""
    letters = collect_letters(pipe)
    job = letters.get()
    while True:
        pipe.send_bytes(answer_letter(job, letters.get()))


def collect_letters(pipe: "Connection[Any, Any]") -> "SimpleQueue[bytes]":
    """The letters as they come, in mid-unit too: where the driver was killed, nobody works on for it."""
    letters: SimpleQueue[bytes] = SimpleQueue()

    def collect() -> None:
        while True:
            try:
                letters.put(pipe.recv_bytes())
            except (EOFError, OSError):
                os._exit(0)

    threading.Thread(target=collect, daemon=True).start()
    return letters


def answer_letter(job: bytes, unit: bytes) -> bytes:
    """What cannot be unpacked here, and a result that cannot be packed, are told as errors of the job."""
    try:
        return pack_letter(run_job(pickle.loads(job), pickle.loads(unit)))
    except Exception as error:
        return pack_letter(make_failure(error))


def pack_letter(content: object) -> bytes:
    return pickle.dumps(content, pickle.HIGHEST_PROTOCOL)


def unpack_letter(letter: bytes) -> Any:
    """The driver's side of `answer`: the result, or the job's error again."""
    content: Answer = pickle.loads(letter)
    return open_answer(content)


if __name__ == "__main__":
    _serve_units(Connection(int(sys.argv[1])))
