"""Folders that a command fills: its own kind is resumed or replaced, others are refused.

>>> kind = FolderKind("run", "run.toml", made=("run.toml",), leftovers=(), ways="--overwrite replaces it")
>>> kind.make_conflict(Path("runs/a"), describe_difference({"steps": 10}, {"steps": 20}))
UserError('runs/a holds another run (steps is 10 there and 20 here); --overwrite replaces it')

A folder is whole at every moment: its marker is written last and removed last, or replaced in one step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.core.atomic import refuse_links, remove_outputs
from glassformer.core.errors import UserError, shorten_value


@dataclass(frozen=True)
class FolderKind:
    """What folders of one kind hold, and how they are told from others."""

    noun: str  # in sentences
    marker: str  # the file that makes a folder one of this kind
    made: tuple[str, ...]  # all that is made there, in the order in which it is removed
    leftovers: tuple[str, ...]  # patterns of files that a killed process was about to rename
    ways: str  # what a user may do about another one that is there
    early: frozenset[str] = frozenset()  # may be there before the marker

    def is_in(self, folder: Path) -> bool:
        return (folder / self.marker).exists()

    def remove_made(self, folder: Path) -> None:
        """Remove all that was made there; links are refused before anything is removed."""
        remove_outputs(folder, self.made)

    def refuse_links(self, folder: Path) -> None:
        """Nothing that was made there may be a link."""
        refuse_links(*(folder / name for name in self.made))

    def remove_leftovers(self, folder: Path) -> None:
        """Remove what killed processes left; only where no other process is at work."""
        for pattern in self.leftovers:
            for path in folder.glob(pattern):
                path.unlink(missing_ok=True)

    def refuse_foreign(self, folder: Path, beside: bool = False) -> None:
        """No marker is there: what others made stays; `beside`: only what has one of our names is refused."""
        refuse_file(folder)
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        in_the_way = {*self.made} if beside else {name for name in names if name[0] != "."}
        if strange := [name for name in names if name in in_the_way - self.early]:
            raise UserError(
                f"{folder} is not empty and holds no {self.noun} (it has {strange[0]}); "
                "--out chooses another folder"
            )

    def make_conflict(self, folder: Path, difference: str) -> UserError:
        """The error for a folder that holds another one of this kind."""
        return UserError(f"{folder} holds another {self.noun} ({difference}); {self.ways}")


def refuse_file(folder: Path) -> None:
    """A file cannot be a folder."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, not a folder; choose another folder with --out")


def describe_difference(there: Mapping[str, Any], here: Mapping[str, Any], missing: str = "None") -> str:
    """The first setting that differs, or nothing; `missing` is said of one that is not there.

    >>> describe_difference({"a": 1}, {"a": 1, "b": [2]}, missing="the default"), describe_difference({}, {})
    ('b is the default there and [2] here', '')
    """
    for path in (*here, *there):
        if there.get(path) != here.get(path):
            old, new = (shorten_value(one[path]) if path in one else missing for one in (there, here))
            return f"{path} is {old} there and {new} here"
    return ""
