"""The run-time check itself: it is in place, it sees axes, and it hides no doctest."""

import doctest
import importlib.util
import sys

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from glassformer.models import generate
from glassformer.pictures.measure.plane import fit_plane
from tests.conftest import LEFT_OUT
from tests.shapes import PACKAGE, _Finder, _Loader


def test_every_module_comes_through_the_check():
    finder = next(one for one in sys.meta_path if isinstance(one, _Finder))
    assert finder.left_out == {f"{PACKAGE}.{name}" for name in LEFT_OUT}
    for name in ("models.generate", "pictures.measure.plane", "lens.compare", "training.objective"):
        assert isinstance(importlib.util.find_spec(f"{PACKAGE}.{name}").loader, _Loader)


def test_an_axis_has_one_length_in_a_call():
    with pytest.raises(TypeCheckError, match="spread"):
        fit_plane(np.ones((7, 1)), "x")(np.zeros((4, 3, 1)), np.arange(4.0))


def test_a_method_made_by_dataclass_is_checked():
    from glassformer.pictures.poster.relations import Rotations

    with pytest.raises(TypeCheckError, match="rates"):
        Rotations("rope", 0, np.ones((2, 2)))


def test_numbers_are_arrays_without_axes():
    from glassformer.pictures.parts.queries_keys_values import compute_r_squared

    assert compute_r_squared(np.float64(1.0), np.float64(1.0)) == 1.0


def test_examples_of_wrapped_functions_are_found():
    found = {test.name for test in doctest.DocTestFinder(exclude_empty=True).find(generate) if test.examples}
    assert "glassformer.models.generate.measure_top_margin" in found
