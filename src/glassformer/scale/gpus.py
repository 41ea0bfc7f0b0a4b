"""The GPUs of this machine, found without starting any of them."""

import os
import subprocess

from glassformer.errors import UserError, require

ASK = ("nvidia-smi", "--query-gpu=index", "--format=csv,noheader")
PATIENCE = 60  # seconds; drivers that slept need some


def gpu_names() -> list[str]:
    """What CUDA_VISIBLE_DEVICES names, else all that the driver knows; empty where there is none."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [name.strip() for name in chosen.split(",") if name.strip() not in ("", "-1")]
    try:
        told = subprocess.run(
            ASK, capture_output=True, encoding="utf-8", errors="replace", check=True, timeout=PATIENCE
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return told.stdout.split()


def shares(names: list[str], per_unit: float) -> list[str]:
    """CUDA_VISIBLE_DEVICES of each worker that there is room for.

    >>> shares(["0", "1"], 1), shares(["0", "1"], 0.5), shares(["0", "1", "2"], 2)
    (['0', '1'], ['0', '0', '1', '1'], ['0,1'])
    """
    if per_unit < 1:
        return [name for name in names for _ in range(int(1 / per_unit))]
    require(per_unit == int(per_unit), "GPUs per unit", "a whole number or less than 1", per_unit)
    size = int(per_unit)
    return [",".join(names[at : at + size]) for at in range(0, len(names) - size + 1, size)]


def gpu_shares(per_unit: float) -> list[str]:
    """The same for this machine; one sentence where it has too few."""
    names = gpu_names()
    there = shares(names, per_unit)
    if not there:
        raise UserError(
            f"a unit is to have {per_unit:g} GPU{'s' if per_unit > 1 else ''}, but {len(names) or 'none'}"
            " can be seen here (nvidia-smi, CUDA_VISIBLE_DEVICES)"
        )
    return there
