"""The data of a page: what types.js says, nothing lost, and a page for whatever a folder still holds."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from glassformer.core.atomic import read_arrays, write_arrays
from glassformer.pages.pack import unpack_array
from glassformer.pages.payload import make_page_payload
from glassformer.pages.worst import compute_last_logits
from glassformer.runs.history import read_history
from glassformer.runs.load import load_model
from glassformer.runs.metrics import read_metrics, write_metrics

TYPES = Path(__file__).parents[2] / "src" / "glassformer" / "pages" / "assets" / "types.js"
OPTIONAL = ("history.safetensors", "metrics.csv", "population.safetensors", "result.json", "certificate.json")


def page_of(folder, seconds=1.0):
    content = make_page_payload(load_model(folder), folder, seconds)
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


def test_an_adder_has_the_fields_of_the_types():
    page = make_page_payload(load_model("microadder-57"))
    assert set(page) == fields("Payload")
    assert set(page["task"]) == fields("AdderTask")
    assert set(page["proof"]["steps"][0]) == {"step", "column", "margin", "bound", "input"}


def test_weights_and_checkpoints_are_whole(small_run):
    folder = small_run("plus_last_even")
    page, history = page_of(folder), read_history(folder)
    assert page["training"]["steps"] == history.steps.tolist()
    for name, array in load_model(folder).params.items():
        np.testing.assert_array_equal(unpack_array(page["weights"][name]), array)
        np.testing.assert_array_equal(unpack_array(page["training"]["params"][name]), history.params[name])


def test_the_population_is_in_the_order_of_its_rows(small_run):
    folder = small_run("plus_last_even")
    seeds = with_population(folder)
    part = page_of(folder)["population"]
    assert [row["seed"] for row in part["rows"]] == sorted(seeds)
    weights = unpack_array(part["params"]["token.weight"])
    own = load_model(folder).params["token.weight"]
    for seed, found in zip(sorted(seeds), weights, strict=True):
        np.testing.assert_array_equal(found, own * (1 + seeds.index(seed)))
    assert unpack_array(part["losses"]).shape == (len(seeds), len(part["steps"]))
    verdicts = {row["seed"]: row["verdict"] for row in part["rows"]}
    assert verdicts[part["best_seed"]] == "proved" and set(verdicts.values()) == {"proved", None}


@pytest.mark.parametrize("target", ["microadder-57", "nanogpt-58"])
def test_the_zoo_has_no_past_and_says_so(target):
    page = make_page_payload(load_model(target))
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
    wrong, right = make_page_payload(load_model("nanogpt-58")), make_page_payload(load_model("microadder-57"))
    assert wrong["start"]["input"] == wrong["proof"]["counterexample"]["input"] == "0+9000"
    assert right["start"]["input"] == right["proof"]["hardest"]["input"] == "121+929"
    margins = [example["margin"] for example in right["proof"]["worst"]]
    assert margins == sorted(margins) and all(example["right"] for example in right["proof"]["worst"])


def test_the_test_set_demands_something_and_is_always_the_same(small_run):
    folder = small_run("plus_last_even")
    page = page_of(folder)
    test = page["test"]
    assert test == page_of(folder)["test"]
    tokens, lengths, allowed = (unpack_array(test[name]) for name in ("tokens", "lengths", "allowed"))
    assert tokens.shape == (8, len(lengths)) and len(lengths) == 256
    assert set(lengths.tolist()) == set(range(2, 9))  # no sequence begins with a `+`
    assert ((allowed.sum(0) > 0) & (allowed.sum(0) < len(allowed))).all()
    best = compute_last_logits(load_model(folder), tokens, lengths).argmax(0)
    assert allowed[best, np.arange(len(best))].all()  # it is proved


def test_a_file_of_weights_has_a_page(small_run, tmp_path):
    shutil.copy(small_run("plus_last_even") / "params.safetensors", tmp_path / "mine.safetensors")
    page = make_page_payload(load_model(tmp_path / "mine.safetensors"), None, 5.0)
    assert page["name"] == "mine" and page["proof"]["verdict"] == "proved"
    assert "glassformer run" in page["missing"]["training"]


def test_a_page_is_small(small_run):
    assert len(json.dumps(page_of(small_run("plus_last_even")))) < 1_000_000
