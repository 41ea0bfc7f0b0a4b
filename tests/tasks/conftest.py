"""Shapes are checked at run time here: the hook must be in place before the package is imported.

The modules of the rules are left out: their settings are checked by the sentences that users see.
"""

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

SHAPED = ("addition", "automaton", "check", "floor", "knowledge", "layouts", "pairs", "sample", "sequences")
install_import_hook([f"glassformer.tasks.{module}" for module in SHAPED], "beartype.beartype")

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("steady")


@pytest.fixture
def registry():
    """Rules registered in a test are forgotten after it."""
    from glassformer.tasks import RULES  # after the hook

    known = dict(RULES)
    yield
    RULES.clear()
    RULES.update(known)
