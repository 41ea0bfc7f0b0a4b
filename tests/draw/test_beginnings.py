"""Figures 01 to 06: architecture, learning curve, training data, generated sequences, embeddings."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import rc_context

from glassformer.draw.figures import (
    architecture,
    embedding_scatter,
    embeddings,
    generated,
    learning_curve,
    training_data,
)
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import look
from glassformer.draw.parts.sequence_rows import Kind
from glassformer.draw.shares import percent
from glassformer.draw.theme import THEMES
from glassformer.model.architecture import Architecture, Layer, Tie
from glassformer.model.attention import Attention
from glassformer.model.feedforward import FeedForward
from glassformer.model.forward import parameters
from glassformer.model.model import Model
from glassformer.model.norm import RMSNorm
from glassformer.model.position import Alibi, NoPosition, Rope, Spiral
from glassformer.model.projection import Full
from glassformer.runs.history import History
from tests.draw.conftest import NAMES, subject_of
from tests.draw.faults import faults

LIGHT = THEMES["light"]
RICH = Layer(
    Attention(heads=4, kv_heads=2, out=Full(bias=True), relation=Rope(), qk_norm=RMSNorm()),
    FeedForward(hidden=24, bend="silu", gate=Full()),
    RMSNorm(),
    RMSNorm(),
)
PLAIN = Layer(Attention(heads=2, head_size=4, relation=Alibi()), FeedForward(bend="gelu"), residual=False)
ARCHITECTURES = {
    "two layers": Architecture(12, 8, 8, layers=(RICH, PLAIN), final_norm=RMSNorm()),
    "tied": Architecture(
        12, 8, 8, position=NoPosition(), layers=(RICH,), ties=(Tie("head.weight", "token.weight"),)
    ),
    "stacked": Architecture(
        12, 8, 5, position=Spiral(), position_dims=3, layers=(Layer(None), Layer(Attention(out=Full()), None))
    ),
}


def with_params(subject: Subject, **changed: np.ndarray) -> Subject:
    """The same subject with some weights replaced; `head_bias` stands for `head.bias`."""
    params = dict(subject.model.params) | {name.replace("_", "."): array for name, array in changed.items()}
    return replace(subject, model=replace(subject.model, params=params))


def built(subject: Subject, shape: Architecture) -> Subject:
    """A subject of another architecture, with random weights."""
    random = np.random.default_rng(0)
    params = {name: random.normal(size=one.shape).astype("f4") for name, one in parameters(shape).items()}
    return replace(subject, model=Model(shape, params))


def plain_logits(params: dict[str, np.ndarray], tokens: np.ndarray) -> np.ndarray:
    """The reference model with one head, written out: the logits after the last of `batch pos` tokens."""
    at = {name: np.asarray(array, np.float64) for name, array in params.items()}
    e = at["token.weight"][tokens] + at["position.weight"][: tokens.shape[1]]
    q, k, v = (e @ at[f"attn.{name}.weight"].T for name in "qkv")
    scores = np.exp(q[:, -1:] @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    z = e[:, -1] + (scores / scores.sum(-1, keepdims=True) @ v)[:, 0]
    hidden = np.maximum(0, z @ at["ff.up.weight"].T + at["ff.up.bias"])
    h = z + hidden @ at["ff.down.weight"].T + at["ff.down.bias"]
    return h @ at["head.weight"].T + at["head.bias"]


def verdicts(tokens: tuple[str, ...], given: int = 0) -> list[tuple[int, int]]:
    """plus_last_even by hand: (kind, source) of every token, the source -1 where no even one was seen."""
    found = []
    for place, token in enumerate(tokens):
        if place < max(given, 1) or tokens[place - 1] != "+":
            found.append((Kind.FREE, -1))
            continue
        evens = [i for i in range(place) if tokens[i] != "+" and int(tokens[i]) % 2 == 0]
        allowed = {tokens[evens[-1]]} if evens else {"0", "2", "4", "6", "8", "10"}
        found.append((Kind.RIGHT if token in allowed else Kind.WRONG, evens[-1] if evens else -1))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_architecture_counts_what_is_stored(name: str) -> None:
    subject = subject_of(name)
    data = architecture.compute(subject)
    counts = {box.title: box.count for stage in data["stages"] for box in stage.boxes if box.count}
    sizes = {key: np.asarray(array).size for key, array in subject.model.params.items()}
    expected = {
        "tokens": sizes["token.weight"],
        "positions": sizes["position.weight"],
        "queries": sizes["attn.q.weight"],
        "keys": sizes["attn.k.weight"],
        "values": sizes["attn.v.weight"],
        "up": sizes["ff.up.weight"] + sizes["ff.up.bias"],
        "down": sizes["ff.down.weight"] + sizes["ff.down.bias"],
        "head": sizes["head.weight"] + sizes["head.bias"],
    }
    assert counts == expected
    assert data["total"] == sum(sizes.values())
    assert f"{data['total']:,} parameters" in architecture.title(data)


def test_architecture_of_the_reference_model_is_as_the_design_says() -> None:
    data = architecture.compute(subject_of("plus_last_even"))
    assert {stage.title: stage.count for stage in data["stages"]} == {
        "embedding": 40,
        "attention": 12,
        "feed-forward": 162,
        "read-out": 36,
    }
    assert data["largest"].title == "feed-forward"
    shapes = {(wire.start, wire.end): wire.shape for stage in data["stages"] for wire in stage.wires}
    x = architecture.TIMES
    assert shapes["scores", "softmax"] == f"8 {x} 8"
    assert shapes["ReLU", "down"] == f"8 {x} 32"
    assert shapes["head", "softmax"] == f"8 {x} 12"


@pytest.mark.parametrize(("name", "adds"), [("plus_last_even", 2), ("lucky7_no_resid", 0)])
def test_architecture_draws_a_plus_and_a_dot_for_every_skip(name: str, adds: int) -> None:
    data = architecture.compute(subject_of(name))
    with rc_context(look(LIGHT)):
        (axes,) = architecture.draw(data, LIGHT).axes
    plus = [line for line in axes.lines if line.get_marker() == "+"]
    dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_markersize() < 5]
    assert len(plus) == len(dots) == adds
    stream = {line.get_ydata()[0] for line in plus}
    assert stream == {line.get_ydata()[0] for line in dots}  # both on the stream, above any norm
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("skip") == adds and texts.count("no skip") == 2 - adds


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_architecture_of_any_kind_adds_up_and_is_readable(name: str) -> None:
    subject = built(subject_of("plus_last_even"), ARCHITECTURES[name])
    data = architecture.compute(subject)
    assert sum(stage.count for stage in data["stages"]) == data["total"]
    assert data["total"] == sum(array.size for array in subject.model.params.values())
    branches = [stage for stage in data["stages"] if stage.skip is not None]
    residuals = [layer.residual for layer in ARCHITECTURES[name].layers]
    assert {stage.skip for stage in branches} == set(residuals)
    for stage in branches:  # the branch meets the norm first, and the skip does not
        entries = [wire.end for wire in stage.wires if not wire.start]
        has_norm = any(box.title == "norm" for box in stage.boxes)
        assert (entries == ["norm"]) == has_norm
    with rc_context(look(LIGHT)):
        assert not faults(architecture.draw(data, LIGHT))


def test_learning_curve_measures_every_saved_step() -> None:
    subject = subject_of("plus_last_even")
    data, history = learning_curve.compute(subject), subject.past.history
    contexts, allowed = subject.trials.contexts[:1000], subject.trials.allowed[:1000]
    assert data["steps"].tolist() == history.steps.tolist()
    for index, share in enumerate(data["shares"]):
        best = plain_logits(history.at(index), contexts).argmax(1)
        errors = int((~allowed[np.arange(len(best)), best]).sum())
        assert abs(share.value * share.positions - errors) <= 1  # float32 may turn a near tie
    assert data["shares"][0].value > 0.8 > 0.01 > data["shares"][-1].value
    assert data["chance"] == pytest.approx(11 / 12)
    last = data["shares"][-1]
    assert (last.value, last.positions) == (0, 1000)
    assert last.high == pytest.approx(1 - 0.025 ** (1 / 1000))


def test_learning_curve_counts_the_seeds_that_learn() -> None:
    subject = subject_of("plus_last_even")
    rows = subject.past.rows
    last = max(row["step"] for row in rows)
    good = sum(row["argmax_accuracy"] >= 0.999 for row in rows if row["step"] == last)
    seeds = len({row["seed"] for row in rows})
    assert learning_curve.title(learning_curve.compute(subject)).startswith(f"{good} of {seeds} seeds ")
    spoilt = [row | {"argmax_accuracy": 0.5} for row in rows]
    worse = replace(subject, past=replace(subject.past, rows=spoilt))
    assert learning_curve.compute(worse)["reached"] == 0


def test_learning_curve_draws_zero_the_floor_and_the_step() -> None:
    subject = subject_of("plus_last_even")
    step = int(subject.past.history.steps[3])
    data = learning_curve.compute(replace(subject, step=step))
    with rc_context(look(LIGHT)):
        losses, errors = learning_curve.draw(data, LIGHT).axes
    assert errors.get_ylim()[0] < 0 and 0 in errors.get_yticks()
    assert any(set(line.get_ydata()) == {data["floor"]} for line in losses.lines)
    for axes in (losses, errors):
        assert any(set(line.get_xdata()) == {step} for line in axes.lines)
    assert data["floor"] == pytest.approx(1.8379, abs=1e-4)


def test_training_data_are_marked_by_the_rule() -> None:
    data = training_data.compute(subject_of("plus_last_even"))
    assert len(data["rows"]) == 10 and len(data["spoilt"]) == 2
    for row in data["rows"]:
        expected = verdicts(row.tokens)
        assert [(int(k), int(s)) for k, s in zip(row.kinds, row.sources, strict=True)] == expected
        assert Kind.WRONG not in row.kinds
    for row in data["spoilt"]:
        assert row.kinds.tolist() == [kind for kind, _ in verdicts(row.tokens)]
        assert (row.kinds == Kind.WRONG).sum() == 1


@pytest.mark.parametrize("name", NAMES)
def test_training_data_of_every_rule_show_two_mistakes(name: str) -> None:
    data = training_data.compute(subject_of(name))
    assert [int((row.kinds == Kind.WRONG).sum()) for row in data["spoilt"]] == [1, 1]
    assert 0 < data["share"] <= 1
    for row in data["rows"]:
        assert all(source < place for place, source in enumerate(row.sources))


def test_generated_sequences_are_those_of_the_model() -> None:
    subject = subject_of("plus_last_even")
    data = generated.compute(subject)
    first = subject.past.history.at(0)
    for name, params in (("before", first), ("after", subject.model.params)):
        for row, expected in zip(data[name]["rows"], rewritten(subject, params), strict=True):
            assert row.tokens == expected
            assert row.kinds.tolist() == [kind for kind, _ in verdicts(row.tokens, given=1)]
    assert data["before"]["error"].value > 0.5 > 0.01 > data["after"]["error"].value


def rewritten(subject: Subject, params: dict[str, np.ndarray]) -> list[tuple[str, ...]]:
    """The sequences that the plain model writes with the figure's noise."""
    random, chances = np.random.default_rng(6), subject.automaton.probability[0]
    tokens = random.choice(12, (1, generated.WRITTEN), p=chances)
    for _ in range(27):
        logits = plain_logits(params, tokens[-8:].T)
        tokens = np.concatenate(
            [tokens, (logits.T + random.gumbel(size=(12, tokens.shape[1]))).argmax(0)[None]]
        )
    return [tuple(subject.tokens[token] for token in tokens[:, index]) for index in range(6)]


def test_generated_error_follows_the_weights() -> None:
    subject = subject_of("plus_last_even")
    nothing = with_params(subject, head_bias=np.r_[np.full(11, -1e4), 1e4])  # writes `+` alone
    error = generated.compute(nothing)["after"]["error"]
    assert error.value == 1.0 and error.positions == generated.WRITTEN * 48
    past = replace(
        subject.past, history=History(np.array([0]), {k: v[None] for k, v in nothing.model.params.items()})
    )
    assert generated.compute(replace(subject, past=past))["before"]["error"].value == 1.0


@pytest.mark.parametrize("name", ["plus_last_even", "lucky7"])
def test_embeddings_are_the_raw_tables_and_their_sums(name: str) -> None:
    subject = subject_of(name)
    tokens, places = (np.asarray(subject.model.params[f"{part}.weight"]) for part in ("token", "position"))
    data = embeddings.compute(subject)
    np.testing.assert_allclose(data["points"]["token"], tokens, atol=1e-6)
    np.testing.assert_allclose(data["points"]["position"], places, atol=1e-5)
    np.testing.assert_allclose(data["points"]["sum"], tokens[:, None] + places[None], atol=1e-5)
    moved = embeddings.compute(with_params(subject, token_weight=tokens + 1))
    np.testing.assert_allclose(moved["points"]["sum"], data["points"]["sum"] + 1, atol=1e-5)


def test_embeddings_on_a_line_keep_tokens_apart() -> None:
    data = embeddings.compute(subject_of("even_to_odd_transition"))
    table = np.asarray(subject_of("even_to_odd_transition").model.params["token.weight"])[:, 0]
    np.testing.assert_allclose(data["points"]["token"], np.stack([table, np.arange(21)], 1), atol=1e-6)
    assert data["planes"]["token"].labels[1] != data["planes"]["sum"].labels[1]


@pytest.mark.parametrize("name", ["plus_last_even", "step_back"])
def test_embedding_scatter_names_the_nearest_and_the_farthest(name: str) -> None:
    subject = subject_of(name)
    table = np.asarray(subject.model.params["token.weight"], float)
    apart = np.linalg.norm(table[:, None] - table[None], axis=-1) + np.diag(np.full(len(table), np.nan))
    data = embedding_scatter.compute(subject)
    near, far = data["token_pairs"]
    assert (near[2], far[2]) == pytest.approx((np.nanmin(apart), np.nanmax(apart)), abs=1e-5)
    one, two = (subject.tokens.index(token) for token in near[:2])
    assert apart[one, two] == pytest.approx(near[2], abs=1e-5)
    places = np.asarray(subject.model.params["position.weight"], float)
    assert data["way"] == pytest.approx(np.linalg.norm(places[-1] - places[0]), abs=1e-5)


def test_shares_never_round_to_nothing_or_all() -> None:
    assert [percent(share) for share in (0.0, 1.0, 0.5)] == ["0%", "100%", "50.0%"]
    assert percent(1e-6) == "0.00010%" and percent(1 - 1e-6) == "99.99990%"
    assert (percent(-0.1), percent(1e-9), percent(1 - 1e-9)) == ("0%", "<0.00001%", ">99.99999%")


def test_no_figure_of_these_imports_jax() -> None:
    modules = "architecture, learning_curve, training_data, generated, embeddings, embedding_scatter"
    code = f"""
import sys
from tests.draw.conftest import subject_of
from glassformer.draw.theme import THEMES
from glassformer.draw.figures import {modules}
subject = subject_of("plus_last_even")
for module in ({modules}):
    data = module.compute(subject)
    module.draw(data, THEMES["light"]), module.caption(data)
sys.exit("jax" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
