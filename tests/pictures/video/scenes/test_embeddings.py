"""Points of embeddings, queries, keys and values are those of the weights."""

import numpy as np

from glassformer.pictures.video.scenes import embeddings, qkv
from tests.pictures.conftest import subject_of
from tests.pictures.video.staged import raw_points


def test_points_of_embeddings_and_qkv_are_those_of_the_weights() -> None:
    subject = subject_of("plus_last_even")
    found, other = embeddings.compute(subject, [0, 5, 11]), qkv.compute(subject, [0, 5, 11])
    for frame, index in enumerate((0, 5, 11)):
        true = raw_points(subject, index)
        for kind in ("token", "position", "sum"):
            assert np.allclose(found[kind][frame], true[kind], atol=1e-5)
        for kind, key in enumerate("qkv"):
            assert np.allclose(other["points"][frame, 0, kind], true[key], atol=1e-4)
