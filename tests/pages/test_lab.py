"""The laboratory in a real browser: what is read, what is demanded, what is right, as Python has it."""

from typing import Any

import numpy as np
import pytest

from glassformer.models.adding import write_sum
from glassformer.models.model import Model
from glassformer.pages.families import find_family
from glassformer.pages.pack import pack_array
from glassformer.pages.task_part import list_token_parts, make_task_part
from glassformer.proofs.contexts import NOTHING, tabulate_demands
from glassformer.runs.history import read_history
from glassformer.runs.load import LoadedModel, load_run, load_zoo_model
from glassformer.tasks import Addition, make_rule, tabulate_automaton
from glassformer.verify.rule import judge_logits
from tests.pictures.conftest import RUNS
from tests.proofs.every_context import TINY, all_contexts

from .engine import Engine, packed_steps, small_payload

OPEN = "(payload) => { window.lab = engine.createLab(payload); window.first = lab.firstState(); }"
SUM = """(input) => { const { answer, tokens } = lab.view({ ...first, input });
  return { ...answer, a: String(answer.a), b: String(answer.b), tokens }; }"""


@pytest.fixture(scope="module")
def engine(browser):
    page = browser.new_page()
    yield Engine(page)
    page.close()


def payload_for(loaded: LoadedModel) -> dict[str, Any]:
    is_sum = isinstance(loaded.task, Addition)
    places, family = loaded.task.positions(loaded.architecture.context), find_family(loaded.task)
    return small_payload(loaded.architecture, loaded.params, places) | {
        "family": loaded.task.family,
        "task": make_task_part(loaded.task),
        "tokens": list_token_parts(loaded.task, loaded.architecture.vocab),
        "start": {"input": "57+68" if is_sum else "4 7 +", "why": ""},
        "test": family.pack_tests(family.draw_tests(loaded.task, loaded.architecture)),
    }


def rule_payload() -> dict[str, Any]:
    """plus_last_even with some of its checkpoints."""
    folder = RUNS / "plus_last_even"
    loaded, history = load_run(folder), read_history(folder)
    assert history is not None
    steps = {int(history.steps[place]): history.at(place) for place in (0, 1, len(history.steps) - 1)}
    return payload_for(loaded) | {"training": packed_steps(steps)}


@pytest.mark.parametrize("name", TINY)
def test_every_context_demands_what_python_says(engine, name: str):
    rule = make_rule(name, **TINY[name])
    demands, vocab = tabulate_demands(tabulate_automaton(rule)), len(rule.tokens())
    engine.evaluate(
        OPEN, {"family": "rule", "task": make_task_part(rule), "model": {"context": 4}, "start": {}}
    )
    for length in (1, 3, 4):
        every = all_contexts(vocab, length)
        found = engine.evaluate("(contexts) => contexts.map((one) => lab.demands()(one))", every.tolist())
        asked = demands.of(every, whole=length == 4)
        right = [np.flatnonzero(demands.allowed[one]).tolist() if one != NOTHING else None for one in asked]
        assert found == right


def test_the_verdict_at_every_place(engine):
    payload, loaded = rule_payload(), load_run(RUNS / "plus_last_even")
    engine.evaluate(OPEN, payload)
    automaton = tabulate_automaton(loaded.task)
    demands, tokens = tabulate_demands(automaton), automaton.ids("1 4 7 + 4 9 3 +")
    found = engine.evaluate("(input) => lab.view({ ...first, input }).answers", automaton.text(tokens))
    logits = loaded.forward(tokens).astype(float)
    for place, answer in enumerate(found):
        asked = int(demands.of(tokens[None, : place + 1], whole=place == 7)[0])
        allowed = demands.allowed[asked]
        right, _ = judge_logits(logits[place][:, None], allowed[:, None])
        assert answer["demand"] == (asked != NOTHING)
        assert answer["allowed"] == np.flatnonzero(allowed).tolist()
        assert answer["winner"] == logits[place].argmax()
        assert answer["right"] == (bool(right[0]) if asked else None)
    assert [answer["right"] for answer in found].count(None) == 6


@pytest.mark.parametrize("target", ["plus_last_even", "microadder-57", "tinyadder-95"])
def test_the_error_over_the_test_set(engine, target: str):
    """Of the model, and of one with noise in its numbers, which is wrong now and then."""
    loaded = load_run(RUNS / target) if target == "plus_last_even" else load_zoo_model(target)
    assert loaded is not None
    random = np.random.default_rng(0)
    noisy = {name: array * random.normal(1, 0.1, array.shape) for name, array in loaded.params.items()}
    found = find_family(loaded.task).draw_tests(loaded.task, loaded.architecture)
    for params in (loaded.params, noisy):
        model = Model(loaded.architecture, params)
        payload = payload_for(loaded) | {
            "weights": {name: pack_array(array) for name, array in model.params.items()}
        }
        engine.evaluate(OPEN, payload)
        error = engine.evaluate(
            "() => { const { wrong, total } = lab.view(first).error; return [wrong, total]; }"
        )
        logits = model.logits(found.tokens)
        if isinstance(loaded.task, Addition):
            written = logits[:, loaded.addition.written().predicting].argmax(0)
            right = (written == found.answers).all(0)
        else:
            last = np.stack([logits[:, length - 1, item] for item, length in enumerate(found.lengths)], 1)
            right, _ = judge_logits(last, found.allowed)
        assert error == [int((~right).sum()), len(right)]


@pytest.mark.parametrize("name", ["microadder-57", "tinyadder-95", "nanogpt-58"])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_sums_are_written_as_python_writes_them(engine, name: str, noise: float):
    """Also by a model that is wrong: each digit it wrote is fed back, digits or not."""
    loaded = load_zoo_model(name)
    assert loaded is not None
    random = np.random.default_rng(1)
    params = {key: array * random.normal(1, noise, array.shape) for key, array in loaded.params.items()}
    model = Model(loaded.architecture, params)
    engine.evaluate(
        OPEN, payload_for(loaded) | {"weights": {k: pack_array(v) for k, v in model.params.items()}}
    )
    for a, b in ((57, 68), (9_999_999_999, 1), (4_821_093_377, 9_178_906_623)):
        found, own = engine.evaluate(SUM, f"{a}+{b}"), write_sum(model, loaded.addition, a, b)
        assert (found["a"], found["b"], found["expected"]) == (str(a), str(b), str(own.expected))
        assert (found["got"], found["right"]) == (str(own.got), own.right)
        assert [digit["token"] for digit in found["digits"]] == [digit.token for digit in own.digits]
        assert [digit["column"] for digit in found["digits"]] == [digit.place for digit in own.digits]
        carries = {k: (a % 10**k + b % 10**k) // 10**k for k in range(11)}
        assert {digit["column"]: digit["carry"] for digit in found["digits"]} == carries
        right = [d for d, mine in zip(found["digits"], own.digits, strict=True) if d["wanted"] == mine.token]
        margins = [mine.margin for d, mine in zip(found["digits"], own.digits, strict=True) if d in right]
        np.testing.assert_allclose([d["margin"] for d in right], margins, rtol=1e-3, atol=1e-3)


def test_checkpoints_seeds_and_changed_numbers(engine):
    payload = rule_payload()
    seeds = {name: pack_array(np.stack([np.full(2, 5.0), np.full(2, 6.0)])) for name in ("ff.down.bias",)}
    payload["population"] = {"rows": [{"seed": 3}, {"seed": 8}], "best_seed": 3, "params": seeds}
    engine.evaluate(OPEN, payload)
    of = "(patch) => Array.from(lab.paramsOf({ ...first, ...patch })['ff.down.bias'].data)"
    steps, history = payload["training"]["steps"], read_history(RUNS / "plus_last_even")
    assert history is not None
    for step in steps:
        stored = history.at(history.steps.tolist().index(step))["ff.down.bias"]
        assert engine.evaluate(of, {"step": step}) == stored.astype(float).tolist()
    own = load_run(RUNS / "plus_last_even").params["ff.down.bias"].astype(float).tolist()
    assert engine.evaluate(of, {}) == engine.evaluate(of, {"seed": 3}) == own
    assert engine.evaluate(of, {"seed": 8}) == [6.0, 6.0]
    assert engine.evaluate(of, {"changes": {"ff.down.bias[1]": 0.25}}) == [own[0], 0.25]
    assert engine.evaluate(of, {}) == own  # the stored numbers are as before
    matrix = of.replace("ff.down.bias", "head.weight")
    before = engine.evaluate(matrix, {})
    after = engine.evaluate(matrix, {"changes": {"head.weight[3,1]": 0.25}})
    assert [(n, value) for n, value in enumerate(after) if value != before[n]] == [(7, 0.25)]  # tok dim, of 2


def test_a_nudge_moves_the_logits_and_leaves_the_view(engine):
    engine.evaluate(OPEN, rule_payload())
    moved = engine.evaluate(
        """() => { const view = lab.view(first), bias = view.params["head.bias"].data[2];
        const nudged = view.nudged("head.bias[2]", bias + 1);
        return [nudged.logits.data[2 * 3] - view.logits.data[2 * 3], nudged.logits.data[0] - view.logits.data[0]]; }"""
    )
    assert moved == [pytest.approx(1.0), 0.0]


def test_the_landscape_is_what_each_point_gives(engine):
    engine.evaluate(OPEN, rule_payload())
    found = engine.evaluate(
        """() => { const view = lab.view(first), grid = 5;
        const land = view.landscape("settle", [1, 0], [[-2, 2], [-1, 3]], grid, [9, 9]);
        const points = Array.from({ length: 25 }, (_, n) => [-1 + 0.8 * (Math.floor(n / 5) + 0.5), -2 + 0.8 * ((n % 5) + 0.5)]);
        const one = points.map((point) => view.through("settle", { shape: [2, 1], data: Float64Array.from(point) })("logits").data);
        return { winner: Array.from(land.winner), best: one.map((logits) => logits.indexOf(Math.max(...logits))) }; }"""
    )
    assert found["winner"] == found["best"]
    assert len(set(found["winner"])) > 1


def test_what_is_typed_is_read_or_refused_with_what_is_valid(engine):
    engine.evaluate(OPEN, rule_payload())

    def read(text: str) -> Any:
        return engine.evaluate("(text) => lab.read(text)", text)

    assert read(" 4, 7  + ") == {"tokens": [4, 7, 11], "input": "4 7 +"}
    assert read("4 7+10") == {"tokens": [4, 7, 11, 10], "input": "4 7 + 10"}
    for text, words in (("", "1 to 8"), ("4 x", "“x” is not a token"), ("1 " * 9, "context of 8")):
        assert words in read(text)["error"]
    loaded = load_zoo_model("nanogpt-58")
    assert loaded is not None
    engine.evaluate(OPEN, payload_for(loaded))
    assert read("57 68")["input"] == read(" 0057+68 = ")["input"] == "57+68"
    for text in ("57", "5.7+1", "-5+3", "12345678901+1"):
        assert "two whole numbers of up to 10 digits" in read(text)["error"]


def test_a_link_can_ask_for_nothing_that_is_not_there(engine):
    engine.evaluate(OPEN, rule_payload())
    good = {"input": "4,7", "step": "0", "place": "2", "dims": "[1,0]", "theme": "dark", "panel": "proof"}
    good |= {"changes": '{"head.bias[3]":1.5}', "chosen": "head.bias[3]"}
    found = engine.evaluate("(wish) => lab.accept(wish)", good)
    assert found == {
        "input": "4 7",
        "step": 0,
        "place": 2,
        "dims": [1, 0],
        "theme": "dark",
        "panel": "proof",
        "changes": {"head.bias[3]": 1.5},
        "chosen": "head.bias[3]",
    }
    bad = {
        "input": "4 x",
        "step": "7",
        "seed": "1",
        "place": "8",
        "layer": "1",
        "head": "-1",
        "dims": "[0,0]",
    }
    bad |= {
        "changes": '{"head.bias[12]":1}',
        "chosen": "nothing",
        "panel": "<b>",
        "chapter": "0",
        "theme": "x",
    }
    assert engine.evaluate("(wish) => lab.accept(wish)", bad | {"constructor": "1", "more": "1"}) == {}
    for changes in ('{"__proto__[]":1}', '{"head.bias[3]":"1"}', "[1]", '{"head.bias[3]":1e999}'):
        assert engine.evaluate("(wish) => lab.accept(wish)", {"changes": changes}) == {}
