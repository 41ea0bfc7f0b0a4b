"""Attention and the stream are those of the weights."""

import numpy as np

from glassformer.pictures.video.scenes import attention, residual
from tests.pictures.conftest import subject_of
from tests.pictures.video.staged import raw_points


def test_attention_and_residual_are_those_of_the_weights() -> None:
    subject = subject_of("plus_last_even")
    looks, paths = attention.compute(subject, [0, 7, 11]), residual.compute(subject, [0, 7, 11])
    sequence = subject.sequences[0]
    places = np.arange(len(sequence))
    for frame, index in enumerate((0, 7, 11)):
        stored = {name: array.astype(float) for name, array in subject.past.history.at(index).items()}
        true = raw_points(subject, index)
        e, q, k, v = (true[key][sequence, places].astype(float) for key in ("sum", "q", "k", "v"))
        scores = np.where(np.tri(len(e), dtype=bool), q @ k.T / np.sqrt(2), -np.inf)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        z = e + weights @ v
        hidden = np.maximum(z @ stored["ff.up.weight"].T + stored["ff.up.bias"], 0)
        h = z + hidden @ stored["ff.down.weight"].T + stored["ff.down.bias"]
        logits = h @ stored["head.weight"].T + stored["head.bias"]
        seen = np.tri(len(e), dtype=bool)
        assert np.allclose(looks["weights"][0, frame][seen], weights[seen], atol=1e-4)
        assert np.isnan(looks["weights"][0, frame][~seen]).all()
        for stop, state in enumerate((e, z, h)):
            assert np.allclose(paths["stops"][frame, stop], state, rtol=1e-3, atol=1e-3)
        assert (paths["answers"][frame] == logits.argmax(1)).all()
