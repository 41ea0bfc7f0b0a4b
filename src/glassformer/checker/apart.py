"""The check in a fresh process: nothing that ran in ours before it, and no file that lies around, has a say.

Python is started with `-I` (no PYTHONPATH, no user's packages, not the current folder), and the package is
the one that runs here, by its own path.
"""

import json
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import glassformer
from glassformer.checker.result import CheckResult
from glassformer.core.errors import UserError
from glassformer.scale.child import describe_exit

# The package from its own file, whatever else of that name could be found; then `main` below.
_BEGIN = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("glassformer", sys.argv[1])
package = sys.modules["glassformer"] = module_from_spec(spec)
spec.loader.exec_module(package)
from glassformer.checker.apart import main
main()
"""


def check_in_subprocess(file: str, target: str | None = None, model: str | None = None) -> CheckResult:
    """What `check_file` says, in a process of its own."""
    command = [sys.executable, "-I", "-c", _BEGIN, str(Path(str(glassformer.__file__)).resolve())]
    question = json.dumps([file, target, model]).encode()
    done = subprocess.run(command, input=question, capture_output=True, check=False)
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        words = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise RuntimeError(
            f"the checker's process ended by {describe_exit(done.returncode)}: {words}"
        ) from None
    if "error" in answer:
        raise UserError(answer["error"])
    return CheckResult(**answer)


def main() -> None:
    """The other process: a question on standard input, an answer on standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    from glassformer.checker.file import check_file

    try:
        content = asdict(check_file(*json.load(sys.stdin)))
    except UserError as error:
        content = {"error": str(error)}
    json.dump(content, sys.stdout)
