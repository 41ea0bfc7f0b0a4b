"""Words of the command line that stand for values."""

import pytest

from glassformer.commands.values import read_pair
from glassformer.core.errors import UserError


def test_pairs():
    assert read_pair(" 57 68 ") == read_pair("57+68") == (57, 68)
    for text in ("57", "57+68+1", "a+b", "-1+2", ""):
        with pytest.raises(UserError):
            read_pair(text)
