"""One cache of compiled programs for the whole session, shared with every command that a test starts.

Shapes are checked at run time here: the hook must be in place before the package is imported. The modules of the
rules are left out: their settings are checked by the sentences that users see.

Programs are compiled in the quick way, without the optimisations that take longer than they save here; make
test-slow has them.
"""

import os
import secrets
import signal

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

TASKS = ("addition", "automaton", "board", "check", "floor", "hard", "knowledge", "layouts", "pairs")
TASKS += ("sample", "sequences")
SHAPED = [f"tasks.{module}" for module in TASKS]
SHAPED += ["train.flat", "train.optimiser"]
install_import_hook([f"glassformer.{module}" for module in SHAPED], "beartype.beartype")

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
    from glassformer.train.setup import set_up_jax  # after the hook

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
