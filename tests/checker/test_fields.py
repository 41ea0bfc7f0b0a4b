"""Fields of a certificate: what cannot be written again has no digest."""

import pytest

from glassformer.checker.fields import format_canonical
from glassformer.core.errors import UserError


def test_a_tree_that_cannot_be_written_again_is_an_error():
    """Text can be nested just deep enough to be read, and too deep to be written for its digest."""
    tree = []
    for _ in range(100_000):
        tree = [tree]
    with pytest.raises(UserError, match="nested too deeply"):
        format_canonical(tree)
    with pytest.raises(UserError, match="not finite"):
        format_canonical({"margin": float("nan")})
