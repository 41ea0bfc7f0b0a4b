"""The edge of a command: whatever goes wrong inside becomes one sentence and an exit status.

>>> run_guarded(lambda: 0, ["list"])
0

Anything unexpected is a fault of ours: its details go into a log file, and the status is 70.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from glassformer.errors import UserError, show

GOOD, BAD_INPUT, FAULT, INTERRUPTED = 0, 2, 70, 130
STOPPED = "stopped"
STOPPED_RUN = f"{STOPPED}; nothing is lost, the same command goes on from here"
OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"  # in the words of XLA


def run_guarded(action: Callable[[], int], arguments: Sequence[str], resumes: bool = False) -> int:
    """The status of an action; of one that fails, after its sentence on standard error."""
    try:
        return action()
    except UserError as error:
        return say(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        return say(STOPPED_RUN if resumes else STOPPED, INTERRUPTED)
    except BrokenPipeError:  # the reader has seen enough: `glassformer list | head`
        drop_output()
        return GOOD
    except OSError as error:
        return say(os_sentence(error), BAD_INPUT)
    except UnicodeEncodeError as error:  # a file's name, since what is printed or written is never refused
        letters = error.object[error.start : error.end]
        return say(
            f"file names are {error.encoding} here, without {letters!r}; set LC_ALL=C.UTF-8", BAD_INPUT
        )
    except Exception as error:
        return say(fault_sentence(error, arguments), FAULT)


def print_output(text: str) -> None:
    """On standard output, at once; none where the shell has closed it: `>&-`."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:  # glassformer list > /dev/full
        drop_output()
        raise UserError(f"cannot write to standard output: {error.strerror or error}") from None


def say(sentence: str, status: int) -> int:
    with suppress(OSError, ValueError):  # standard error may be closed, or a full disk behind it
        print(f"glassformer: {sentence}", file=sys.stderr, flush=True)
    return status


def os_sentence(error: OSError) -> str:
    """What the system says, and of which file; the number of the error is for programs."""
    said = error.strerror or str(error)
    return f"{show(str(error.filename), str)}: {said}" if error.filename else said


def drop_output() -> None:
    """What could not be written is not tried again when the process ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fault_sentence(error: Exception, arguments: Sequence[str]) -> str:
    """One sentence for what nobody expected, with the place of its details."""
    if isinstance(error, MemoryError) or OUT_OF_MEMORY in str(error):
        what = "there is not enough memory for this"
    else:
        words = " ".join(str(error).split())
        what = f"something unexpected happened: {type(error).__name__}: {show(words, str)}"
    return f"{what}; details are in {write_log(error, arguments)}"


def write_log(error: Exception, arguments: Sequence[str]) -> str:
    """The details in a file of its own that only the user can read; its path."""
    import platform  # here, since help has no need of them
    import tempfile
    import time
    import traceback

    lines = [
        f"glassformer {' '.join(arguments)}",
        f"{time.strftime('%Y-%m-%d %H:%M:%S')}, Python {platform.python_version()}, {platform.platform()}",
        "",
        *traceback.format_exception(error),
    ]
    try:
        handle, path = tempfile.mkstemp(prefix="glassformer-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("\n".join(lines))
    except OSError as failure:
        return f"no file, for none could be written ({failure.strerror})"
    return path
