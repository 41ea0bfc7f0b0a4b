"""Where a case works: a folder of its own, emptied after it, and a marker that nothing may ever make."""

import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """The folders of one worker."""

    root: Path

    @cached_property
    def folder(self) -> Path:
        """The working directory of a case, deep enough for `../..` to stay inside."""
        return self.root / "case" / "a" / "b" / "c"

    @cached_property
    def marker(self) -> Path:
        """What hostile code in an input would make."""
        return self.root / "executed"

    @cached_property
    def printed(self) -> Path:
        """All that a case prints, of whatever process."""
        return self.root / "printed"

    @cached_property
    def inputs(self) -> Path:
        """Valid inputs that lie in files."""
        return self.root / "inputs"

    def empty(self) -> None:
        """A new folder for the next case."""
        shutil.rmtree(self.root / "case", ignore_errors=True)
        self.folder.mkdir(parents=True)
        os.chdir(self.folder)

    def was_executed(self) -> bool:
        """Whether the marker is there; it is taken away."""
        if not self.marker.exists():
            return False
        self.marker.unlink()
        return True


def make_root(parent: Path | None = None) -> Path:
    """A folder in memory where there is enough of it: cases write many small files."""
    import tempfile

    shared = Path("/dev/shm")
    has_room = shared.is_dir() and shutil.disk_usage(shared).free > 2_000_000_000
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=parent or (shared if has_room else None)))
