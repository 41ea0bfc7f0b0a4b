"""Maps of queries, keys and values are products with the weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    qkv_maps,
)
from glassformer.pictures.parts.matrices import PARAMETER
from tests.pictures.conftest import subject_of
from tests.pictures.figures.queries import drawn


@pytest.mark.parametrize("name", ["plus_last_even", "even_to_odd_transition", "even_repeat_last_odd"])
def test_maps_draw_exactly_the_parameters_of_attention(name):
    subject = subject_of(name)
    _, figure = drawn("qkv_maps", subject)
    images = [image for axes in figure.axes for image in axes.images if image.get_gid()]
    found = {image.get_gid().removeprefix(PARAMETER): np.asarray(image.get_array()) for image in images}
    expected = {key: array for key, array in subject.model.params.items() if key.startswith("attn.")}
    assert len(images) == len(found) == len(expected)
    for key, array in expected.items():
        np.testing.assert_array_equal(found[key], array)


def test_grid_images_are_products_with_the_weights():
    subject = subject_of("plus_last_even")
    data = qkv_maps.compute(subject)
    grid = data["grids"][0]["e"]
    for kind in "qkv":
        weight = subject.model.params[f"attn.{kind}.weight"].astype(np.float64)
        np.testing.assert_allclose(data["grids"][0][kind], grid @ weight.T, atol=1e-4)
        sizes = np.linalg.svd(weight, compute_uv=False)
        flipped = ", flipped" if np.linalg.det(weight) < 0 else ""
        factors = ", ".join(qkv_maps.format_factor(size) for size in sizes)
        assert qkv_maps.describe_map_stretch(data, 0, kind) == f"{kind}: {factors}{flipped}"
    inputs = data["points"][0]["e"].reshape(-1, 2)
    assert (grid.reshape(-1, 2).min(0) <= inputs.min(0)).all()
    assert (grid.reshape(-1, 2).max(0) >= inputs.max(0)).all()


def test_grid_images_of_a_wide_stream_lie_in_the_plane_through_the_mean_input():
    subject = subject_of("step_back")
    data = qkv_maps.compute(subject)
    params = subject.model.params
    inputs = (params["token.weight"][:, None] + params["position.weight"]).astype(np.float64)
    mean, two = inputs.mean((0, 1)), subject.stream_plane.directions
    states = mean + (data["grids"][0]["e"] - two @ mean) @ two
    for kind in "qkv":
        images = states @ params[f"attn.{kind}.weight"].T @ data["planes"][0][kind].directions.T
        np.testing.assert_allclose(data["grids"][0][kind], images, atol=1e-4)
