"""Files that are either the old ones or the new ones, whatever happens in between."""

import fcntl
import glob
import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 once this is imported
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from glassformer.core.errors import UserError
from glassformer.core.text_files import decode_json


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Only one process at a time may work in a folder; the lock goes with the process, however it ends."""
    if not folder.exists():
        make_folder(folder)
    handle = os.open(folder, os.O_RDONLY)
    try:
        _claim_lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _claim_lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(f"another process is working in {folder}; --out chooses another folder") from None


def write_bytes(path: Path, content: bytes, times: tuple[int, int] | None = None) -> None:
    """Write beside the target, flush to the disk, then rename; on failure what was there stays.

    `times` are those that the file is to have, of access and of change, in nanoseconds; none: now.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if path.exists() and not path.is_file():  # a rename would put a file in a device's place: /dev/null
            raise UserError(f"cannot write {path}: it is not a regular file")
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if times:
            os.utime(beside, ns=times)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise UserError(
            f"cannot write {path}: {error.strerror or error}; what was there is unchanged"
        ) from None


def remove_unfinished(path: Path) -> None:
    """What processes that were killed were about to rename to this path; a living one keeps its own."""
    for beside in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        number = beside.name.removesuffix(".tmp").rpartition(".")[2]
        if number.isdigit() and not _is_alive(int(number)):
            with suppress(OSError):
                beside.unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def write_text(path: Path, content: str) -> None:
    write_bytes(path, content.encode())


def write_json(path: Path, content: Any, times: tuple[int, int] | None = None) -> None:
    write_bytes(path, (json.dumps(replace_nonfinite(content), indent=2) + "\n").encode(), times)


def replace_nonfinite(content: Any) -> Any:
    """The same with null for every number that is not finite: JSON has neither NaN nor infinity."""
    if isinstance(content, dict):
        return {key: replace_nonfinite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [replace_nonfinite(item) for item in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error.strerror or error}") from None


def refuse_links(*paths: Path) -> None:
    """A folder from somebody else may lead anywhere: nothing is written or removed through a link."""
    for path in paths:
        if path.is_symlink():
            raise UserError(f"{path} is a symbolic link; nothing is written or removed through it")


def remove_outputs(folder: Path, names: Iterable[str]) -> None:
    """Remove files and folders of these names, and nothing else; links are refused before anything is."""
    names = list(names)
    refuse_links(folder, *(folder / name for name in names))
    try:
        for path in (folder / name for name in names):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot remove {error.filename}: {error.strerror}") from None


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
    """A safetensors file; `about` is stored as one JSON text in its metadata."""
    packed = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_bytes(path, save(packed, {"glassformer": json.dumps(about)}))


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a safetensors file and what it says about itself ({} where it says nothing)."""
    try:
        if path.exists() and not path.is_file():
            raise ValueError("it is a folder, a device or a pipe")
        path.open("rb").close()  # what the system has against it is said in its own words
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get("glassformer", "{}")
            about = decode_json(text, "its metadata")
            if not isinstance(about, dict):
                raise ValueError("its metadata are not a table")
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except FileNotFoundError:
        raise UserError(f"no file {path}") from None
    except PermissionError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (SafetensorError, UserError, OSError, ValueError, TypeError) as error:
        raise UserError(
            f"{path} is damaged or not a safetensors file ({error}); it was left as it is"
        ) from None
