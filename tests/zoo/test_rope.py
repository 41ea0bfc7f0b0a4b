"""The adders with rotations: their formulas once more, in plain NumPy."""

import numpy as np

from glassformer.models.forward import forward
from glassformer.models.ops_numpy import NumpyOps
from glassformer.zoo import ZOO
from tests.zoo.trained import ANSWERS, drawn, problems


def test_rope_36_computes_what_the_formulas_say():
    """The model once more, one problem at a time, complex numbers for the turns."""
    model = ZOO["rope-36"].architecture
    p = drawn(model)
    tokens = problems("lsb24", batch=3)
    logits = forward(model, NumpyOps(), p, tokens, last=ANSWERS)

    def norm(x, gain):
        return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6) * gain

    def turned(x, angles):
        pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * np.asarray(angles))
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    gain, wq, up = p["attn_norm.gain"], p["attn.q.weight"], p["ff.up.weight"]
    angle = p["token.start"] + np.arange(10) * p["token.stride"]
    table = p["token.amplitude"] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    place = np.arange(34)[:, None] * np.array([1.0, 3**-0.5])
    for which in range(3):
        x = table[tokens[:, which]]
        values = norm(x, gain) @ wq.T  # also the queries, before their norm
        queries = turned(norm(values, p["attn.qk_norm.gain"]), place)
        keys = turned(norm(turned(values, p["attn.k.angle"]), p["attn.qk_norm.gain"]), place)
        scores = queries @ keys.T / 2 + np.triu(np.full((34, 34), -np.inf), 1)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        x = x + weights / weights.sum(-1, keepdims=True) @ values @ wq
        n = norm(x, gain)
        gate = n @ p["ff.gate.weight"].T
        hidden = gate / (1 + np.exp(-gate)) * (n @ up.T)
        cosine, sine = np.cos(p["ff.down.angle"]), np.sin(p["ff.down.angle"])
        first, second, third = up.T
        down = np.stack([first * cosine - second * sine, first * sine + second * cosine, third])
        x = x + hidden @ down.T
        expected = norm(x, gain) @ table.T  # pos tok
        np.testing.assert_allclose(logits[:, :, which], expected[-ANSWERS:].T, atol=1e-12)
