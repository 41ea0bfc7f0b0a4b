"""Attention by hand: who sees whom, and how much."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.attention import Attention
from glassformer.models.norm import RMSNorm
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.projection import FullProjection, IdentityProjection
from glassformer.models.relations import AlibiRelation, RopeRelation

OPS = NumpyOps()
PLAIN = {"q": IdentityProjection(), "k": IdentityProjection(), "v": IdentityProjection()}


def watch(attention: Attention, x: np.ndarray, last: int = 0, **params: np.ndarray) -> dict[str, np.ndarray]:
    """What one context `dim pos` leads to, with every note that is taken."""
    seen: dict[str, np.ndarray] = {}
    seen["out"] = attention(OPS, params, "attn", x[:, :, None], last or x.shape[1], seen.__setitem__)
    return {name: value[..., 0] for name, value in seen.items()}


@pytest.mark.parametrize(
    ("attention", "size"),
    [
        (Attention(head_size=4), 48),
        (Attention(heads=2, head_size=2), 48),
        (Attention(heads=2, kv_heads=1, head_size=2), 32),
        (Attention(heads=2, head_size=3, value_size=1, out=FullProjection()), 24 + 24 + 8 + 8),
        (Attention(head_size=4, qk_norm=RMSNorm()), 52),
        (Attention(head_size=4, qk_norm=RMSNorm(), k_norm=RMSNorm()), 56),
    ],
)
def test_counts_at_width_four(attention, size):
    stored = attention.parameters("attn", 4)
    assert sum(parameter.size for parameter in stored.values()) == size
    params = {name: np.ones(parameter.shape) for name, parameter in stored.items()}
    seen = watch(attention, np.ones((4, 5)), last=3, **params)
    assert seen["out"].shape == (4, 3)
    assert seen["scores.0"].shape == seen["weights.0"].shape == (3, 5)


def test_equal_scores_share_equally_among_the_places_so_far():
    weights = watch(Attention(head_size=1, **PLAIN), np.zeros((1, 3)))["weights.0"]
    np.testing.assert_allclose(weights, [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])


def test_softmax1_can_attend_to_nothing():
    quiet = Attention(head_size=1, softmax="softmax1", **PLAIN)
    np.testing.assert_allclose(watch(quiet, np.zeros((1, 2)))["weights.0"], [[1 / 2, 0], [1 / 3, 1 / 3]])


@pytest.mark.parametrize("score", [-800.0, 800.0])
def test_softmax1_is_right_far_out(score):
    """One key of score s gets 1 / (1 + exp(-s)), however large s is."""
    far = Attention(head_size=1, softmax="softmax1", scale=score, **PLAIN)
    assert watch(far, np.ones((1, 1)))["weights.0"].tolist() == [[float(score > 0)]]


def test_alibi_lowers_scores_by_distance():
    attention = Attention(
        heads=2,
        head_size=1,
        relation=AlibiRelation(slopes=(1.0, 0.5)),
        q=FullProjection(),
        k=FullProjection(),
        v=FullProjection(),
    )
    zero = {f"attn.{part}.weight": np.zeros((2, 2)) for part in "qkv"}
    seen = watch(attention, np.ones((2, 4)), last=1, **zero)
    assert seen["scores.0"].tolist() == [[-3, -2, -1, 0]]
    assert seen["scores.1"].tolist() == [[-1.5, -1, -0.5, 0]]


def test_the_scale_is_one_over_the_root_of_the_head_size():
    x = np.ones((4, 1))
    assert watch(Attention(head_size=4, **PLAIN), x)["scores.0"].item() == 2
    assert watch(Attention(head_size=4, scale=1.0, **PLAIN), x)["scores.0"].item() == 4


def test_grouped_heads_read_the_same_keys_and_values():
    grouped = Attention(heads=4, kv_heads=2, head_size=1)
    assert {n: p.shape for n, p in grouped.parameters("attn", 4).items()}["attn.k.weight"] == (2, 4)
    random = np.random.default_rng(0)
    params = {n: random.normal(size=p.shape) for n, p in grouped.parameters("attn", 4).items()}
    spread = params | {f"attn.{p}.weight": np.repeat(params[f"attn.{p}.weight"], 2, 0) for p in "kv"}
    x = random.normal(size=(4, 5))
    expected = watch(Attention(heads=4, head_size=1), x, **spread)["out"]
    np.testing.assert_allclose(watch(grouped, x, **params)["out"], expected, atol=1e-15)


def test_qk_norm_makes_scores_blind_to_size():
    normed = Attention(head_size=2, qk_norm=RMSNorm(eps=0), **PLAIN)
    gain = {"attn.qk_norm.gain": np.ones(2)}
    x = np.random.default_rng(0).normal(size=(2, 4))
    scores = [watch(normed, scale * x, **gain)["scores.0"] for scale in (1.0, 100.0)]
    np.testing.assert_allclose(*scores, rtol=1e-12)


def test_keys_may_have_a_norm_of_their_own():
    x = np.random.default_rng(0).normal(size=(2, 4))
    gains = {"attn.qk_norm.gain": np.array([2.0, 3.0]), "attn.k_norm.gain": np.array([5.0, 7.0])}
    own = Attention(head_size=2, qk_norm=RMSNorm(eps=0), k_norm=RMSNorm(eps=0), scale=1.0, **PLAIN)
    unit = x / np.sqrt((x * x).mean(0))
    expected = (unit * [[2.0 * 5.0], [3.0 * 7.0]]).T @ unit
    seen = watch(own, x, **gains)["scores.0"]
    np.testing.assert_allclose(np.tril(seen), np.tril(expected), rtol=1e-12)


def test_rope_turns_queries_and_keys_but_not_values():
    turning = Attention(head_size=2, relation=RopeRelation(frequencies=(np.pi,)), **PLAIN)
    x = np.array([[1.0, 1.0], [0.0, 0.0]])
    seen = watch(turning, x)
    np.testing.assert_allclose(seen["scores.0"][1] * np.sqrt(2), [-1, 1])
    np.testing.assert_array_equal(seen["v"], x)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"heads": 0}, "heads must be at least 1, but it is 0"),
        ({"head_size": 0}, "head_size must be at least 1, but it is 0"),
        ({"value_size": 0}, "value_size must be at least 1, but it is 0"),
        ({"heads": 4, "kv_heads": 3}, "kv_heads must be a divisor of the 4 heads, but it is 3"),
        ({"heads": 4, "kv_heads": 0}, "kv_heads must be a divisor of the 4 heads, but it is 0"),
        (
            {"relation": RopeRelation(frequencies=(1.0, 2.0))},
            "RoPE frequencies must be at most 1, one per pair, but it is 2",
        ),
        (
            {"relation": AlibiRelation(slopes=(1.0, 2.0))},
            "ALiBi slopes must be one per head (1) or none, but it is 2",
        ),
    ],
)
def test_bad_settings_get_one_sentence(settings, sentence):
    with pytest.raises(UserError) as error:
        Attention(**settings)
    assert str(error.value) == sentence


def test_heads_that_do_not_fill_the_width():
    with pytest.raises(
        UserError, match=r"heads x head size must be the width 5, or an output projection .* is 4"
    ):
        Attention(heads=2, head_size=2).parameters("attn", 5)
