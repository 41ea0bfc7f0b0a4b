"""Run one glassformer command in this process, and write which of its functions ran. tools/walk.py starts it.

    PYTHONPATH=src python -P tools/walk_hook.py walk.json count plus_last_even

A profiler hook sees every call. `register`, which a decorator calls while tasks/rules_map.py is imported, is
executed, but not part of the walk: the walk is what runs outside of every import. A comprehension belongs to
the function around it, as in Python 3.12. What `dataclass` writes and what worker processes run is not seen.
"""

import inspect
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
FUNCTION, BODY, IMPORT = (
    "function",
    "body",
    "import",
)  # the kinds of frame; a body is a class or comprehension

Hook = Callable[[FrameType, str, Any], None]


class Seen(NamedTuple):
    """What is known of a code object; holding it keeps its id from being used again."""

    code: CodeType
    kind: str | None  # none: a frame of it does not count


class Recorder:
    """What the hooks of all threads have seen so far."""

    def __init__(self, package: Path) -> None:
        self.start_of_package = f"{package}/"
        self.seen: dict[int, Seen] = {}  # by id, because equal code in two files compares equal
        self.walked: dict[int, CodeType] = {}  # functions called outside of imports, by their first call
        self.executed: set[str] = set()  # files of which more than the top level ran, by an import or not
        self.depth = 0

    def find_kind(self, code: CodeType) -> str | None:
        found = self.seen.get(id(code))
        if found is None:
            found = self.seen[id(code)] = Seen(code, self._classify(code))
        return found.kind

    def _classify(self, code: CodeType) -> str | None:
        if code.co_name == "_find_and_load" and code.co_filename.startswith("<frozen importlib"):
            return IMPORT
        if not code.co_filename.startswith(self.start_of_package) or code.co_name == "<module>":
            return None
        is_class = not code.co_flags & inspect.CO_OPTIMIZED
        return BODY if is_class or code.co_name in COMPREHENSIONS else FUNCTION

    def make_hook(self) -> Hook:
        """The hook of one thread, which keeps the depths of its own stack."""
        depths = {FUNCTION: 0, IMPORT: 0}

        def watch_call(frame: FrameType, event: str, _: object) -> None:
            if event not in ("call", "return"):  # calls of C functions
                return
            code = frame.f_code
            kind = self.find_kind(code)
            if kind is None:
                return
            if kind == BODY or (kind == FUNCTION and depths[IMPORT]):
                self.executed.add(code.co_filename)
                return
            depths[kind] += 1 if event == "call" else -1
            if kind == FUNCTION and event == "call":
                self.walked.setdefault(id(code), code)
                self.depth = max(self.depth, depths[FUNCTION])

        return watch_call

    def start(self) -> None:
        """Watch this thread, and every thread that starts from now on."""

        def watch_thread(frame: FrameType, event: str, argument: object) -> None:
            hook = self.make_hook()
            sys.setprofile(hook)
            hook(frame, event, argument)

        threading.setprofile(watch_thread)
        sys.setprofile(self.make_hook())

    def summarise(self) -> dict[str, Any]:
        """The fields of tools.walk.Walk."""
        functions = list(self.walked.values())
        files = dict.fromkeys(code.co_filename for code in functions)
        modules = (getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
        return {
            "imported": len({name for name in modules if name.startswith(self.start_of_package)}),
            "executed": len(self.executed.union(files)),
            "functions": len(functions),
            "depth": self.depth,
            "files": [name.removeprefix(self.start_of_package) for name in files],
        }


def main(path: str, words: list[str]) -> int:
    """The status of the command; what it walked through is in the file."""
    import glassformer

    recorder = Recorder(Path(glassformer.__file__).parent)
    recorder.start()
    from glassformer.cli.program import main as run_command

    try:
        status = run_command(words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    Path(path).write_text(json.dumps(recorder.summarise()), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
