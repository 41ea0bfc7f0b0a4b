"""How tests call the command line: in this process, or in one of its own."""

import subprocess
import sys


def glassformer(*words: str, cwd=None, **options) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "glassformer", *words]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False, **options
    )
