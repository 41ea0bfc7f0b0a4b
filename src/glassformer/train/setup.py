"""Set JAX up for a command: device, precision, and a cache of compiled programs on disk."""

import os
from collections.abc import Callable
from pathlib import Path

from glassformer.errors import UserError


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
    if cache := cache_folder():
        choose("jax_compilation_cache_dir", str(cache))
        choose("jax_persistent_cache_min_compile_time_secs", 0.0)
        choose("jax_persistent_cache_min_entry_size_bytes", -1)


def cache_folder() -> Path | None:
    """`GLASSFORMER_CACHE`, or glassformer/xla in the user's cache; none where it cannot be written."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("GLASSFORMER_CACHE") or Path(home) / "glassformer" / "xla")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
