"""Heat maps of queries, keys and values."""

import numpy as np

from glassformer.models.architecture import make_reference_architecture
from glassformer.pictures.figures import (
    qkv_heatmaps,
)
from tests.pictures.conftest import subject_of
from tests.pictures.figures.queries import with_architecture


def test_heatmaps_show_the_largest_dimensions_and_say_so():
    subject = with_architecture(make_reference_architecture(vocab=12, width=2, context=8, head_size=40))
    data = qkv_heatmaps.compute(subject)
    params = subject.model.params
    inputs = params["token.weight"][:, None] + params["position.weight"]
    for kind in "qkv":
        vectors = inputs @ params[f"attn.{kind}.weight"].T
        largest = np.sort(np.argsort(-(vectors**2).sum((0, 1)))[:16])
        np.testing.assert_array_equal(data["dims"][kind], largest)
        np.testing.assert_allclose(data["maps"][kind], vectors[..., largest], atol=1e-4)
    assert qkv_heatmaps.format_kind_heading(data, "q") == "queries: 16 of 40 dimensions"
    assert "16 of the 40 dimensions of keys" in qkv_heatmaps.caption(data)
    assert "None is left out" in qkv_heatmaps.caption(qkv_heatmaps.compute(subject_of("lucky7")))
