"""Labels that move keep apart, inside, and do not jump."""

import numpy as np

from glassformer.pictures.video.labelling import compute_label_tracks


def test_labels_keep_apart_and_inside_and_do_not_jump() -> None:
    random = np.random.default_rng(3)
    start, end = random.normal(0, 5, (2, 12, 2)) + 200
    share = np.linspace(0, 1, 40)[:, None, None]
    points = start + share * (end - start)
    tracks = compute_label_tracks(
        points, points - points.mean(1, keepdims=True), 12.0, np.zeros(2), np.full(2, 400.0)
    )
    gaps = np.linalg.norm(tracks[:, :, None] - tracks[:, None], axis=-1) + 1e9 * np.eye(12)
    assert gaps.min() > 0.85 * 24
    assert np.abs(np.diff(tracks, axis=0)).max() < 12
    assert ((tracks >= 12) & (tracks <= 388)).all()
