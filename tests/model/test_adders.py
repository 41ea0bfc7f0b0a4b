"""MicroAdder and its relatives, part by part: their formulas once more, in plain NumPy."""

import numpy as np

from glassformer.model.architecture import Architecture
from glassformer.model.count import by_part, constants
from glassformer.model.forward import forward, parameters
from glassformer.model.norm import SpiralNorm
from glassformer.model.ops_numpy import NumpyOps
from glassformer.tasks import add, make_layout
from glassformer.zoo import ZOO

ANSWERS = 11


def drawn(model: Architecture, seed: int = 0) -> dict[str, np.ndarray]:
    """Every number from a standard normal, so that nothing is zero by its start."""
    random = np.random.default_rng(seed)
    return {name: random.normal(size=parameter.shape) for name, parameter in parameters(model).items()}


def problems(layout: str, batch: int, seed: int = 1) -> np.ndarray:
    """Random additions with their answers; the last token is never read, so it is left out."""
    x, y = np.random.default_rng(seed).integers(0, 10, (2, 10, batch))
    return make_layout(layout).encode(x, y, add(x, y))[:-1]


def test_57_by_part():
    assert by_part(ZOO["microadder-57"].architecture) == {
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


def test_62_lifts_the_gain_of_the_places():
    z = np.array([1.0, -2.0, 1.0])
    gain = SpiralNorm(boost="position.z_hi").gain(NumpyOps(), {"position.z_hi": z}, "norm", 5)
    wave = 3.5 * np.sin(2 * np.pi * np.arange(5) / 10) + 1
    np.testing.assert_allclose(gain, wave + np.array([0, 0, 0.7, 1.4, 0.7]))


def test_constants_are_counted_apart():
    assert constants(ZOO["glass-39"].architecture) == 5 + 1 + 2  # spiral, the 9.5, eps and the 4; no scale
    assert constants(ZOO["microadder-57"].architecture) == 5 + 1 + 1  # spiral, eps, scale
    assert constants(ZOO["rope-36"].architecture) == 2 + 1 + 1  # frequencies, eps, scale
