"""The edge of a command: whatever goes wrong inside becomes one sentence and an exit status.

>>> guard_action(lambda: 0, ["list"])
0

Anything unexpected is a fault of ours: its details go into a log file, and the status is 70.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from glassformer.core.errors import UserError, shorten_value

GOOD, _BAD_INPUT, _FAULT, INTERRUPTED = 0, 2, 70, 130
_STOPPED = "stopped"
STOPPED_RUN = f"{_STOPPED}; nothing is lost, run the same command again to resume"
_OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"  # in the words of XLA


def guard_action(action: Callable[[], int], arguments: Sequence[str], resumes: bool = False) -> int:
    """The status of an action; of one that fails, after its sentence on standard error."""
    try:
        return action()
    except UserError as error:
        return _print_error(str(error), _BAD_INPUT)
    except KeyboardInterrupt:
        return _print_error(STOPPED_RUN if resumes else _STOPPED, INTERRUPTED)
    except BrokenPipeError:  # the reader has seen enough: `glassformer list | head`
        _drop_output()
        return GOOD
    except OSError as error:
        return _print_error(_describe_os_error(error), _BAD_INPUT)
    except UnicodeEncodeError as error:  # a file's name, since what is printed or written is never refused
        letters = error.object[error.start : error.end]
        return _print_error(
            f"file names are {error.encoding} here, without {letters!r}; set LC_ALL=C.UTF-8", _BAD_INPUT
        )
    except Exception as error:
        return _print_error(_describe_fault(error, arguments), _FAULT)


def print_output(text: str) -> None:
    """On standard output, at once; none where the shell has closed it: `>&-`."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:  # glassformer list > /dev/full
        _drop_output()
        raise UserError(f"cannot write to standard output: {error.strerror or error}") from None


def _print_error(sentence: str, status: int) -> int:
    with suppress(OSError, ValueError):  # standard error may be closed, or a full disk behind it
        print(f"glassformer: {sentence}", file=sys.stderr, flush=True)
    return status


def _describe_os_error(error: OSError) -> str:
    """What the system says, and of which file; the number of the error is for programs."""
    said = error.strerror or str(error)
    return f"{shorten_value(str(error.filename), str)}: {said}" if error.filename else said


def _drop_output() -> None:
    """What could not be written is not tried again when the process ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _describe_fault(error: Exception, arguments: Sequence[str]) -> str:
    """One sentence for what nobody expected, with the file of its details."""
    if isinstance(error, MemoryError) or _OUT_OF_MEMORY in str(error):
        what = "there is not enough memory for this"
    else:
        words = " ".join(str(error).split())
        what = f"something unexpected happened: {type(error).__name__}: {shorten_value(words, str)}"
    return f"{what}; details are in {_write_fault_log(error, arguments)}"


def _write_fault_log(error: Exception, arguments: Sequence[str]) -> str:
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
        return f"no file, because none could be written ({failure.strerror})"
    return path
