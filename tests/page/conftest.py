"""The browser, and finished runs to look at, for every test of the page."""

import shutil
from pathlib import Path

import pytest

from .browser import browser, open_page, shared_page, shelf

__all__ = ["browser", "open_page", "shared_page", "shelf"]

SMALL = Path(__file__).parent.parent / "draw" / "runs"


@pytest.fixture
def small_run(tmp_path):
    """A copy of a finished run with a dozen checkpoints: small_run("lucky7", "another name")."""

    def copy(name: str, called: str | None = None, root: Path = tmp_path / "runs") -> Path:
        return Path(shutil.copytree(SMALL / name, root / (called or name)))

    return copy
