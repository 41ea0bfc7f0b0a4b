"""Adders built from the parts: their published counts, and how many numbers their functions depend on."""

import numpy as np
import pytest

from glassformer.model.architecture import Architecture, Layer, Tie
from glassformer.model.attention import Attention
from glassformer.model.count import by_part, constants, count
from glassformer.model.feedforward import FeedForward
from glassformer.model.forward import forward, parameters
from glassformer.model.head import TiedHead
from glassformer.model.norm import FlatNorm, Norm, RMSNorm, SpiralNorm
from glassformer.model.ops import NumpyOps
from glassformer.model.position import NoPosition, Rope, Spiral
from glassformer.model.projection import Direction, Full, Identity, RankOne, Rotated
from glassformer.model.token import Arc
from glassformer.tasks import add, make_layout

TOKEN, PLACE = (0, 2), (2, 5)  # dimensions of the token and of the position in a state of five
TURNS = tuple(range(10))  # of the spiral, for the ten digits of a number
ANSWERS = 11
FREE, ON_TOKEN = Full(), Full(reads=TOKEN)
GAIN, FOUR = RMSNorm(), FlatNorm(factor=4.0)


def adder(
    attention: Attention,
    feedforward: FeedForward,
    head: Full,
    position: Spiral,
    norm: Norm,
    ties: tuple[Tie, ...],
) -> Architecture:
    """One layer of width five in the layout lsb: digits on an arc, places on a spiral."""
    shared = (Tie("ff_norm.gain", "attn_norm.gain"), Tie("final_norm.gain", "attn_norm.gain"))
    return Architecture(
        vocab=10,
        context=33,
        width=5,
        token=Arc(),
        position=position,
        position_dims=3,
        layers=(Layer(attention, feedforward, norm, norm),),
        final_norm=norm,
        head=TiedHead(head),
        ties=ties + (shared if type(norm) is RMSNorm else ()),
    )


def micro(
    rows: int = 4, norm: Norm = GAIN, free_down: bool = True, learned_spiral: bool = False
) -> Architecture:
    """MicroAdder: K = W h, Q = R(angle) W h on the place; the value is read by the head's own weight."""
    slots = (*TURNS, "zero", *TURNS, "equals", *TURNS, "z_hi")
    attention = Attention(
        head_size=rows,
        value_size=5,
        q=Rotated(of="attn.k.weight", reads=PLACE),
        k=Full(reads=PLACE),
        v=ON_TOKEN,
        out=RankOne(start="zero"),
    )
    feedforward = FeedForward(hidden=2, bend="gelu", up=Full(), down=Full())
    ties = (Tie("attn.v.weight", "head.weight.T"),)
    if not free_down:
        ties += (Tie("ff.down.weight", "head.weight.T"),)
    spiral = Spiral(slots=slots, learned=learned_spiral)
    return adder(attention, feedforward, Full(), spiral, norm, ties)


def glass(
    value: Full | Direction = ON_TOKEN,
    out: Full = FREE,
    up: Full = FREE,
    head: Full = FREE,
    equals: float | str = 9.5,
    norm: Norm = FOUR,
) -> Architecture:
    """The glass family: scores are one bilinear form of two places, the value is one number."""
    attention = Attention(
        head_size=3, value_size=1, q=Full(reads=PLACE), k=Identity(reads=PLACE), v=value, out=out, scale=1.0
    )
    down = Full(writes=head.reads)
    slots = (*TURNS, "zero", *TURNS, equals, *TURNS, "zero")
    feedforward = FeedForward(hidden=2, bend="gelu", up=up, down=down)
    ties = (Tie("ff.down.weight", "head.weight.T"),)
    return adder(attention, feedforward, head, Spiral(slots=slots), norm, ties)


def rope36() -> Architecture:
    """The 36 of the RoPE family: one query weight serves as value, output and, turned, as key."""
    norm = RMSNorm(eps=1e-6)
    attention = Attention(
        head_size=4,
        k=Rotated(of="attn.q.weight"),
        out=Full(),
        relation=Rope(frequencies=(1.0, 3**-0.5)),
        qk_norm=norm,
    )
    feedforward = FeedForward(
        hidden=2, bend="silu", gate=Full(), up=Full(), down=Rotated(of="ff.up.weight.T")
    )
    ties = [("attn.v.weight", "attn.q.weight"), ("attn.out.weight", "attn.q.weight.T")]
    ties += [("ff_norm.gain", "attn_norm.gain"), ("final_norm.gain", "attn_norm.gain")]
    return Architecture(
        vocab=10,
        context=35,
        width=3,
        token=Arc(),
        position=NoPosition(),
        layers=(Layer(attention, feedforward, norm, norm),),
        final_norm=norm,
        head=TiedHead(),
        ties=tuple(Tie(*pair) for pair in ties),
    )


TRIMMED = {"value": Direction(reads=TOKEN), "out": Full(writes=TOKEN), "up": ON_TOKEN}
ADDERS = {
    "micro-57": micro(free_down=False),
    "micro-62": micro(norm=SpiralNorm(boost="position.z_hi")),
    "micro-67": micro(),
    "micro-74": micro(rows=5, learned_spiral=True),
    "glass-47": glass(equals="equals", norm=GAIN),
    "glass-39": glass(),
    "glass-29": glass(**TRIMMED),
    "glass-23": glass(**TRIMMED, head=ON_TOKEN),
    "rope-36": rope36(),
}


def drawn(model: Architecture, seed: int = 0) -> dict[str, np.ndarray]:
    """Every number from a standard normal, so that nothing is zero by its start."""
    random = np.random.default_rng(seed)
    return {name: random.normal(size=parameter.shape) for name, parameter in parameters(model).items()}


def problems(layout: str, batch: int, seed: int = 1) -> np.ndarray:
    """Random additions with their answers; the last token is never read, so it is left out."""
    x, y = np.random.default_rng(seed).integers(0, 10, (2, 10, batch))
    return make_layout(layout).encode(x, y, add(x, y))[:-1]


@pytest.mark.parametrize("name", ADDERS)
def test_published_counts(name):
    assert sum(parameter.size for parameter in parameters(ADDERS[name]).values()) == int(name.split("-")[1])


def test_57_by_part():
    assert by_part(ADDERS["micro-57"]) == {
        "token": 3,
        "position": 6,
        "attn_norm": 5,
        "attn.q": 1,
        "attn.k": 12,
        "attn.out": 10,
        "ff.up": 10,
        "head": 10,
    }


# By hand. 57: z_hi is dead (3); W and the angle, 13 numbers, enter as one 3 x 3 form (4 too many); a and b,
# 10 numbers, as H a in the plane times b, whose sizes trade (4 too many): 46 are left. 67 has ten more, and
# every weight behind a norm is free to take in its gain (5) and a turn of the token plane (1): 50. 39: the
# sizes of g and b trade. 36: dimension 2 is empty until attention writes it, so the last column of Wq meets
# only the values, which span a plane: 2 of its 4 numbers count.
RANKS = {
    "micro-57": (46, ("position.z_hi",)),
    "micro-67": (50, ("position.z_hi",)),
    "glass-39": (38, ()),
    "glass-29": (29, ()),
    "rope-36": (34, ()),
}


@pytest.mark.parametrize("name", RANKS)
def test_ranks(name):
    model = ADDERS[name]
    tokens = problems("lsb24" if name == "rope-36" else "lsb", batch=64)
    counts = count(model, drawn(model), tokens, ANSWERS)
    assert (counts.rank, counts.dead) == RANKS[name]


def test_57_computes_what_the_formulas_say():
    """The model once more, batch first and with the published formulas, in plain NumPy."""
    model = ADDERS["micro-57"]
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
    assert constants(ADDERS["glass-39"]) == 5 + 1 + 2  # spiral, the 9.5, eps and the 4; no scale
    assert constants(ADDERS["micro-57"]) == 5 + 1 + 1  # spiral, eps, scale
    assert constants(ADDERS["rope-36"]) == 2 + 1 + 1  # frequencies, eps, scale
