"""The GPUs of this machine, found without starting any of them."""

import os
import subprocess

from glassformer.core.errors import UserError, require_value
from glassformer.core.words import choose_plural

_ASK = ("nvidia-smi", "--query-gpu=index", "--format=csv,noheader")
_PATIENCE = 60  # seconds; drivers that slept need some


def list_gpus() -> list[str]:
    """What CUDA_VISIBLE_DEVICES names, else all that the driver knows; empty where there is none."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [name.strip() for name in chosen.split(",") if name.strip() not in ("", "-1")]
    try:
        told = subprocess.run(
            _ASK, capture_output=True, encoding="utf-8", errors="replace", check=True, timeout=_PATIENCE
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return told.stdout.split()


def _split_gpus(names: list[str], per_unit: float) -> list[str]:
    """CUDA_VISIBLE_DEVICES of each worker that there is room for.

    >>> _split_gpus(["0", "1"], 1), _split_gpus(["0", "1"], 0.5), _split_gpus(["0", "1", "2"], 2)
    (['0', '1'], ['0', '0', '1', '1'], ['0,1'])
    """
    if per_unit < 1:
        return [name for name in names for _ in range(int(1 / per_unit))]
    require_value(per_unit == int(per_unit), "GPUs per unit", "a whole number or less than 1", per_unit)
    size = int(per_unit)
    return [",".join(names[at : at + size]) for at in range(0, len(names) - size + 1, size)]


def require_gpu_shares(per_unit: float) -> list[str]:
    """The same for this machine; one sentence where it has too few."""
    names = list_gpus()
    there = _split_gpus(names, per_unit)
    if not there:
        raise UserError(
            f"a work unit needs {per_unit:g} {choose_plural(max(per_unit, 1), 'GPU')}, "
            f"but {len(names) or 'none'} can be seen here (nvidia-smi, CUDA_VISIBLE_DEVICES)"
        )
    return there
