"""The trained families: published counts, how many numbers each function depends on, and how they nest."""

import numpy as np
import pytest

from glassformer.models.constants import list_constants
from glassformer.models.count import count_parameters
from glassformer.models.forward import forward, list_parameters
from glassformer.models.ops_numpy import NumpyOps
from glassformer.zoo import ZOO, pure
from tests.selection import chosen
from tests.zoo.trained import ANSWERS, drawn, problems

MICROADDERS = [f"microadder-{size}" for size in (57, 62, 67, 74)]
GLASS = [f"glass-{size}" for size in (54, 47, 39, 29, 23)]
MIRRORED = [f"glass-{size}" for size in (16, 10, 9, 8)]
ROPE = [f"rope-{size}" for size in (62, 52, 44, 41, 36)]
ANY_LENGTH = ["any-8", "any-7", "any-6"]
PURE = [entry.id for entry in pure.ENTRIES]
TRAINED = MICROADDERS + GLASS + MIRRORED + ANY_LENGTH + PURE + ROPE


def test_the_zoo_holds_every_trained_adder_once_and_under_its_id():
    assert [name for name, entry in ZOO.items() if entry.build is None] == TRAINED
    assert all(name == entry.id and entry.about for name, entry in ZOO.items())


@pytest.mark.parametrize("name", TRAINED)
def test_published_counts(name):
    stored = list_parameters(ZOO[name].architecture).values()
    assert sum(parameter.free for parameter in stored) == int(name.split("-")[1])


@pytest.mark.parametrize("name", TRAINED)
def test_the_architecture_fits_its_task(name):
    entry = ZOO[name]
    assert entry.architecture.vocab == len(entry.task.tokens()) == entry.task.base
    extra = 1 if name in MICROADDERS else 0  # the place of z_hi, at which nothing is predicted
    assert entry.architecture.context == entry.task.written().length - 1 + extra


# By hand. 57: z_hi is dead (3); W and the angle, 13 numbers, enter as one 3 x 3 form (4 too many); a and b,
# 10 numbers, as H a in the plane times b, whose sizes trade (4 too many): 46 are left. 67 has ten more, and
# every weight behind a norm is free to take in its gain (5) and a turn of the token plane (1): 50. 39: the
# sizes of g and b trade. 36: dimension 2 is empty until attention writes it, so the last column of Wq meets
# only the values, which span a plane: 2 of its 4 numbers count.
RANKS = {
    "microadder-57": (46, ("position.z_hi",)),
    "microadder-67": (50, ("position.z_hi",)),
    "glass-39": (38, ()),
    "glass-29": (29, ()),
    "rope-36": (34, ()),
    **{name: (int(name.split("-")[1]), ()) for name in MIRRORED},  # nothing to spare
}


@pytest.mark.parametrize("name", chosen(RANKS, ["microadder-57", "glass-29", "glass-8"]))
def test_ranks(name):
    entry = ZOO[name]
    tokens = problems(entry.task.layout, batch=64)
    counts = count_parameters(entry.architecture, drawn(entry.architecture), tokens, ANSWERS)
    assert (counts.rank, counts.dead) == RANKS[name]


def logits_of(name, params):
    entry = ZOO[name]
    return forward(entry.architecture, NumpyOps(), params, problems(entry.task.layout, 20), last=ANSWERS)


def without(params, *names):
    return {name: array for name, array in params.items() if name not in names}


def fewer_47(p):
    """M = W' R' W / 2 and g = H a."""
    cosine, sine = np.cos(p["attn.q.angle"]), np.sin(p["attn.q.angle"])
    turn, weight = np.kron(np.eye(2), [[cosine, -sine], [sine, cosine]]), p["attn.k.weight"]
    value = (p["head.weight"] @ p["attn.out.read"])[None]
    return without(p, "attn.q.angle", "attn.k.weight", "attn.out.read", "attn.out.write") | {
        "attn.q.weight": weight.T @ turn @ weight / 2,
        "attn.v.weight": value,
        "attn.out.weight": p["attn.out.write"][:, None],
    }


def more_47(p):
    """From 39: what is frozen there."""
    wave = 2 * np.pi * 9.5 / 10
    equals = np.array([3.5 * np.cos(wave), 3.5 * np.sin(wave), 0.15 * 9.5])
    return p | {"attn_norm.gain": np.full(5, 4.0), "position.equals": equals}


def more_39(p):
    """From 29: a direction as two numbers, zeros where nothing is read or written."""
    angle = p["attn.v.angle"]
    return without(p, "attn.v.angle") | {
        "attn.v.weight": np.array([[np.cos(angle), np.sin(angle)]]),
        "attn.out.weight": np.vstack([p["attn.out.weight"], np.zeros((3, 1))]),
        "ff.up.weight": np.hstack([p["ff.up.weight"], np.zeros((2, 3))]),
    }


def more_29(p):
    return p | {"head.weight": np.hstack([p["head.weight"], np.zeros((2, 3))])}


def more_23(p):
    """From 16: the arc from its start on, the difference of two dimensions as a direction, patterns written out."""
    root = np.sqrt(2)
    arc = {"token.amplitude": p["token.amplitude"], "token.stride": p["token.stride"]}
    return arc | {
        "token.start": np.pi / 4 - 4.5 * p["token.stride"],
        "attn.q.weight": p["attn.q.weight"],
        "attn.v.angle": np.array(3 * np.pi / 4),
        "attn.out.weight": root * np.array([[p["attn.out.b"]], [-p["attn.out.b"]]]),
        "ff.up.weight": even(p["ff.up.p"], p["ff.up.q"]),
        "head.weight": even(p["head.u"], p["head.v"]),
    }


def even(p, q):
    return np.array([[p, q], [q, p]])


def more_10(p):
    return p | {"ff.up.q": -p["ff.up.p"]}


def more_9(p):
    return p | {"attn.q.c": np.array(1.0)}


def turned(weight, angle):
    """The first rows of a weight, in pairs, turned."""
    cosine, sine = np.cos(angle), np.sin(angle)
    rows = weight.copy()
    for even in range(0, len(weight) - 1, 2):
        pair = weight[even : even + 2]
        rows[even : even + 2] = np.array([[cosine, -sine], [sine, cosine]]) @ pair
    return rows


def more_41(p):
    return without(p, "ff.down.angle") | {
        "ff.down.weight": turned(p["ff.up.weight"].T, p["ff.down.angle"]),
    }


def more_44(p):
    return p | {"final_norm.gain": p["attn_norm.gain"]}


def more_52(p):
    return without(p, "attn.k.angle") | {"attn.k.weight": turned(p["attn.q.weight"], p["attn.k.angle"])}


def more_62(p):
    gain = p["attn_norm.gain"]
    return p | {"ff_norm.gain": gain, "final_norm.gain": gain, "attn.k_norm.gain": p["attn.qk_norm.gain"]}


@pytest.mark.parametrize(
    ("name", "other", "change"),
    [
        ("microadder-57", "glass-54", lambda p: without(p, "position.z_hi")),
        ("microadder-57", "microadder-67", lambda p: p | {"ff.down.weight": p["head.weight"].T}),
        ("glass-54", "glass-47", fewer_47),
        ("glass-39", "glass-47", more_47),
        ("glass-29", "glass-39", more_39),
        ("glass-23", "glass-29", more_29),
        ("glass-16", "glass-23", more_23),
        ("glass-9", "glass-10", more_10),
        ("glass-8", "glass-9", more_9),
        ("rope-36", "rope-41", more_41),
        ("rope-41", "rope-44", more_44),
        ("rope-41", "rope-52", more_52),
        ("rope-52", "rope-62", more_62),
    ],
)
def test_a_model_is_a_case_of_its_relative(name, other, change):
    """The same logits from the relative, whose numbers are made of the model's."""
    params = drawn(ZOO[name].architecture)
    np.testing.assert_allclose(logits_of(other, change(params)), logits_of(name, params), atol=1e-10)


def test_own_gains_change_the_function():
    """What is free in 62 and tied in 52 is used where it should be."""
    params = more_62(drawn(ZOO["rope-52"].architecture))
    before = logits_of("rope-62", params)
    for name in ("ff_norm.gain", "final_norm.gain", "attn.k_norm.gain", "attn.qk_norm.gain"):
        moved = params | {name: params[name] + 0.1}
        assert np.abs(logits_of("rope-62", moved) - before).max() > 1e-3


@pytest.mark.parametrize("name", PURE)
def test_nobody_chose_a_number_in_the_pure_family(name):
    assert list_constants(ZOO[name].architecture) == []


def test_a_subtraction_is_an_addition_with_the_mirror_of_the_second_number():
    """9 - d stands where d does, mirrored: the same weights, the same logits but for the order of sums."""
    add, minus = ZOO["pure-6"], ZOO["minus-6"]
    params, (x, y) = drawn(add.architecture), np.random.default_rng(2).integers(0, 10, (2, 10, 50))
    z = minus.task.solve_digits(x, y)
    given = minus.task.written().encode(x, y, z)[:-1]
    table = minus.architecture.token.table(NumpyOps("float32"), params, "token", 10, 2)
    np.testing.assert_allclose(table[::-1, 1], -table[:, 1], atol=1e-6)
    signs = minus.architecture.layers[0].attention.relation.value_signs(36)
    assert [sign < 0 for sign in signs] == [False] * 12 + [True] * 12 + [False] * 12
    mirrored = add.task.written().encode(x, 9 - y, z)[:-1]
    mirrored[12], mirrored[23] = 9, 9  # mark and padding of the second number
    found = forward(minus.architecture, NumpyOps("float32"), params, given, last=11)
    expected = forward(add.architecture, NumpyOps("float32"), params, mirrored, last=11)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_the_radius_of_pure_6_scales_logits_alone():
    six, five = ZOO["pure-6"].architecture, ZOO["pure-5"].architecture
    params, tokens = drawn(six), problems("columns", batch=64)
    radius = params["token.amplitude"]
    scaled = {
        key: part / radius if key in ("token.amplitude", "attn.out.b", "head.u", "head.v") else part
        for key, part in params.items()
    }
    large, small = (
        forward(shape, NumpyOps("float64"), numbers, tokens, last=11)
        for shape, numbers in ((six, params), (five, scaled))
    )
    np.testing.assert_allclose(large, small * radius**2, rtol=1e-9)
