"""Paths as a page shows them."""

import os
from pathlib import Path
from shlex import quote


def quote_path(path: Path) -> str:
    """A path as typed where the command ran.

    One outside that folder is cut to its last two names, because a page is sent to others.

    >>> quote_path(Path("runs/my run")), quote_path(Path("/elsewhere/runs/try"))
    ("'runs/my run'", 'runs/try')
    """
    here = Path(os.path.relpath(path))
    return quote(str(here if ".." not in here.parts else Path(*path.resolve().parts[-2:])))
