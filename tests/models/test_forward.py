"""The forward pass: laws that hold for every architecture, and the reference model written a second time."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, Layer, make_reference_architecture
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import forward, list_parameters
from glassformer.models.head import LinearHead, LowestHead, ParabolicHead, TiedHead
from glassformer.models.norm import FlatNorm, NoNorm, RMSNorm, SpiralNorm
from glassformer.models.ops_jax import JaxOps
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.position import (
    CirclePosition,
    LearnedPosition,
    NoPosition,
    SinusoidalPosition,
    SpiralPosition,
)
from glassformer.models.projection import (
    ConstantProjection,
    FullProjection,
    RankOneProjection,
    RepeatedProjection,
    RotatedProjection,
    SparseProjection,
    SpreadProjection,
)
from glassformer.models.relations import AlibiRelation, NoRelation, RopeRelation
from glassformer.models.token import ArcTable, LearnedTable, QuadraticTable, RankOneTable, SparseTable

VOCAB, CONTEXT, WIDTH, BATCH = 5, 6, 6, 3
# Relative to the largest logit: three layers lose about three of the seven digits of float32.
TOLERANCE = {"float32": 1e-4, "float64": 1e-11}

CIRCLE = CirclePosition(period=4, at=1, loud=2, loud_amplitude=3.0)
TOKENS = st.sampled_from(
    [LearnedTable(), ArcTable(), RankOneTable(), QuadraticTable(), SparseTable(places=((0, 1), (3, 0)))]
)
POSITIONS = st.sampled_from(
    [
        NoPosition(),
        LearnedPosition(),
        SinusoidalPosition(),
        SpiralPosition(),
        SpiralPosition(learned=True),
        CIRCLE,
    ]
)
NORMS = st.sampled_from([NoNorm(), RMSNorm(), FlatNorm(factor=2.0), SpiralNorm()])
SQUARES = st.sampled_from(
    [
        FullProjection(),
        FullProjection(bias=True),
        FullProjection(reads=(1, 4)),
        RankOneProjection(),
        SparseProjection(places=((0, 5),)),
    ]
)
HEADS = st.sampled_from(
    [LinearHead(), TiedHead(), TiedHead(FullProjection()), ParabolicHead(), LowestHead(tokens=VOCAB)]
)


@st.composite
def attentions(draw, turned):
    """Heads and groups of all kinds; the key may be the query's weight, `turned` by an angle."""
    heads, groups = draw(st.sampled_from([(1, None), (2, None), (2, 1), (4, 2)]))
    return Attention(
        heads=heads,
        kv_heads=groups,
        head_size=draw(st.integers(1, 3)),
        value_size=draw(st.sampled_from([None, 1, 2])),
        q=draw(st.sampled_from([FullProjection(), FullProjection(bias=True)])),
        k=draw(
            st.sampled_from(
                [FullProjection(), RankOneProjection(), RotatedProjection(of=turned), ConstantProjection()]
            )
        )
        if groups is None
        else FullProjection(),
        v=draw(SQUARES.filter(lambda part: not isinstance(part, SparseProjection))),
        out=draw(
            st.sampled_from(
                [
                    FullProjection(),
                    RankOneProjection(),
                    FullProjection(writes=(0, 2)),
                    SpreadProjection(),
                    RepeatedProjection(times=3),
                ]
            )
        ),
        relation=draw(st.sampled_from([NoRelation(), RopeRelation(base=10.0), AlibiRelation()])),
        qk_norm=draw(NORMS),
        softmax=draw(st.sampled_from(["softmax", "softmax1"])),
        scale=draw(st.sampled_from([None, 1.0])),
    )


@st.composite
def architectures(draw, most_layers=3):
    count = draw(st.integers(1, most_layers))
    layers = []
    for index in range(count):
        turned = "attn.q.weight" if count == 1 else f"layer{index}.attn.q.weight"
        feedforward = FeedForward(
            hidden=draw(st.integers(1, 4)),
            bend=draw(st.sampled_from(["relu", "gelu", "silu"])),
            gate=draw(st.sampled_from([None, FullProjection()])),
            up=draw(
                st.sampled_from(
                    [FullProjection(bias=True), RankOneProjection(), FullProjection(reads=(0, 2))]
                )
            ),
        )
        attention = draw(st.none() | attentions(turned))
        layers.append(Layer(attention, feedforward, draw(NORMS), draw(NORMS), residual=draw(st.booleans())))
    return Architecture(
        vocab=VOCAB,
        context=CONTEXT,
        width=WIDTH,
        token=draw(TOKENS),
        position=draw(POSITIONS),
        position_dims=draw(st.sampled_from([0, 3])),
        layers=tuple(layers),
        final_norm=draw(NORMS),
        head=draw(HEADS),
    )


def drawn(model: Architecture, seed: int = 0, dtype: str = "float64") -> dict[str, np.ndarray]:
    """Random numbers for all parameters, the same in both precisions but for rounding."""
    random = np.random.default_rng(seed)
    values = {
        name: random.normal(0, 0.5, parameter.shape) for name, parameter in list_parameters(model).items()
    }
    return {name: np.asarray(value, dtype) for name, value in values.items()}


def contexts(places: int = CONTEXT, batch: int = BATCH, vocab: int = VOCAB) -> np.ndarray:
    return np.random.default_rng(1).integers(0, vocab, (places, batch))


@given(architectures())
@settings(deadline=None, derandomize=True, max_examples=8)
def test_numpy_and_jax_agree(model):
    for dtype, tolerance in TOLERANCE.items():
        params, tokens = drawn(model, dtype=dtype), contexts()
        by_numpy = forward(model, NumpyOps(dtype), params, tokens)
        with jax.enable_x64(dtype == "float64"):
            run = jax.jit(partial(forward, model, JaxOps(dtype)))
            by_jax = np.asarray(run(params, jnp.asarray(tokens)))
        assert by_numpy.dtype == by_jax.dtype == dtype
        size = max(1.0, float(np.abs(by_numpy).max()))
        np.testing.assert_allclose(by_numpy / size, by_jax / size, atol=tolerance, rtol=0)


@given(architectures(), st.integers(1, CONTEXT - 1))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_later_tokens_do_not_change_earlier_logits(model, cut):
    params, tokens = drawn(model), contexts()
    changed = tokens.copy()
    changed[cut:] = (changed[cut:] + 1) % VOCAB
    before, after = (forward(model, NumpyOps(), params, each)[:, :cut] for each in (tokens, changed))
    np.testing.assert_allclose(before, after, rtol=1e-11, atol=1e-11)
    short = forward(model, NumpyOps(), params, tokens[:cut])
    np.testing.assert_allclose(before, short, rtol=1e-11, atol=1e-11)


@given(architectures(), st.permutations(range(BATCH)))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_contexts_do_not_see_each_other(model, order):
    params, tokens = drawn(model), contexts()
    logits = forward(model, NumpyOps(), params, tokens)[:, :, order]
    np.testing.assert_allclose(
        forward(model, NumpyOps(), params, tokens[:, order]), logits, rtol=1e-11, atol=1e-11
    )


@given(architectures(), st.integers(1, CONTEXT))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_last_is_the_tail_of_the_full_pass(model, last):
    params, tokens = drawn(model), contexts()
    tail = forward(model, NumpyOps(), params, tokens)[:, -last:]
    asked = forward(model, NumpyOps(), params, tokens, last=last)
    np.testing.assert_allclose(asked, tail, rtol=1e-11, atol=1e-11)


def plain_reference(p: dict[str, np.ndarray], tokens: np.ndarray, heads: int, residual: bool) -> np.ndarray:
    """The model of the rule tasks once more, `batch pos tok`, as its equations are written."""
    places = tokens.shape[1]
    e = p["token.weight"][tokens] + p["position.weight"][:places]
    q, k, v = (np.split(e @ p[f"attn.{part}.weight"].T, heads, axis=-1) for part in "qkv")
    mixed = []
    for head in range(heads):
        scores = q[head] @ k[head].swapaxes(1, 2) / np.sqrt(q[head].shape[-1])
        powers = np.exp(scores) * np.tri(places)
        mixed.append(powers / powers.sum(-1, keepdims=True) @ v[head])
    attention = np.concatenate(mixed, -1)
    if "attn.out.weight" in p:
        attention = attention @ p["attn.out.weight"].T
    z = e + attention if residual else attention
    hidden = np.maximum(z @ p["ff.up.weight"].T + p["ff.up.bias"], 0)
    fed = hidden @ p["ff.down.weight"].T + p["ff.down.bias"]
    h = z + fed if residual else fed
    return h @ p["head.weight"].T + p["head.bias"]


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize(("width", "heads", "head_size"), [(2, 1, 2), (4, 2, 2), (3, 1, 16), (12, 2, 6)])
def test_the_reference_model_written_a_second_time(width, heads, head_size, residual):
    model = make_reference_architecture(12, width, 8, heads, head_size, residual)
    params, tokens = drawn(model), contexts(places=8, batch=20, vocab=12)
    expected = plain_reference(params, tokens.T, heads, residual)
    logits = np.moveaxis(forward(model, NumpyOps(), params, tokens), (0, 1, 2), (2, 1, 0))
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-12)


def test_positions_stand_beside_the_token_or_are_added_to_it():
    seen: dict[str, np.ndarray] = {}
    added = Architecture(vocab=VOCAB, width=3, position=LearnedPosition(), layers=(Layer(None, None),))
    params = drawn(added)
    tokens = contexts(places=2, batch=1)
    forward(added, NumpyOps(), params, tokens, record=seen.__setitem__)
    place = params["token.weight"][tokens[1, 0]] + params["position.weight"][1]
    np.testing.assert_array_equal(seen["embedded"][:, 1, 0], place)

    beside = replace(added, position_dims=2)
    params = drawn(beside)
    forward(beside, NumpyOps(), params, tokens, record=seen.__setitem__)
    place = np.concatenate([params["token.weight"][tokens[1, 0]], params["position.weight"][1]])
    np.testing.assert_array_equal(seen["embedded"][:, 1, 0], place)


def test_every_named_intermediate_is_recorded():
    attention = Attention(heads=2, head_size=1)
    gated = FeedForward(hidden=3, gate=FullProjection())
    model = Architecture(vocab=VOCAB, layers=(Layer(attention, gated), Layer(None, FeedForward(hidden=3))))
    seen: dict[str, np.ndarray] = {}
    logits = forward(model, NumpyOps(), drawn(model), contexts(), record=seen.__setitem__)
    heads = [f"{key}.{head}" for head in range(2) for key in ("query", "key", "scores", "weights")]
    attended = ["input", "q", "k", "v", *heads, "mixed", "output"]
    assert list(seen) == [
        "token.table",
        "embedded",
        *(f"layer0.attn.{key}" for key in attended),
        "layer0.mid",
        *(f"layer0.ff.{key}" for key in ("input", "up", "gate", "hidden", "output")),
        "layer0.stream",
        *(f"layer1.ff.{key}" for key in ("input", "up", "hidden", "output")),
        "layer1.stream",
        "final",
        "logits",
    ]
    np.testing.assert_array_equal(seen["layer0.mid"], seen["embedded"] + seen["layer0.attn.output"])
    np.testing.assert_array_equal(seen["layer1.stream"], seen["layer0.stream"] + seen["layer1.ff.output"])
    np.testing.assert_array_equal(seen["logits"], logits)


def test_bad_input_gets_one_sentence():
    model = make_reference_architecture(vocab=VOCAB)
    with pytest.raises(UserError, match="the number of tokens must be at most the context 8, but it is 9"):
        forward(model, NumpyOps(), drawn(model), contexts(places=9))
    for last in (0, 7):
        with pytest.raises(UserError, match=f"last must be between 1 and 6 positions, but it is {last}"):
            forward(model, NumpyOps(), drawn(model), contexts(), last=last)


def test_a_model_that_reads_no_token_still_answers_every_sequence():
    """The head reads the place alone, which all sequences share."""
    layer = Layer(attention=None, feedforward=None)
    model = Architecture(
        vocab=5,
        context=4,
        width=3,
        position_dims=1,
        layers=(layer,),
        head=LinearHead(FullProjection(reads=(2, 3))),
    )
    params = {name: np.ones(p.shape) for name, p in list_parameters(model).items()}
    tokens = np.zeros((4, 6), np.int64)
    for ops in (NumpyOps(), JaxOps()):
        assert forward(model, ops, params, tokens).shape == (5, 4, 6)


PARTLY_SHARED = {
    "a head without values": Attention(
        heads=2, head_size=2, q=ConstantProjection(), k=ConstantProjection(), v=FullProjection(writes=(0, 2))
    ),
    "keys in two of four dimensions": Attention(
        head_size=4, k=FullProjection(writes=(0, 2)), relation=RopeRelation(), out=FullProjection()
    ),
    "keys in two of three dimensions": Attention(
        head_size=3, value_size=4, k=FullProjection(writes=(0, 2)), relation=RopeRelation()
    ),
}


@pytest.mark.parametrize("attention", PARTLY_SHARED.values(), ids=PARTLY_SHARED)
def test_dimensions_that_all_sequences_share_stand_beside_others(attention):
    """Together or one by one, a sequence has the same logits."""
    model = Architecture(vocab=5, context=4, width=4, layers=(Layer(attention),))
    random = np.random.default_rng(0)
    params = {name: random.normal(size=p.shape) for name, p in list_parameters(model).items()}
    tokens = random.integers(0, 5, (4, 6))
    alone = np.concatenate([forward(model, NumpyOps(), params, tokens[:, i : i + 1]) for i in range(6)], 2)
    np.testing.assert_allclose(forward(model, NumpyOps(), params, tokens), alone, atol=1e-12)
    np.testing.assert_allclose(forward(model, JaxOps(), params, tokens), alone, rtol=1e-4, atol=1e-4)


def test_a_table_of_tokens_is_not_made_vast_by_a_formula():
    layers = (Layer(None, None),)
    vast = Architecture(65_536, 1, 4_096, ArcTable(), NoPosition(), layers=layers, head=TiedHead())
    with pytest.raises(UserError, match="vocab x width must be at most 20,000,000"):
        list_parameters(vast)
