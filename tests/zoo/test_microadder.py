"""MicroAdder and its relatives, part by part: their formulas once more, in plain NumPy."""

import numpy as np

from glassformer.models.constants import count_constants
from glassformer.models.count import count_by_part
from glassformer.models.forward import forward
from glassformer.models.norm import SpiralNorm
from glassformer.models.ops_numpy import NumpyOps
from glassformer.zoo import ZOO
from tests.zoo.trained import ANSWERS, drawn, problems


def test_57_by_part():
    assert count_by_part(ZOO["microadder-57"].architecture) == {
        "token": 3,
        "position": 6,
        "attn_norm": 5,
        "attn.q": 1,
        "attn.k": 12,
        "attn.out": 10,
        "ff.up": 10,
        "head": 10,
    }


def test_57_computes_what_the_formulas_say():
    """The model once more, batch first and with the published formulas, in plain NumPy."""
    model = ZOO["microadder-57"].architecture
    p = drawn(model)
    tokens = problems("lsb", batch=5)
    logits = forward(model, NumpyOps(), p, tokens, last=ANSWERS)

    digit, turn = np.arange(10), np.arange(10)
    angle = p["token.start"] + digit * p["token.stride"]
    table = p["token.amplitude"] * np.stack([np.cos(angle), np.sin(angle)], 1)
    wave = 2 * np.pi * turn / 10
    spiral = np.stack([3.5 * np.cos(wave), 3.5 * np.sin(wave), 0.15 * turn], 1)
    places = np.concatenate([spiral, np.zeros((1, 3)), spiral, p["position.equals"][None], spiral])
    x = np.concatenate([table[tokens.T], np.broadcast_to(places, (5, 32, 3))], 2)

    def norm(x):
        return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-5) * p["attn_norm.gain"]

    h, w, head = norm(x), p["attn.k.weight"], p["head.weight"]
    cosine, sine = np.cos(p["attn.q.angle"]), np.sin(p["attn.q.angle"])
    turned = np.kron(np.eye(2), [[cosine, -sine], [sine, cosine]])
    keys, queries = h[..., 2:] @ w.T, h[..., 2:] @ w.T @ turned.T
    scores = queries @ keys.swapaxes(1, 2) / 2 + np.triu(np.full((32, 32), -np.inf), 1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = weights / weights.sum(-1, keepdims=True) @ (h[..., :2] @ head)
    x = x + (mixed @ p["attn.out.read"])[..., None] * p["attn.out.write"]
    x = x + NumpyOps().gelu(norm(x) @ p["ff.up.weight"].T) @ head
    expected = norm(x) @ head.T @ table.T  # batch pos tok
    np.testing.assert_allclose(logits, np.moveaxis(expected[:, -ANSWERS:], (0, 1, 2), (2, 1, 0)), atol=1e-12)


def test_62_lifts_the_gain_of_the_places():
    z = np.array([1.0, -2.0, 1.0])
    gain = SpiralNorm(boost="position.z_hi").gain(NumpyOps(), {"position.z_hi": z}, "norm", 5)
    wave = 3.5 * np.sin(2 * np.pi * np.arange(5) / 10) + 1
    np.testing.assert_allclose(gain, wave + np.array([0, 0, 0.7, 1.4, 0.7]))


def test_constants_are_counted_apart():
    assert count_constants(ZOO["glass-39"].architecture) == 3 + 1 + 2  # spiral, the 9.5, eps and 4; no scale
    assert count_constants(ZOO["microadder-57"].architecture) == 3 + 1 + 1  # spiral, eps, scale
    assert count_constants(ZOO["rope-36"].architecture) == 1 + 1 + 1  # a frequency other than 1, eps, scale
