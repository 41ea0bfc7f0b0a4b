"""Where a run was made: versions, machine, git revision. For readers; nothing is computed from it."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("glassformer", "jax", "jaxlib", "numpy", "optax", "safetensors", "scipy")


def environment(seed: int) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "packages": {name: installed(name) for name in PACKAGES},
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "first_seed": seed,
        "git_revision": git_revision(),
    }


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def git_revision() -> str | None:
    """The commit of the source tree that runs, where it is a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        result = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip() or None
