"""Where a run was made: versions, machine, git revision. For readers; nothing is computed from it."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("glassformer", "jax", "jaxlib", "numpy", "optax", "safetensors", "scipy")


def describe_environment(seed: int) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "packages": {name: _find_package_version(name) for name in _PACKAGES},
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "first_seed": seed,
        "git_revision": _find_git_revision(),
    }


def _find_package_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _find_git_revision() -> str | None:
    """The commit of the source tree that runs, where it is a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        result = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip() or None
