"""What is in a folder: whether every file is whole, and its bytes with the times taken out."""

import csv
import fnmatch
import hashlib
import io
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from glassformer.core.atomic import read_arrays
from glassformer.runs.seal import read_digests
from glassformer.sweeps.store import hash_table
from tools.kills.kinds import TIMED, Field

PAYLOAD = re.compile(r'(?<=id="payload">).*?(?=</script>)', re.DOTALL)
TEMPORARY = re.compile(r"\..*\.\d+\.tmp")  # what a process that dies may leave behind, for the next to remove
Files = dict[str, bytes]


def read_files(folder: Path, verb: str) -> Files:
    """Every file below a folder by its path, hidden ones too; times are taken out."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    named = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {name: _without_times(verb, name, content) for name, content in named.items()}


def find_changes(expected: Files, found: Files) -> list[str]:
    """What differs between two folders, in words."""
    missing = [f"{name} is missing" for name in expected if name not in found]
    strange = [f"{name} is left over" for name in found if name not in expected]
    both = [name for name in expected if name in found and expected[name] != found[name]]
    return missing + strange + [f"{name} has other bytes" for name in both]


def find_broken(folder: Path) -> list[str]:
    """Files under their final names that are not whole, and digests that are not those of the files."""
    broken = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if TEMPORARY.fullmatch(path.name):
            continue
        try:
            _READERS[path.suffix](path)
        except Exception as error:  # whatever a reader meets in half a file
            broken.append(f"{path.relative_to(folder).as_posix()} is not whole: {error!r}")
    return broken + _find_wrong_seals(folder)


def name_state(before: Files, expected: Files, folder: Path) -> str:
    """absent: nothing was made yet; complete: every file is there; resumable: what is in between."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    made = {name for name in names if not TEMPORARY.fullmatch(name.rpartition("/")[2])}
    return "absent" if made <= {*before} else "complete" if made == {*expected} else "resumable"


def _find_wrong_seals(folder: Path) -> list[str]:
    """A finished run never says a digest of a file that is not the file's."""
    wrong = []
    for path in folder.rglob("result.json"):
        for name, digest in read_digests(path.parent).items():
            file = path.parent / name
            if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() != digest:
                wrong.append(f"{name} is not what {path.relative_to(folder).as_posix()} says it is")
    return wrong


def _without_times(verb: str, name: str, content: bytes) -> bytes:
    fields = [
        field
        for one in TIMED
        if one.verb == verb and fnmatch.fnmatch(name, one.files)
        for field in one.fields
    ]
    if not fields:
        return content
    text = content.decode()
    if name.endswith(".html"):
        return PAYLOAD.sub(lambda found: _plain_table(found[0], fields), text).encode()
    return _plain_table(text, fields).encode()


def _plain_table(text: str, fields: list[Field]) -> str:
    table = json.loads(text)
    for field in fields:
        _take_out(table, field)
    return json.dumps(table)


def _take_out(table: Any, field: Field) -> None:
    """The value of a field becomes null; that it is there is compared."""
    first, *rest = field
    if first == "*":
        for entry in table:
            _take_out(entry, tuple(rest))
    elif first in table and rest:
        _take_out(table[first], tuple(rest))
    elif first in table:
        table[first] = None


def _read_json(path: Path) -> None:
    table = json.loads(path.read_text(encoding="utf-8"))
    if path.parent.name == "units" and table["sha256"] != hash_table(table):
        raise ValueError("its digest is another")


def _read_csv(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    _require(text.endswith("\n"), "the last line")
    _require(len({len(row) for row in csv.reader(io.StringIO(text))}) == 1, "a row")


def _read_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = PAYLOAD.search(text)
    _require(text.endswith("</html>\n") and found is not None, "the end")
    json.loads(found[0] if found else "")


def _read_text(path: Path) -> None:
    _require(path.read_text(encoding="utf-8").endswith("\n"), "the last line")


def _read_mp4(path: Path) -> None:
    """Boxes, each with its length, up to the last byte; index and pictures are among them."""
    content, at, names = path.read_bytes(), 0, set()
    while at < len(content):
        size = int.from_bytes(content[at : at + 4])
        _require(size >= 8, "a box")
        names.add(content[at + 4 : at + 8])
        at += size
    _require(at == len(content) and {b"moov", b"mdat"} <= names, "a box")


def _framed(first: bytes, last: bytes) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        content = path.read_bytes()
        _require(content.startswith(first) and content.endswith(last), "its beginning or end")

    return read


def _require(is_whole: bool, what: str) -> None:
    if not is_whole:
        raise ValueError(f"{what} is missing")


_READERS: dict[str, Callable[[Path], Any]] = {
    ".json": _read_json,
    ".toml": lambda path: tomllib.loads(path.read_text(encoding="utf-8")),
    ".safetensors": read_arrays,
    ".csv": _read_csv,
    ".md": _read_text,
    ".html": _read_page,
    ".mp4": _read_mp4,
    ".gif": _framed(b"GIF89a", b";"),
    ".png": _framed(b"\x89PNG", b"IEND\xaeB`\x82"),
}
