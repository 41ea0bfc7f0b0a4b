"""Where real inputs land in a landscape."""

from types import SimpleNamespace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.pictures.measure.landings import require_true_slice


def test_a_slice_that_shows_other_tokens_than_the_model_says_is_no_map():
    plane = SimpleNamespace(through=np.zeros(32))
    with pytest.raises(UserError, match=r"gives 3 of 10 states the token that the model predicts, too few"):
        require_true_slice(plane, agreeing=3, count=10)
    require_true_slice(plane, agreeing=5, count=10)
