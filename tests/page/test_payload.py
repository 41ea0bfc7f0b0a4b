"""The data of a page: what types.js says, nothing lost, and a page for whatever a folder still holds."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from glassformer.model.forward import parameters
from glassformer.model.model import in_float64
from glassformer.page.counts_part import counts_part
from glassformer.page.examples import make_example
from glassformer.page.measures_part import measures_part
from glassformer.page.pack import packed, unpacked
from glassformer.page.payload import payload_of
from glassformer.page.training_part import thinned
from glassformer.page.words import grouped, many, percent, short
from glassformer.page.worst import last_logits
from glassformer.runs.atomic import read_arrays, write_arrays
from glassformer.runs.history import History, read_history
from glassformer.runs.load import load
from glassformer.runs.metrics import read_metrics, write_metrics
from glassformer.tasks.rules_recall import Lucky7

TYPES = Path(__file__).parents[2] / "src" / "glassformer" / "page" / "assets" / "types.js"
OPTIONAL = ("history.safetensors", "metrics.csv", "population.safetensors", "result.json", "certificate.json")


def page_of(folder, seconds=1.0):
    content = payload_of(load(folder), folder, seconds)
    json.dumps(content, allow_nan=False)
    return content


def fields(name):
    """The fields that types.js gives a type."""
    text = TYPES.read_text().replace("\n *", "\n")
    body = next(
        found for found in re.findall(r"@typedef \{\{(.*?)\}\}\s+(\w+)", text, re.DOTALL) if found[1] == name
    )[0]
    flat = re.sub(r"[{<][^{}<>]*[}>]", "", re.sub(r"[{<][^{}<>]*[}>]", "", body))
    return set(re.findall(r"(\w+):", flat))


def with_population(folder, seeds=3):
    """The run's own weights under several seeds, the chosen one among them, and a row for each of them."""
    params, about = read_arrays(folder / "params.safetensors")
    best = int(about["seed"])
    every = [best, *(best + 1 + other for other in range(seeds - 1))]
    stacked = {name: np.stack([array * (1 + n) for n in range(seeds)]) for name, array in params.items()}
    write_arrays(folder / "population.safetensors", stacked | {"seed": np.array(every)}, {})
    own = [row for row in read_metrics(folder) if row["seed"] == best]
    write_metrics(folder, [row | {"seed": seed} for row in own for seed in every])
    return every


@pytest.mark.parametrize("array", [np.arange(6.0).reshape(2, 3), np.float32([0.1, np.inf]), np.array(True)])
def test_what_is_packed_comes_back(array):
    back = unpacked(packed(array))
    np.testing.assert_array_equal(back, array)
    assert back.shape == array.shape


def test_large_whole_numbers_are_not_cut():
    assert unpacked(packed(np.array([2**40])))[0] == 2**40
    assert packed(np.array([2**20]))["dtype"] == "int32"


@pytest.mark.parametrize("name", ["plus_last_even", "lucky7"])
def test_a_run_has_the_fields_of_the_types(small_run, name):
    folder = small_run(name)
    with_population(folder)
    page = page_of(folder)
    assert set(page) == fields("Payload")
    assert set(page["model"]) == fields("ModelData")
    assert set(page["model"]["layers"][0]) == fields("Layer")
    assert set(page["model"]["parameters"][0]) == fields("Parameter")
    assert set(page["task"]) == fields("RuleTask")
    assert set(page["training"]) == fields("Training")
    assert set(page["training"]["rows"][0]) == fields("CurveRow")
    assert set(page["population"]) == fields("Population")
    assert set(page["population"]["rows"][0]) == fields("SeedRow")
    assert set(page["test"]) == fields("TestSet")
    assert set(page["measures"][0]) == fields("Measure")
    assert set(page["proof"]["worst"][0]) == fields("Example")
    assert set(page["proof"]) == fields("ProofData")
    assert page["missing"] == {}


def test_no_share_stands_without_of_how_many():
    of = {"value": 1.0, "low": 0.99, "high": 1.0, "positions": 105_641}
    result = {"measures": {"argmax_accuracy": of, "argmax_accuracy_all": of | {"positions": 108_449}}}
    labels = [one["label"] for one in measures_part(Lucky7(), result)]
    assert labels == ["of 105,641 places", "of all 108,449 places"]
    same = {"measures": {"argmax_accuracy": of, "argmax_accuracy_all": of}}
    assert len(measures_part(Lucky7(), same)) == 1


def test_an_adder_has_the_fields_of_the_types():
    page = payload_of(load("microadder-57"))
    assert set(page) == fields("Payload")
    assert set(page["task"]) == fields("AdderTask")
    assert set(page["proof"]["steps"][0]) == {"step", "column", "margin", "bound", "input"}


def test_weights_and_checkpoints_are_whole(small_run):
    folder = small_run("plus_last_even")
    page, history = page_of(folder), read_history(folder)
    assert page["training"]["steps"] == history.steps.tolist()
    for name, array in load(folder).params.items():
        np.testing.assert_array_equal(unpacked(page["weights"][name]), array)
        np.testing.assert_array_equal(unpacked(page["training"]["params"][name]), history.params[name])


def test_the_population_is_in_the_order_of_its_rows(small_run):
    folder = small_run("plus_last_even")
    seeds = with_population(folder)
    part = page_of(folder)["population"]
    assert [row["seed"] for row in part["rows"]] == sorted(seeds)
    weights = unpacked(part["params"]["token.weight"])
    own = load(folder).params["token.weight"]
    for seed, found in zip(sorted(seeds), weights, strict=True):
        np.testing.assert_array_equal(found, own * (1 + seeds.index(seed)))
    assert unpacked(part["losses"]).shape == (len(seeds), len(part["steps"]))
    verdicts = {row["seed"]: row["verdict"] for row in part["rows"]}
    assert verdicts[part["best_seed"]] == "proved" and set(verdicts.values()) == {"proved", None}


def test_a_long_history_is_thinned_evenly_and_keeps_its_ends():
    history = History(np.arange(0, 5_000_000, 1_000), {"token.weight": np.zeros((5_000, 1_000), np.float32)})
    kept = thinned(history).steps
    assert (kept[0], kept[-1]) == (0, 4_999_000)
    assert len(kept) < 1_000 and set(np.diff(kept)) <= {6_000, 7_000, 8_000}


@pytest.mark.parametrize("target", ["microadder-57", "nanogpt-58"])
def test_the_zoo_has_no_past_and_says_so(target):
    page = payload_of(load(target))
    assert page["training"] is None and page["population"] is None
    can_be_trained = "glassformer run microadder-57" in page["missing"]["training"]
    assert can_be_trained == (target == "microadder-57")


def test_one_seed_says_how_to_get_more(small_run):
    folder = small_run("plus_last_even")
    seed = int(read_arrays(folder / "params.safetensors")[1]["seed"])
    write_metrics(folder, [row for row in read_metrics(folder) if row["seed"] == seed])
    page = page_of(folder)
    assert page["population"] is None and "--seeds 16" in page["missing"]["population"]


@pytest.mark.parametrize(
    ("damaged", "content"),
    [
        *((name, content) for name in OPTIONAL for content in (None, b"{}")),
        ("result.json", b"[1]"),
        ("result.json", b'{"proof": {"verdict": 3}, "measures": {"argmax_accuracy": 1}}'),
        ("metrics.csv", b"step,seed\n1,2\n"),
    ],
)
def test_a_damaged_file_costs_its_own_part_alone(small_run, damaged, content):
    folder = small_run("lucky7")
    with_population(folder)
    path = folder / damaged
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    page = page_of(folder)
    assert (page["training"] is None) == ("training" in page["missing"])
    assert (page["population"] is None) == ("population" in page["missing"])
    assert page["proof"]["verdict"] == "refuted"
    if damaged == "history.safetensors":
        assert page["training"] is None and page["population"] is not None
    if damaged == "population.safetensors":
        assert page["population"]["params"] is None and page["population"]["note"]


def test_a_result_of_other_weights_is_not_believed(small_run):
    folder = small_run("plus_last_even")
    assert page_of(folder)["proof"]["source"] == "result.json of the run"
    params, about = read_arrays(folder / "params.safetensors")
    moved = {name: array + np.float32(0.02) for name, array in params.items()}
    write_arrays(folder / "params.safetensors", moved, about)
    proof = page_of(folder)["proof"]
    assert proof["source"] == "a proof made for this page"
    assert proof["smallest_margin"] != page_of(small_run("plus_last_even", "own"))["proof"]["smallest_margin"]


def test_texts_go_through_as_they_are(small_run):
    folder = small_run("plus_last_even")
    text = (folder / "run.toml").read_text()
    about = "</script><b>&"
    (folder / "run.toml").write_text(re.sub(r"(?m)^about = .*$", f'about = "{about}"', text))
    assert page_of(folder)["about"] == about


def test_the_first_input_is_where_it_fails_or_nearly_does():
    wrong, right = payload_of(load("nanogpt-58")), payload_of(load("microadder-57"))
    assert wrong["start"]["input"] == wrong["proof"]["counterexample"]["input"] == "0+9000"
    assert right["start"]["input"] == right["proof"]["hardest"]["input"] == "121+929"
    margins = [example["margin"] for example in right["proof"]["worst"]]
    assert margins == sorted(margins) and all(example["right"] for example in right["proof"]["worst"])


def test_examples_are_answered_in_the_models_own_arithmetic(small_run):
    folder = small_run("plus_last_even")
    loaded = load(folder)
    example = make_example(loaded, loaded.task, "4 7 +", "")
    logits = loaded.forward(np.array([4, 7, 11]), last=1)[0].astype(np.float64)
    assert example["expected"] == "4" and example["right"]
    assert example["margin"] == logits[4] - np.delete(logits, 4).max()
    adder = load("nanogpt-58")
    assert make_example(adder, adder.task, "0+9000", "")["got"] == str(adder.add(0, 9000)) == "15000"
    assert make_example(adder, adder.task, "57+68", "")["margin"] > 0


def test_the_test_set_demands_something_and_is_always_the_same(small_run):
    folder = small_run("plus_last_even")
    page = page_of(folder)
    test = page["test"]
    assert test == page_of(folder)["test"]
    tokens, lengths, allowed = (unpacked(test[name]) for name in ("tokens", "lengths", "allowed"))
    assert tokens.shape == (8, len(lengths)) and len(lengths) == 256
    assert set(lengths.tolist()) == set(range(2, 9))  # no sequence begins with a `+`
    assert ((allowed.sum(0) > 0) & (allowed.sum(0) < len(allowed))).all()
    best = last_logits(load(folder), tokens, lengths).argmax(0)
    assert allowed[best, np.arange(len(best))].all()  # it is proved


def test_sums_of_the_test_set_are_right():
    page = payload_of(load("microadder-57"))
    tokens, answers = unpacked(page["test"]["tokens"]), unpacked(page["test"]["answers"])
    task = page["task"]
    a = [sum(int(tokens[place, n]) * 10**k for k, place in enumerate(task["x"])) for n in range(128)]
    b = [sum(int(tokens[place, n]) * 10**k for k, place in enumerate(task["y"])) for n in range(128)]
    z = [sum(int(answers[place - 22, n]) * 10**k for k, place in enumerate(task["z"])) for n in range(128)]
    assert [x + y for x, y in zip(a, b, strict=True)] == z
    marks = np.array(task["prompt"])
    assert (tokens[: len(marks)][marks >= 0] == marks[marks >= 0][:, None]).all()


def test_a_parameter_says_what_it_reaches():
    page = payload_of(load("microadder-57"))
    parts = {one["name"]: one for one in page["model"]["parameters"]}
    assert list(parts) == list(parameters(load("microadder-57").architecture))
    assert parts["attn.q.angle"]["acts"][0] == "attn.q" and parts["attn.q.angle"]["acts"][-1] == "logits"
    assert "embedded" not in parts["head.weight"]["acts"] and "attn.v" in parts["head.weight"]["acts"]
    assert parts["head.weight"]["tied"] == ["attn.v.weight", "ff.down.weight"]
    assert [name for name, one in parts.items() if one["dead"]] == ["position.z_hi"]


def test_dead_numbers_are_those_of_count():
    loaded = load("nanogpt-58")
    found = counts_part(loaded, loaded.task)
    assert set(found.dead) >= {"attn.q.angle", "attn.q.scale", "attn.k.weight", "attn.v.write[3]"}
    assert (found.unique, found.nonzero, found.rank) == (58, 38, None)


def test_the_arithmetic_is_measured():
    words = payload_of(load("rope-62"))["arithmetic"]
    assert "float32" in words and "the answers differ on 0 of 139 inputs" in words
    assert payload_of(load("hand-4"))["arithmetic"].endswith("the model's own arithmetic.")


def test_double_precision_is_the_same_model():
    loaded = load("glass-29")
    double = in_float64(loaded)
    assert double.architecture.precision == "float64"
    for name, array in loaded.params.items():
        np.testing.assert_array_equal(double.params[name], array)


def test_a_file_of_weights_has_a_page(small_run, tmp_path):
    shutil.copy(small_run("plus_last_even") / "params.safetensors", tmp_path / "mine.safetensors")
    page = payload_of(load(tmp_path / "mine.safetensors"), None, 5.0)
    assert page["name"] == "mine" and page["proof"]["verdict"] == "proved"
    assert "glassformer run" in page["missing"]["training"]


def test_a_page_is_small(small_run):
    assert len(json.dumps(page_of(small_run("plus_last_even")))) < 1_000_000


NUMBERS = (
    0,
    1,
    -1,
    0.5,
    0.8007126450538635,
    -12.34567,
    99995,
    999949.9,
    1e6,
    -3.2e-7,
    1e-4,
    9.9999e-5,
    0.00012345,
)
NUMBERS += (
    1432.96997,
    2.5,
    0.125,
    1.00005,
    12345.5,
    1e21,
    5e-324,
    3.4615367307657532e16,
    float("inf"),
    float("nan"),
)
SHARES = (0, 1, 0.5, 0.99965, 0.9999999, 1e-9, 0.12345, 0.0005, 0.99, 1 - 1e-15, 0.146, 0.625)


def test_numbers_are_written_as_the_page_writes_them(open_page):
    from glassformer.page.modules import join_modules

    script = join_modules("numbers.js")
    words = "window.words = {short, percent, grouped};"
    page = open_page(f"<!doctype html><title>numbers</title><script>{script}\n{words}</script>")
    finite = [number for number in NUMBERS if np.isfinite(number)]
    assert page.evaluate("numbers => numbers.map(n => words.short(n))", finite) == [short(n) for n in finite]
    assert page.evaluate("[words.short(Infinity), words.short(-Infinity), words.short(NaN)]") == [
        short(float("inf")),
        short(float("-inf")),
        short(float("nan")),
    ]
    assert page.evaluate("shares => shares.map(words.percent)", list(SHARES)) == [percent(s) for s in SHARES]
    whole = [0, 7, 999, 1000, 105641, -1234567]
    assert page.evaluate("numbers => numbers.map(words.grouped)", whole) == [grouped(n) for n in whole]


def test_powers_of_ten_are_short():
    assert (many(10**20), many(469070940), many(100_000)) == ("10^20", "469,070,940", "100,000")
