"""Figures of sequences, recomputed from the raw weights: plain NumPy, none of the code under test."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.draw.figures import (
    sequence_attention,
    sequence_embeddings,
    sequence_output,
    sequence_values,
    value_arrows,
    worked_example,
)
from glassformer.draw.measure.demand import demanded, demands_along, source_place, verdict
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.message_sums import carry_of
from glassformer.draw.parts.sequence_matrices import grouped
from glassformer.draw.shares import percent
from glassformer.draw.theme import THEMES
from glassformer.tasks import make_rule, tabulate
from tests.draw.conftest import NAMES, subject_of

CLOSE = {"rtol": 2e-4, "atol": 2e-4}  # float32 sums of numbers up to a thousand, in another order


def raw_pass(subject: Subject, tokens: np.ndarray) -> dict[str, np.ndarray]:
    """One context through one layer, in float64, straight from the stored arrays."""
    w = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    residual = subject.model.architecture.layers[0].residual
    heads, size, count = subject.attention.heads, subject.attention.head_size, len(tokens)
    e = w["token.weight"][tokens] + w["position.weight"][:count]
    q, k, v = (e @ w[f"attn.{kind}.weight"].T for kind in "qkv")
    scores, weights, mixed, messages = [], [], [], []
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        products = q[:, part] @ k[:, part].T / np.sqrt(size)
        masked = np.where(np.tri(count, dtype=bool), products, -np.inf)
        powers = np.exp(masked - masked.max(1, keepdims=True))
        scores.append(products)
        weights.append(powers / powers.sum(1, keepdims=True))
        mixed.append(weights[-1] @ v[:, part])
        out = w["attn.out.weight"][:, part] if "attn.out.weight" in w else np.eye(heads * size)[:, part]
        messages.append(v[:, part] @ out.T)
    output = np.concatenate(mixed, 1)
    output = output @ w["attn.out.weight"].T if "attn.out.weight" in w else output
    z = output + residual * e
    moved = (
        np.maximum(z @ w["ff.up.weight"].T + w["ff.up.bias"], 0) @ w["ff.down.weight"].T + w["ff.down.bias"]
    )
    h = moved + residual * z
    logits = h @ w["head.weight"].T + w["head.bias"]
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return {
        "e": e, "q": q, "k": k, "scores": np.stack(scores), "weights": np.stack(weights), "messages": np.stack(messages),
        "output": output, "z": z, "h": h, "logits": logits, "probabilities": shares / shares.sum(1, keepdims=True),
    }  # fmt: skip


def nudged(subject: Subject, name: str) -> Subject:
    """The same subject with one weight matrix changed."""
    params = dict(subject.model.params)
    params[name] = params[name] * np.float32(1.25) + np.float32(0.01)
    return replace(subject, model=replace(subject.model, params=params))


@pytest.mark.parametrize("name", NAMES)
def test_embeddings_of_a_sequence_are_the_tables_sums(name: str) -> None:
    subject = subject_of(name)
    data, tokens = sequence_embeddings.compute(subject), subject.sequences[0]
    np.testing.assert_allclose(data["vectors"]["sums"], raw_pass(subject, tokens)["e"], **CLOSE)
    np.testing.assert_allclose(
        data["vectors"]["tokens"] + data["vectors"]["positions"], data["vectors"]["sums"], atol=1e-5
    )
    changed = sequence_embeddings.compute(nudged(subject, "position.weight"))
    assert np.abs(changed["vectors"]["positions"] - data["vectors"]["positions"]).max() > 1e-3
    np.testing.assert_array_equal(changed["vectors"]["tokens"], data["vectors"]["tokens"])


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_attention_are_those_of_the_weights_and_stop_at_the_diagonal(name: str) -> None:
    subject = subject_of(name)
    size, data = subject.attention.head_size, sequence_attention.compute(subject)
    assert len(data["sequences"]) == 3
    for one, tokens in zip(data["sequences"], subject.sequences, strict=True):
        raw, later = raw_pass(subject, tokens), np.triu_indices(len(tokens), 1)
        seen = np.tril_indices(len(tokens))
        for head, parts in enumerate(one["heads"]):
            assert np.isnan(parts["scores"][later]).all()
            assert np.isnan(parts["weights"][later]).all()
            np.testing.assert_allclose(parts["scores"][seen], raw["scores"][head][seen], **CLOSE)
            np.testing.assert_allclose(parts["weights"][seen], raw["weights"][head][seen], atol=1e-3)
            np.testing.assert_allclose(parts["qk"][0], raw["q"][:, head * size : (head + 1) * size], **CLOSE)
            np.testing.assert_allclose(parts["qk"][1], raw["k"][:, head * size : (head + 1) * size], **CLOSE)
    changed = sequence_attention.compute(nudged(subject, "attn.q.weight"))["sequences"][0]["heads"][0][
        "scores"
    ]
    assert np.nanmax(np.abs(changed - data["sequences"][0]["heads"][0]["scores"])) > 1e-2


@pytest.mark.parametrize("name", NAMES)
def test_weighted_messages_end_at_the_attention_output(name: str) -> None:
    subject = subject_of(name)
    raw, data = raw_pass(subject, subject.sequences[0]), sequence_values.compute(subject)
    np.testing.assert_allclose(data["messages"], raw["messages"], **CLOSE)
    np.testing.assert_allclose(data["output"], raw["output"], atol=3e-3)
    np.testing.assert_allclose(data["weighted"].sum(0), raw["output"][-1], atol=3e-3)
    np.testing.assert_allclose(data["chain"][-1], data["end"], atol=1e-5)
    drawn = raw["output"][-1] @ data["plane"].directions.T
    axes = 1 if data["plane"].is_line else 2
    np.testing.assert_allclose(data["end"][:axes], drawn[:axes], atol=3e-3)
    np.testing.assert_allclose(data["chain"][0, :axes], 0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_chain_of_the_stream_ends_at_the_sum(name: str) -> None:
    subject = subject_of(name)
    raw, carry = raw_pass(subject, subject.sequences[0]), carry_of(subject, 0)
    vertices = carry.chain(carry.kept)
    residual = subject.model.architecture.layers[0].residual
    np.testing.assert_allclose(vertices[0], raw["e"][-1] * residual, **CLOSE)
    np.testing.assert_allclose(vertices[-1], carry.mid, atol=1e-5)
    np.testing.assert_allclose(vertices[-1], raw["z"][-1], atol=3e-3)
    steps = np.diff(vertices, axis=0).reshape(*carry.weights.shape, -1)
    np.testing.assert_allclose(steps, raw["weights"][:, -1, :, None] * raw["messages"], atol=3e-3)
    other = carry_of(nudged(subject, "attn.v.weight"), 0)
    assert np.abs(other.chain(other.kept)[-1] - vertices[-1]).max() > 1e-4
    np.testing.assert_allclose(other.chain(other.kept)[-1], other.mid, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_logits_and_probabilities_of_every_place(name: str) -> None:
    subject = subject_of(name)
    raw, data = raw_pass(subject, subject.sequences[0]), sequence_output.compute(subject)
    scale = np.abs(raw["h"]).max()
    np.testing.assert_allclose(data["final"], raw["h"], atol=3e-3 * max(1.0, scale))
    np.testing.assert_allclose(
        data["logits"], raw["logits"], atol=3e-3 * max(1.0, np.abs(raw["logits"]).max())
    )
    np.testing.assert_allclose(data["probabilities"], raw["probabilities"], atol=5e-3)
    np.testing.assert_array_equal(data["following"], subject.sequences[0][1:])
    changed = sequence_output.compute(nudged(subject, "head.bias"))
    assert np.abs(changed["logits"] - data["logits"]).max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_messages_of_tokens_are_means_over_places(name: str) -> None:
    subject = subject_of(name)
    data, size = value_arrows.compute(subject), subject.attention.head_size
    w = {key: np.asarray(array, np.float64) for key, array in subject.model.params.items()}
    mean = w["token.weight"] + w["position.weight"].mean(0)  # values are linear in the embedding
    for head in range(subject.heads):
        part = slice(head * size, (head + 1) * size)
        out = (
            w["attn.out.weight"][:, part] if "attn.out.weight" in w else np.eye(subject.heads * size)[:, part]
        )
        np.testing.assert_allclose(data["moves"][head], mean @ w["attn.v.weight"][part].T @ out.T, **CLOSE)
    first = data["plane"].directions[0]
    np.testing.assert_allclose(data["starts"][:, 0], mean @ first, **CLOSE)
    np.testing.assert_allclose(data["tips"][..., 0], (mean + data["moves"]) @ first, **CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_the_worked_example_tells_the_model_s_own_numbers(name: str) -> None:
    subject = subject_of(name)
    raw, data = raw_pass(subject, subject.sequences[0]), worked_example.compute(subject)
    np.testing.assert_allclose(data["scores"], raw["scores"][:, -1], **CLOSE)
    np.testing.assert_allclose(data["probability"], raw["probabilities"][-1], atol=5e-3)
    assert data["probability"].sum() == pytest.approx(1)
    for head, weights in enumerate(data["carry"].weights):
        best = int(np.argmax(raw["weights"][head, -1]))
        told = f"{data['labels'][best]} (p{best}) gets {percent(weights[best], 0)} of the attention"
        assert told in data["sentences"]["retrieve"]
    said = data["tokens"][int(np.argmax(raw["probabilities"][-1]))]
    assert said in data["sentences"]["decide"]


def test_a_model_that_fails_is_said_to_fail() -> None:
    subject = subject_of("plus_last_even")
    wrong = dict(subject.model.params)
    wrong["head.bias"] = np.where(np.arange(len(subject.tokens)) == 3, 1e4, 0).astype(np.float32)
    data = worked_example.compute(replace(subject, model=replace(subject.model, params=wrong)))
    asked = subject.tokens[int(np.flatnonzero(data["demanded"])[0])]
    assert "100% to 3, but the rule demands " + asked in data["sentences"]["decide"]


@pytest.mark.parametrize("name", NAMES)
def test_the_source_of_a_trial_is_the_one_that_windows_tell(name: str) -> None:
    """The demand's reader, from the right, against the sets of states of `source_distance`, from the left."""
    subject = subject_of(name)
    trials = subject.trials
    for index in range(0, len(trials), max(1, len(trials) // 150)):
        context = trials.contexts[index]
        found = demanded(subject.automaton, context, subject.context)
        assert found is not None
        np.testing.assert_array_equal(found, trials.allowed[index])
        source = source_place(subject.automaton, context, subject.context)
        assert source == trials.source[index]


def test_demands_of_beginnings_windows_and_free_places() -> None:
    automaton = tabulate(make_rule("plus_last_even"))
    evens = [int(token) for token in automaton.tokens if token.isdigit() and int(token) % 2 == 0]
    beginning = demands_along(automaton, automaton.ids("1 + 4 7 +"), 8)
    assert [None if allowed is None else np.flatnonzero(allowed).tolist() for allowed in beginning] == [
        None, evens, None, None, [4],
    ]  # fmt: skip
    window = automaton.ids("1 3 5 7 9 1 3 +")  # the even number stands before it: undecided
    assert demanded(automaton, window, 8) is None
    assert source_place(automaton, window, 8) is None
    broken = automaton.ids("4 1 + 5 3 1 7 +")  # 5 breaks the rule, and 4 is demanded all the same
    assert source_place(automaton, broken, 8) == 0


def test_words() -> None:
    assert grouped(("4", "6", "4", "+", "+", "+", "+")) == {
        "4": "4 (p0, p2)",
        "6": "6 (p1)",
        "+": "+ (4 places)",
    }
    tokens, share = ("0", "1", "2"), np.array([0.5, 0.3, 0.2])
    assert verdict(tokens, share, None).endswith("the rule leaves the next token open")
    assert (
        verdict(tokens, share, np.array([True, False, False]))
        == "the model gives 50% to 0, as the rule demands"
    )
    assert "80% to the 2 tokens" in verdict(tokens, share, np.array([True, True, False]))
    assert "but the rule demands 1 or 2 (50% together)" in verdict(
        tokens, share, np.array([False, True, True])
    )


@pytest.mark.parametrize(
    "module",
    [sequence_embeddings, sequence_attention, sequence_values, sequence_output, value_arrows, worked_example],
)
@pytest.mark.parametrize("text", ["4", "4 1 +"])
def test_short_sequences_are_drawn(module, text: str) -> None:
    subject = subject_of("plus_last_even")
    tokens = subject.automaton.ids(text)
    data = module.compute(replace(subject, sequences=(tokens, *subject.sequences[:2])))
    figure = module.draw(data, THEMES["light"])
    assert figure.axes
    assert "nan" not in module.caption(data)
