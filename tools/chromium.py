"""The system's Chromium, as tests, benchmarks and the gallery use it: headless, and talking to nobody.

GLASSFORMER_CHROMIUM names another one; Chrome will do too.
"""

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the Makefile looks for a browser before anything is installed
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-default-browser-check"),
)


def find_chromium() -> str:
    """The path of a browser, or what to do where there is none."""
    asked = os.environ.get("GLASSFORMER_CHROMIUM")
    found = asked or next((path for name in NAMES if (path := shutil.which(name))), None)
    if not found:
        raise RuntimeError(
            "no Chromium was found: `make test` as root installs it, or `apt-get install chromium`; "
            "GLASSFORMER_CHROMIUM names one that lies elsewhere"
        )
    return found


def launch(playwright: "Playwright") -> "Browser":
    """A browser without a window; as root it runs without its sandbox, which root cannot have."""
    rights = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    return playwright.chromium.launch(executable_path=find_chromium(), args=[*QUIET, *rights])
