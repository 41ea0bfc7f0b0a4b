"""One cache of compiled programs for the whole session, shared with every command that a test starts.

Shapes are checked at run time here, in all modules but one: the hook must be in place before the package is imported.

Programs are compiled in the quick way, without the optimisations that take longer than they save here; make
test-slow has them.
"""

import os
import secrets
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests.shapes import install_shape_check

# Beyond arrays too. The modules of the rules are not: their settings are checked by the sentences that users see.
FULLY_CHECKED = (
    "tasks.addition",
    "tasks.automaton",
    "tasks.board",
    "tasks.check",
    "tasks.floor",
    "tasks.hard",
)
FULLY_CHECKED += ("tasks.knowledge", "tasks.layouts", "tasks.pairs", "tasks.sample", "tasks.sequences")
FULLY_CHECKED += ("training.flat", "training.optimiser", "models.count")
# Called half a million times in a proof, which took twice as long; its shapes are all "...", so that no axis is lost.
LEFT_OUT = ("models.bounded",)
install_shape_check(FULLY_CHECKED, LEFT_OUT)

# Here, and not beside the tests of a page: two packages have such tests, and a process can hold one Playwright.
from tests.pages.browser import browser, open_page, shared_page, shelf  # noqa: E402  after the hook

__all__ = ["browser", "open_page", "shared_page", "shelf"]

SMALL_RUNS = Path(__file__).parent / "pictures" / "runs"

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("steady")

QUICK = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
# At import, and not in a fixture: JAX reads both when it begins, and a test file that is merely collected may begin it.
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("XLA_FLAGS", QUICK)


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory):
    """Programs are compiled once, for all processes of a session; the machine's own cache is left alone."""
    base = tmp_path_factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    os.environ["GLASSFORMER_CACHE"] = str(session / "xla")
    from glassformer.training.setup import set_up_jax  # after the hook

    set_up_jax("cpu")


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_heard():
    """A shell's background job ignores Ctrl-C, and so would every command that a test starts and stops."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def ray_token():
    """One for every cluster of this process: Ray reads it once, however many follow."""
    return secrets.token_hex(32)


@pytest.fixture
def registry():
    """Rules registered in a test are forgotten after it."""
    from glassformer.tasks import TASKS

    known = dict(TASKS)
    yield
    TASKS.clear()
    TASKS.update(known)


@pytest.fixture
def small_run(tmp_path):
    """A copy of a finished run with a dozen checkpoints: small_run("lucky7", "another name")."""

    def copy(name: str, called: str | None = None, root: Path = tmp_path / "runs") -> Path:
        return Path(shutil.copytree(SMALL_RUNS / name, root / (called or name)))

    return copy
