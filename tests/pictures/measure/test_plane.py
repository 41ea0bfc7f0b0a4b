"""Planes: two dimensions as they are, more through one projection, none centred."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.pictures.measure.plane import fit_plane

RANDOM = np.random.default_rng(0)


def test_two_dimensions_are_drawn_as_they_are():
    vectors = RANDOM.normal(size=(7, 2))
    plane = fit_plane(vectors, "stream")
    np.testing.assert_array_equal(plane(vectors), vectors)
    assert (plane.note, plane.share, plane.labels) == ("", 1.0, ("stream[0]", "stream[1]"))


def test_one_dimension_is_spread_by_what_is_given():
    plane = fit_plane(np.array([[3.0], [4.0]]), "stream")
    np.testing.assert_array_equal(plane(np.array([[3.0], [4.0]]), np.array([0.0, 7.0])), [[3, 0], [4, 7]])
    np.testing.assert_array_equal(plane.lift(np.array([[3.5, 7.0]])), [[3.5]])


def test_products_with_vectors_of_the_plane_survive_projection():
    """Nothing is centred: q . k of vectors in the plane is what is seen."""
    basis = np.linalg.qr(RANDOM.normal(size=(5, 2)))[0].T
    vectors = (RANDOM.normal(size=(20, 2)) + 4) @ basis  # far from the origin, in a plane through it
    plane = fit_plane(vectors, "q, k")
    assert plane.share == pytest.approx(1)
    np.testing.assert_allclose(plane(vectors) @ plane(vectors).T, vectors @ vectors.T, rtol=1e-9)


def test_share_is_that_of_the_square_sum():
    """Squares of 9, 4, 1 and 1: the plane holds 13 of 15."""
    plane = fit_plane(np.diag([1.0, 3.0, 1.0, 2.0]), "stream")
    assert plane.share == pytest.approx(13 / 15)
    assert plane.note == "projected from 4 dimensions on the two main directions (87% of the square sum)"


def test_lifting_returns_to_the_plane():
    plane = fit_plane(RANDOM.normal(size=(9, 4)), "stream")
    points = RANDOM.normal(size=(3, 2))
    np.testing.assert_allclose(plane(plane.lift(points)), points, atol=1e-12)


def test_a_pair_of_dimensions_by_choice():
    vectors = RANDOM.normal(size=(9, 4))
    plane = fit_plane(vectors, "stream", (3, 1))
    np.testing.assert_array_equal(plane(vectors), vectors[:, [3, 1]])
    for wrong in ((0, 4), (2, 2)):
        with pytest.raises(UserError, match="two of 0 to 3"):
            fit_plane(vectors, "stream", wrong)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_limits_hold_every_point(width):
    vectors = RANDOM.normal(size=(30, width))
    plane = fit_plane(vectors, "stream")
    points = plane(vectors, np.arange(30.0))
    (x0, x1), (y0, y1) = plane.limits(points)
    assert x0 < points[:, 0].min() and points[:, 0].max() < x1
    assert y0 < points[:, 1].min() and points[:, 1].max() < y1
    assert width == 1 or x1 - x0 == pytest.approx(y1 - y0)


def test_nearly_all_of_the_square_sum_is_not_all():
    rows = np.array([[100.0, 0, 0], [0, 100.0, 0], [0, 0, 1.0]])
    assert ">99.9% of the square sum" in fit_plane(rows, "x").note
    assert ">99.9% of the square sum" in fit_plane(rows, "x", (0, 1)).note
