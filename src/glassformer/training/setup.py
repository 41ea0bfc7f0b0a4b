"""Set JAX up for a command: device, precision, and a cache of compiled programs on disk."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from glassformer.core.errors import UserError

_PRIVATE = 0o700
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ENTER = stat.S_IXGRP | stat.S_IXOTH


def set_up_jax(device: str = "auto", precision: str = "float32") -> None:
    """Call once, before anything imports JAX; settings are process-wide, so only commands do this."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if device == "cpu":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    if device == "gpu" and jax.default_backend() == "cpu":
        raise UserError("train.device is gpu, but JAX finds none here (pip install 'glassformer[cuda]')")
    choose: Callable[[str, object], None] = jax.config.update
    choose("jax_enable_x64", precision == "float64")
    if cache := find_cache_folder():
        choose("jax_compilation_cache_dir", str(cache))
        choose("jax_persistent_cache_min_compile_time_secs", 0.0)
        choose("jax_persistent_cache_min_entry_size_bytes", -1)


def find_cache_folder() -> Path | None:
    """The folder for compiled programs; none where anyone but us and root could put a program into it.

    XLA runs what it finds there, so whoever can write to it can run code as us. Without it, programs are
    compiled each time.
    """
    try:
        folder = _chosen_folder().resolve()  # links first: what is checked is what is used
        is_ours = _keeps_others_out(folder) and _holds_own_files(folder) and os.access(folder, os.W_OK)
    except (OSError, RuntimeError):  # RuntimeError: there is no home, or links go in a circle
        return None
    return folder if is_ours else None


def _chosen_folder() -> Path:
    """`GLASSFORMER_CACHE`, or glassformer/xla in the user's cache; an empty variable is none."""
    if chosen := os.environ.get("GLASSFORMER_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glassformer" / "xla"


def _keeps_others_out(folder: Path) -> bool:
    """Make the folder, where nobody else can replace it; whether it is ours alone to write to."""
    if not hasattr(os, "geteuid"):  # Windows: modes do not say who may write
        return False
    for parent in reversed(folder.parents):  # from the root down: each makes the next one safe to look at
        parent.mkdir(mode=_PRIVATE, exist_ok=True)
        if not _keeps_its_entries(parent.lstat()):
            return False
    folder.mkdir(mode=_PRIVATE, exist_ok=True)
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and _is_own(found) and not found.st_mode & _OTHERS_WRITE


def _keeps_its_entries(found: os.stat_result) -> bool:
    """Whether nobody but us and root can rename or remove what lies in this folder and is ours."""
    is_trusted = found.st_uid == 0 or _is_own(found)
    is_sticky = bool(found.st_mode & stat.S_ISVTX)  # as /tmp: all may add, each may remove their own alone
    return stat.S_ISDIR(found.st_mode) and is_trusted and (is_sticky or not found.st_mode & _OTHERS_WRITE)


def _holds_own_files(folder: Path) -> bool:
    """Whether all that is there is ours too: the folder may have been open to others before."""
    is_closed = not folder.lstat().st_mode & _OTHERS_ENTER  # then a file's own mode lets nobody in
    every = [path.lstat() for path in folder.rglob("*")]
    return all(_is_own(found) and (is_closed or not found.st_mode & _OTHERS_WRITE) for found in every)


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid()
