"""The limits of a case, and what a worker must not do: reach the network, open a browser, fill the disk."""

import faulthandler
import os
import resource
import signal
import socket
import sys
import webbrowser
from typing import Any, NoReturn, TextIO

from fuzz.case import BYTES, SECONDS

FILE_BYTES = 1_000_000_000  # that one file may get
PAGE = resource.getpagesize()
QUIET = {
    "CUDA_VISIBLE_DEVICES": "",
    "JAX_PLATFORMS": "cpu",
    "HF_HUB_OFFLINE": "1",
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "GLASSFORMER_CACHE": "/dev/null/none",  # a cache of compiled programs would grow with every case
    "XLA_FLAGS": "--xla_backend_optimization_level=0"
    " --xla_cpu_multi_thread_eigen=false",  # compilers' work is no file's fault, and is kept short
}


def close_doors(errors: TextIO) -> None:
    """Once for each worker; where it dies, its last traceback goes to `errors`."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    socket.socket.connect = refuse_network  # type: ignore[method-assign,assignment]
    webbrowser.open = lambda *_, **__: False  # type: ignore[assignment]
    faulthandler.enable(errors)
    faulthandler.register(signal.SIGPROF, errors)  # comes after SECONDS of CPU time: where a slow case is
    faulthandler.register(signal.SIGUSR1, errors)


def refuse_network(*_: Any) -> NoReturn:
    raise OSError("a case of the fuzzer has no network")


def start_watch() -> None:
    """Before each case: memory beyond the limit is refused, and a slow one says where it is."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (statm(5) + BYTES, hard))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)


def end_watch() -> None:
    """What comes between two cases is not bounded."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    signal.setitimer(signal.ITIMER_PROF, 0)


def statm(field: int) -> int:
    """Bytes by /proc/self/statm: 1 resident, 5 private and writable."""
    with open("/proc/self/statm") as file:  # noqa: PTH123  twice per case
        return int(file.read().split()[field]) * PAGE


def peak() -> int:
    """The most bytes that were ever resident in this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def cpu_seconds() -> float:
    """Of this process and its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class GreedWatch:
    """Sees that memory was asked for in vain even where a sentence is made of it."""

    def __init__(self) -> None:
        self.is_greedy = False

    def hook(self) -> None:
        """From now on every `UserError` that is made because of a MemoryError is noticed."""
        from glassformer.core.errors import UserError

        def noticing(error: UserError, *words: Any) -> None:
            Exception.__init__(error, *words)
            self.is_greedy |= has_memory_error(sys.exc_info()[1])

        UserError.__init__ = noticing  # type: ignore[method-assign,assignment]


def has_memory_error(error: BaseException | None) -> bool:
    """Whether it, or what it came from, is a MemoryError."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False
