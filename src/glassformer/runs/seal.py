"""A finished run's seal: result.json holds the digest of every file of the run.

Whatever uses a file asks for it first, so that a damaged, missing or exchanged one is named. Figures, films
and the page are made anew at any time: before one is replaced its digest is taken out, afterwards the new one
is put in, so that a process killed in between leaves a file without a seal, and none with a wrong one.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from glassformer.core.atomic import refuse_links, remove_unfinished, write_json
from glassformer.core.errors import UserError
from glassformer.core.text_files import read_json

RESULT, _DIGESTS = "result.json", "digests"
_PASSING = ("state.safetensors", "checkpoints/")  # what only a run at work needs
_OWN_BOOKS = ("spectra/",)  # an analysis of weights keeps its own
_REMADE = ("figures/", "videos/", "page.html")  # from the other files, by `draw`, `video`, `page` and `run`


def digest_files(folder: Path, keep_checkpoints: bool = False) -> dict[str, str]:
    """The sha256 of every file of a run, by its path in the folder."""
    left_out = (RESULT, *_OWN_BOOKS, *(_PASSING[:1] if keep_checkpoints else _PASSING))
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name[0] != "."]
    named = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: _digest(path) for name, path in named.items() if not name.startswith(left_out)}


def require_unchanged(path: Path) -> None:
    """One sentence where a file of a finished run is not the one that the run wrote; other files pass."""
    digests = read_digests(path.parent)
    if wrong := _find_fault(path.parent, path.name, digests.get(path.name)):
        raise UserError(wrong)


def require_whole_run(folder: Path) -> None:
    """The same for all files of a run but those that are made anew."""
    for name, digest in read_digests(folder).items():
        if not name.startswith(_REMADE) and (wrong := _find_fault(folder, name, digest)):
            raise UserError(wrong)


def find_damaged(folder: Path) -> set[str]:
    """The files to be made anew: figures, films and pages that are missing or damaged."""
    digests = read_digests(folder).items()
    return {
        name for name, digest in digests if name.startswith(_REMADE) and _find_fault(folder, name, digest)
    }


def is_sealed(folder: Path, name: str) -> bool:
    """Whether a file is there, and is the one that was sealed; a run of an older version has no seals.

    A process that was killed may have written the file and not its digest: then it is to be made again.
    """
    digests = read_digests(folder)
    return (folder / name).is_file() and (not digests or _digest(folder / name) == digests.get(name))


@contextmanager
def replace_sealed_files(folder: Path, *names: str) -> Iterator[None]:
    """Files, or folders with a slash, that are written anew in a finished run."""
    if not read_digests(folder):
        yield
        return
    _update(folder, names, {})
    yield
    made = {name: digest for name, digest in digest_files(folder).items() if name.startswith(names)}
    _update(folder, names, made)


def seal_written_files(folder: Path | None, made: Path) -> AbstractContextManager[None]:
    """Around the writing of files or of one file `made`, which may or may not lie in a run's folder."""
    if folder is None or not made.is_relative_to(folder):
        return nullcontext()
    refuse_links(made, *(made.glob("*/") if made.is_dir() else ()))
    name = made.relative_to(folder).as_posix()
    return replace_sealed_files(folder, f"{name}/" if made.is_dir() else name)


def read_digests(folder: Path) -> Mapping[str, str]:
    """What result.json says; {} of a run that is not finished, is of an older version, or lost its result."""
    try:
        digests = read_json(folder / RESULT).get(_DIGESTS, {})
    except UserError:
        return {}
    return digests if isinstance(digests, dict) else {}


def _find_fault(folder: Path, name: str, digest: str | None) -> str:
    """What is wrong with a file; nothing where it is as it was, or was never sealed."""
    path = folder / name
    if digest is None:
        return ""
    if not path.is_file():
        return f"{path} is missing, and belongs to the run; --overwrite repeats the run"
    if _digest(path) != digest:
        return f"{path} is damaged or was changed: it is not what the run wrote; --overwrite repeats the run"
    return ""


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _update(folder: Path, names: tuple[str, ...], made: Mapping[str, str]) -> None:
    """Exchange some digests; the time of the result stays, because what it says is not new."""
    with _alone(folder):
        content, before = read_json(folder / RESULT), (folder / RESULT).stat()
        kept: dict[str, Any] = {
            name: digest for name, digest in content[_DIGESTS].items() if not name.startswith(names)
        }
        new = content | {_DIGESTS: dict(sorted((kept | dict(made)).items()))}
        remove_unfinished(folder / RESULT)
        write_json(folder / RESULT, new, (before.st_atime_ns, before.st_mtime_ns))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two commands that end at the same time wait for each other here; run.toml is never replaced."""
    handle = os.open(folder / "run.toml", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
