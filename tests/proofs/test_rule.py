import json
from dataclasses import replace

import numpy as np
import pytest

from glassformer.models.architecture import Architecture, Layer, make_reference_architecture
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.norm import RMSNorm
from glassformer.proofs import rule as rule_proving
from glassformer.proofs import rule_lawful, rule_search
from glassformer.proofs.rule import prove_rule
from glassformer.proofs.rule_search import ContextSearch
from glassformer.proofs.tables import NotProvableError
from glassformer.tasks import Sequences, make_rule, tabulate_automaton
from glassformer.tasks.knowledge import list_window_starts
from tests.proofs.every_context import TINY, chance, drawn, margins
from tests.proofs.stacked import stack_layer

DATA = Sequences(100, 6, 9)
CLOSE = {"abs": 1e-4, "rel": 1e-5}  # of margins in float32, between two orders of summation


@pytest.fixture(params=["box", "list"])
def way(request, monkeypatch):
    """With small leaves nearly everything is decided by boxes; with the usual ones small cases are listed."""
    if request.param == "box":
        monkeypatch.setattr(rule_search, "LEAF", 2)
        monkeypatch.setattr(rule_lawful, "FEW", 0)


def assert_agrees(model, rule, **options):
    """The proof says what running every context says."""
    proof, n = prove_rule(model, rule, DATA, **options), model.architecture.context
    every = {length: margins(model, rule, length) for length in range(1, n + 1)}
    broken = {length: [c for c, m in found.items() if m <= 0] for length, found in every.items()}
    for length in range(1, n):
        row = proof.details["shorter"][str(length)]
        assert (row["constrained"], row["errors_low"], row["errors_high"]) == (
            len(every[length]),
            len(broken[length]),
            len(broken[length]),
        )
    error = proof.exact_error
    assert error["constrained"] == len(every[n])
    assert error["count_low"] == error["count_high"] == len(broken[n])
    assert proof.verdict == ("refuted" if any(broken.values()) else "proved")
    assert int(proof.inputs) == sum(model.architecture.vocab**length for length in range(1, n + 1))
    smallest = sorted(m for found in every.values() for m in found.values())
    assert proof.smallest_margin == pytest.approx(smallest[0], **CLOSE)
    assert proof.margin_bound == pytest.approx(smallest[0], **CLOSE)
    expected = [m for m in smallest[:10] if m <= 0]
    assert [entry["margin"] for entry in proof.details["worst"]] == pytest.approx(expected, **CLOSE)
    chances = [chance(rule, DATA, context) for context in broken[n]]
    assert error["weighted"]["low"] == error["weighted"]["high"] == pytest.approx(sum(chances))
    assert proof.lawful_verdict == ("refuted" if any(chances) or begins_wrong(rule, broken, n) else "proved")
    assert_counts_lawful(proof, rule, every, broken)
    total = sum(chance(rule, DATA, context) for context in every[n])
    assert error["weighted"]["constrained"] == pytest.approx(total)
    return proof


def assert_counts_lawful(proof, rule, every, broken):
    """Lawful contexts, by walking the automaton from every state that occurs."""
    automaton, n = tabulate_automaton(rule), max(every)

    def is_lawful(context):
        states = set(list_window_starts(automaton).tolist()) if len(context) == n else {automaton.start}
        for token in context:
            states = {int(automaton.next[s, token]) for s in states if automaton.probability[s, token] > 0}
        return bool(states)

    own = [context for found in broken.values() for context in found if is_lawful(context)]
    constrained = sum(is_lawful(context) for found in every.values() for context in found)
    lawful = proof.lawful
    assert lawful["errors_low"] == lawful["errors_high"] == len(own)
    assert lawful["constrained"] == str(constrained)
    assert (lawful["counterexample"] is None) == (not own)
    if own:
        context = tuple(automaton.ids(lawful["counterexample"]["context"]).tolist())
        assert context in own


def begins_wrong(rule, broken, n):
    """Whether a sequence can begin with a broken context."""
    start = Sequences(1, n + 1, n + 1)  # windows of n + 1 tokens can only start at the beginning
    return any(
        chance(rule, replace(start, min_length=length + 1, max_length=length + 1), context) > 0
        for length in range(1, n)
        for context in broken[length]
    )


@pytest.mark.parametrize("name", TINY)
def test_random_models_of_every_rule(name, way):
    rule = make_rule(name, **TINY[name])
    assert_agrees(drawn(rule, seed=1, context=4), rule)


SHAPES = {
    "sharp": {"context": 4, "scale": 3.0},
    "dull": {"context": 4, "scale": 0.3},
    "narrow": {"context": 4, "width": 1, "head_size": 1},
    "wide": {"context": 3, "width": 4, "head_size": 4},
    "two heads": {"context": 4, "width": 4, "heads": 2},
    "long head": {"context": 3, "head_size": 8},
    "no residual": {"context": 4, "residual": False},
    "double": {"context": 4, "precision": "float64"},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_random_models_of_every_shape(shape, seed, way):
    rule = make_rule("plus_last_even", high=3)
    assert_agrees(drawn(rule, seed, **SHAPES[shape]), rule)


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_any_size(seed, way):
    """Scores that are hundreds apart leave some contexts weights that are nearly 0 all over."""
    rule = make_rule("lucky7", low=6, high=8)
    model = drawn(rule, seed, context=5)
    query = model.params["attn.q.weight"] * np.float32(60)
    assert_agrees(Model(model.architecture, dict(model.params) | {"attn.q.weight": query}), rule)


def test_softmax1_and_norms(way):
    rule = make_rule("even_repeat_last_odd", high=3)
    layer = Layer(Attention(softmax="softmax1"), attention_norm=RMSNorm(), feedforward_norm=RMSNorm())
    shape = Architecture(vocab=4, context=4, layers=(layer,), final_norm=RMSNorm())
    random = np.random.default_rng(2)
    numbers = {
        name: random.normal(size=part.shape).astype(np.float32)
        for name, part in list_parameters(shape).items()
    }
    assert_agrees(Model(shape, numbers), rule)


def test_real_numbers():
    rule = make_rule("parity_based", high=3)
    assert assert_agrees(drawn(rule, seed=3, context=4), rule, real=True).arithmetic == "real"


def successor_model(context=4):
    """Counting 0..4, by hand: tokens on a circle, attention that brings nothing, a head that reads the next."""
    shape = replace(make_reference_architecture(vocab=5, width=2, context=context), precision="float64")
    numbers = {name: np.zeros(part.shape) for name, part in list_parameters(shape).items()}
    turn = 2 * np.pi * np.arange(5) / 5
    numbers["token.weight"] = np.stack([np.cos(turn), np.sin(turn)], 1)
    step = 2 * np.pi / 5
    numbers["head.weight"] = np.stack([np.cos(turn - step), np.sin(turn - step)], 1)
    return Model(shape, numbers)


def test_a_right_model_is_proved():
    proof = prove_rule(lifted(0.1), make_rule("successor", high=4), Sequences(100, 10, 15))
    assert (proof.verdict, proof.lawful_verdict, proof.reason) == ("proved", "proved", "")
    assert int(proof.inputs) == sum(5**length for length in range(1, 10))
    assert 0.5 < proof.margin_bound <= proof.smallest_margin < 1 - np.cos(2 * np.pi / 5)
    assert proof.counterexample is None and proof.details["worst"] == []
    assert proof.exact_error["of_constrained"] == {"low": 0.0, "high": 0.0}


def lifted(strength):
    """The same, with values that push along the first axis the more the tokens look like a 4."""
    model = successor_model(context=9)
    push = strength * np.outer([1.0, 0.0], model.params["token.weight"][4])
    return Model(model.architecture, dict(model.params) | {"attn.v.weight": push})


def test_a_rare_failure_is_found():
    rule, data = make_rule("successor", high=4), Sequences(100, 10, 15)
    right, wrong = 0.0, 4.0
    for _ in range(10):
        middle = (right + wrong) / 2
        is_right = prove_rule(lifted(middle), rule, data).verdict == "proved"
        right, wrong = (middle, wrong) if is_right else (right, middle)
    proof = prove_rule(lifted(wrong), rule, data)
    assert proof.verdict == "refuted" and proof.reason == ""
    rows = [proof.exact_error["count_low"], *(row["errors_low"] for row in proof.details["shorter"].values())]
    assert 1 <= sum(rows) <= 20 and len(proof.details["worst"]) == min(sum(rows), 10)
    tokens = np.array([int(label) for label in proof.counterexample["context"].split()])
    got = int(lifted(wrong).logits(tokens[:, None], last=1)[:, 0, 0].argmax())
    assert proof.counterexample["got"] == str(got) != str((tokens[-1] + 1) % 5)


def test_the_counterexample_is_what_the_model_does():
    rule = make_rule("lucky7", low=4, high=8)
    model = drawn(rule, seed=5, context=4)
    proof = prove_rule(model, rule, DATA)
    found, labels = proof.counterexample, rule.tokens()
    tokens = np.array([labels.index(label) for label in found["context"].split()])
    assert labels[model.logits(tokens[:, None], last=1)[:, 0, 0].argmax()] == found["got"]
    assert found["got"] not in found["expected"] and found["length"] == len(tokens)
    assert proof.hardest == found["context"]


def test_no_time_leaves_bounds():
    rule = make_rule("plus_last_even")
    model = drawn(rule, seed=0, context=8, width=4, head_size=4)
    proof = prove_rule(model, rule, Sequences(), time=0.0)
    error = proof.exact_error
    assert error["count_low"] == 0 < error["count_high"] == error["constrained"]
    assert proof.classes["undecided"] > 0 and "undecided" in proof.reason and proof.margin_bound is None
    assert error["weighted"]["high"] == pytest.approx(error["weighted"]["constrained"])


def test_content_is_plain():
    rule = make_rule("plus_last_even", high=3)
    content = prove_rule(drawn(rule, seed=0, context=3), rule, DATA).content()
    assert json.loads(json.dumps(content)) == content


def test_sequences_too_short_for_a_window():
    rule = make_rule("plus_last_even", high=3)
    proof = prove_rule(drawn(rule, seed=0, context=4), rule, Sequences(10, 3, 4))
    assert proof.exact_error["weighted"] is None and "no weighted share" in proof.reason


def deep(rule, seed, context=3, layers=2, attention=True, **shape):
    """A random model of several layers that attend, or of one without attention."""
    one = (
        Layer(Attention(head_size=4), FeedForward(hidden=5))
        if attention
        else Layer(None, FeedForward(hidden=5))
    )
    shape = make_reference_architecture(vocab=len(rule.tokens()), width=4, context=context, **shape)
    shape = replace(shape, layers=(one,) * layers)
    random = np.random.default_rng(seed)
    parts = list_parameters(shape).items()
    return Model(shape, {name: random.normal(0, 0.7, part.shape).astype(np.float32) for name, part in parts})


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("name", list(TINY)[::3])
def test_two_layers_that_mix(name, real, way):
    rule = make_rule(name, **TINY[name])
    assert_agrees(deep(rule, seed=2), rule, real=real)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("size", [0.01, 0.3])
def test_a_second_layer_that_writes_something(size, behind, real, way):
    rule = make_rule("plus_last_even", high=3)
    assert_agrees(stack_layer(drawn(rule, seed=4, context=3), size, behind), rule, real=real)


@pytest.mark.parametrize("behind", [False, True])
def test_a_second_layer_that_writes_nothing_changes_nothing(behind):
    rule = make_rule("lucky7", low=4, high=8)
    alone = drawn(rule, seed=5, context=4)
    for real in (False, True):
        one, two = (prove_rule(m, rule, DATA, real=real) for m in (alone, stack_layer(alone, 0.0, behind)))
        assert one.verdict == two.verdict and one.details["shorter"] == two.details["shorter"]
        counts = ("count_low", "count_high", "constrained")
        assert [one.exact_error[key] for key in counts] == [two.exact_error[key] for key in counts]
        assert one.lawful["errors_low"] == two.lawful["errors_low"]
        assert two.smallest_margin == pytest.approx(one.smallest_margin, **CLOSE)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("behind", [False, True])
def test_a_second_layer_that_writes_little_is_decided_by_bounds(behind, real, monkeypatch):
    """Two million contexts, none of them listed."""
    monkeypatch.setattr(
        ContextSearch, "enumerate", lambda self, nodes: pytest.fail("listed") if len(nodes) else None
    )
    rule, data = make_rule("successor", high=4), Sequences(100, 10, 15)
    monkeypatch.setattr(rule_proving, "_NARROWING", 0.0)
    proof = prove_rule(stack_layer(lifted(0.1), 1e-3, behind), rule, data, real=real)
    assert (proof.verdict, proof.lawful_verdict) == ("proved", "proved")
    assert 0 < proof.margin_bound <= proof.smallest_margin


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
def test_no_attention_at_all(layers, real, way):
    rule = make_rule("successor", high=4)
    assert_agrees(deep(rule, seed=1, context=4, layers=layers, attention=False), rule, real=real)


def test_no_attention_is_decided_however_long_the_context():
    """Counting by the head alone: 5^9 contexts and more, a run per length and last token."""
    model = successor_model(context=9)
    plain = {name: part for name, part in model.params.items() if not name.startswith("attn")}
    shape = replace(model.architecture, layers=(replace(model.architecture.layers[0], attention=None),))
    for real in (False, True):
        proof = prove_rule(
            Model(shape, plain), make_rule("successor", high=4), Sequences(100, 10, 15), real=real
        )
        assert proof.verdict == "proved" and proof.classes["total"] == 9 * 5
        assert proof.margin_bound == pytest.approx(1 - np.cos(2 * np.pi / 5), abs=1e-5)


@pytest.mark.parametrize("real", [False, True])
def test_where_there_are_no_tables_contexts_are_run(real, monkeypatch):
    def refuse(*_):
        raise NotProvableError("why")

    monkeypatch.setattr(rule_proving, "tabulate_best_mix", refuse)
    rule = make_rule("lucky7", low=4, high=8)
    assert_agrees(deep(rule, seed=3), rule, real=real)


def test_two_layers_without_time_are_refuted_all_the_same():
    rule = make_rule("plus_last_even")
    proof = prove_rule(deep(rule, seed=0, context=8), rule, Sequences(), time=0.0)
    error = proof.exact_error
    assert proof.verdict == "refuted" and proof.counterexample
    assert error["count_low"] < error["count_high"] == error["constrained"]
