"""Every number of the untouched page is the run's: its files, Python's own pass, and the figures' data."""

import csv
import json
import re

import numpy as np
import pytest

from glassformer.models.adding import write_sum
from glassformer.pages.pack import unpack_array
from glassformer.pages.words import format_number, format_page_percent, group_digits
from glassformer.pictures.registry import PICTURES
from glassformer.proofs.contexts import tabulate_demands
from glassformer.tasks import tabulate_automaton
from glassformer.zoo.entry import VERDICTS
from tests.pictures.conftest import subject_of

from .pages import RUNS, first, page_of, payload, wait_drawn
from .tables import TOLERANCE, assert_close, exact, loaded_of, numbers_of, trace_of

RULES = ("plus_last_even", "lucky7", "step_back")
ADDERS = ("microadder-57", "nanogpt-58", "tinyadder-95", "rope-62")
ROUNDED = 1e-6  # relative: figures are of the run's own pass, in float32


@pytest.fixture
def page(target, shared_page):
    found = shared_page(page_of(target))
    wait_drawn(found, "population")
    return found


def every(targets):
    return pytest.mark.parametrize("target", targets)


def values(rows, **wanted):
    """The values of the rows that have all this."""
    return [row["value"] for row in rows if all(row[name] == value for name, value in wanted.items())]


def figure(number, target):
    return next(one for one in PICTURES if one.id == number).compute(subject_of(target))


def place_of(page):
    return page.evaluate("() => glassformer.viewOf().place")


@first(RULES + ADDERS)
def test_every_parameter(page, target):
    """In the table, in the cells, in figure S8, and in the file."""
    rows, params = numbers_of(page, "parameters"), loaded_of(target).params
    assert (
        len(rows) == payload(target)["model"]["counts"]["unique"] == sum(one.size for one in params.values())
    )
    drawn = figure("S8", target)["parameters"] if target in RULES else params
    for row in rows:
        place = tuple(int(index) for index in row["index"].split(",")) if row["index"] else ()
        stored = float(params[row["name"]][place])
        assert float(row["value"]) == float(row["stored"]) == stored == float(drawn[row["name"]][place])
    of = {f"{row['name']}[{row['index']}]": row["value"] for row in rows}
    cells = page.locator("#panel-parameters .parameter-cell").evaluate_all(
        "cells => cells.map(cell => [cell.dataset.key, Number(cell.getAttribute('aria-valuetext'))])"
    )
    assert cells and all(of[key] == value for key, value in cells)
    folded = payload(target)["model"]["parameters"]
    assert len(cells) == sum(
        one["size"] for one in folded if one["name"] in {key.split("[")[0] for key, _ in cells}
    )


@first(RULES + ADDERS)
def test_the_prediction(page, target):
    rows, trace = numbers_of(page, "prediction"), trace_of(page, target)
    logits = trace["logits"]
    assert_close([row["logit"] for row in rows], logits.ravel())
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    assert_close([row["probability"] for row in rows], (powers / powers.sum(-1, keepdims=True)).ravel())
    wins = np.array([row["wins"] == "true" for row in rows]).reshape(logits.shape)
    assert (wins.sum(1) == 1).all() and (wins.argmax(1) == logits.argmax(1)).all()
    if target in ADDERS:
        return
    demands, tokens = (
        tabulate_demands(tabulate_automaton(loaded_of(target).task)),
        page.evaluate("glassformer.viewOf().tokens"),
    )
    for place in range(len(tokens)):
        whole = place + 1 == loaded_of(target).architecture.context
        asked = int(demands.of(np.array([tokens[: place + 1]]), whole=whole)[0])
        said = [row["allowed"] for row in rows[place * logits.shape[1] : (place + 1) * logits.shape[1]]]
        assert said == (
            [str(bool(one)).lower() for one in demands.allowed[asked]] if asked else [""] * len(said)
        )


@first(RULES + ADDERS)
def test_the_geometry(page, target):
    rows, trace = numbers_of(page, "geometry"), trace_of(page, target)
    layers, here = payload(target)["model"]["layers"], place_of(page)
    first, last = layers[0]["prefix"], layers[-1]["prefix"]
    of = {
        picture: [row for row in rows if row["picture"] == picture]
        for picture in {r["picture"] for r in rows}
    }
    table = np.asarray(trace["token.table"])
    tokens = np.array(values(of["embeddings"], item="token")).reshape(len(table), -1)
    assert_close(tokens[:, : table.shape[1]], table)
    assert not tokens[:, table.shape[1] :].any()
    assert_close(values(of["embeddings"], item="token + position"), trace["embedded"].ravel())
    assert_close(values(of["residual stream"], item="e"), trace["embedded"].ravel())
    for index, layer in enumerate(layers):
        number = str(index) if len(layers) > 1 else ""
        for letter, name, is_there in (
            ("z", "mid", layer["attention"]),
            ("h", "stream", layer["feedforward"]),
        ):
            found = values(of["residual stream"], item=f"{letter}{number}")
            assert_close(found, trace[f"{layer['prefix']}{name}"].ravel() if is_there else [])
    for item in ("query", "key"):
        assert_close(values(of["queries and keys"], item=item), trace[f"{first}attn.{item}.0"].ravel())
    where = page.evaluate("place => glassformer.payload.task.positions?.[place] ?? `p${place}`", here)
    seen = slice(0, here + 1)
    scores, weights = (trace[f"{first}attn.{kind}.0"][here, seen] for kind in ("scores", "weights"))
    assert_close(values(of["queries and keys"], item=f"score from {where}"), scores)
    assert_close(values(of["values"], item=f"weight from {where}"), weights)
    size = len(values(of["values"], item="weighted sum"))
    carried = np.array(values(of["values"], item="value")).reshape(-1, size)
    assert_close(values(of["values"], item="weighted sum"), weights @ carried[seen])
    bent = trace[f"{last}ff.{'gate' if layers[-1]['gated'] else 'up'}"][here]
    assert_close(values(of["hinges"], item="bent by unit"), bent)
    assert_close(values(of["hinges"], item="given by unit"), trace[f"{last}ff.hidden"][here])


@first(RULES + ADDERS)
def test_the_attention(page, target):
    """Every cell, and the terms that make it; scores are sums of products, weights are shares of the row."""
    rows, trace = numbers_of(page, "attention"), trace_of(page, target)
    layer = payload(target)["model"]["layers"][0]
    name, dims = f"{layer['prefix']}attn", sum(column.startswith("query[") for column in rows[0])
    first = loaded_of(target).addition.written().prompt_length - 1 if target in ADDERS else 0
    cells = list[tuple[int, int]]()
    for row in range(first, len(page.evaluate("glassformer.viewOf().tokens"))):
        cells += [(row, column) for column in range(row + 1)]
    for kind, column in (("scores", "score"), ("weights", "weight")):
        assert_close([row[column] for row in rows], [trace[f"{name}.{kind}.0"][cell] for cell in cells])
    for side, which in (("query", 0), ("key", 1)):
        found = [[row[f"{side}[{dim}]"] for dim in range(dims)] for row in rows]
        assert_close(found, [trace[f"{name}.{side}.0"][cell[which]] for cell in cells])
    made = [
        sum(r[f"query[{d}]"] * r[f"key[{d}]"] for d in range(dims)) * r["scale"] + r["shift"] for r in rows
    ]
    assert_close(made, [row["score"] for row in rows])
    shares = [np.exp(row["score"] - row["largest of the row"]) / row["sum of exponentials"] for row in rows]
    assert_close(shares, [row["weight"] for row in rows])


@every(ADDERS)
def test_the_digits_and_their_line(page, target):
    rows, task = numbers_of(page, "digits"), loaded_of(target).addition
    a, b = (int(number) for number in payload(target)["start"]["input"].split("+"))
    found = write_sum(exact(target), task, a, b)
    digits = [row for row in rows if row["kind"] == "digit"]
    assert [int(row["token"]) for row in digits] == [digit.token for digit in found.digits]
    assert [row["column"] for row in digits] == [digit.place for digit in found.digits]
    wanted = [str((a + b) // 10**digit.place % 10) for digit in found.digits]
    assert [row["right"] for row in digits] == wanted
    assert [row["carry"] for row in digits] == [
        (a % 10**digit.place + b % 10**digit.place) // 10**digit.place for digit in found.digits
    ]
    trace = trace_of(page, target)
    logits = [trace["logits"][row["place"]] for row in digits]
    margins = [one[int(w)] - np.delete(one, int(w)).max() for one, w in zip(logits, wanted, strict=True)]
    assert_close([row["margin"] for row in digits], margins)
    here, layers = place_of(page), payload(target)["model"]["layers"]
    heads = list(dict.fromkeys(row["head"] for row in rows if row["kind"] == "weight"))
    drawn = [f"{one['prefix']}attn.weights.{head}" for one in layers for head in range(one["heads"])][
        : len(heads)
    ]
    shown = [
        [row["weight"] for row in rows if row["kind"] == "weight" and row["head"] == head] for head in heads
    ]
    assert_close(shown, [trace[name][here][: len(shown[0])] for name in drawn])
    line = numbers_of(page, "numberline")
    digit = next(row for row in digits if row["place"] == here)
    now = next(row for row in line if row["kind"] == "current")
    assert (now["writes"], now["carry"]) == (digit["token"], digit["carry"])
    inside = [row for row in line if row["kind"] == "band" and row["from"] <= now["from"] <= row["to"]]
    assert digit["token"] in [row["writes"] for row in inside if row["direction"] == 0]
    assert_line(target, here, line)


def assert_line(target, place, line):
    """Where the test sums stand, up to the sign of a direction, and how much of the variance they have there."""
    layer = payload(target)["model"]["layers"][-1]
    name = f"{layer['prefix']}{'attn.output' if layer['attention'] else 'stream'}"
    tokens = unpack_array(payload(target)["test"]["tokens"])
    vectors = np.asarray(exact(target).trace(tokens.T)[name])[:, place]  # batch dim
    shift = vectors.mean(0)
    _, sizes, directions = np.linalg.svd(vectors - shift, full_matrices=False)
    at = np.array([row["from"] for row in line if row["kind"] == "test sum" and row["direction"] == 0])
    along = vectors @ directions[0]
    assert_close(np.abs(at - at.mean()), np.abs(along - along.mean()))
    assert line[0]["share of variance"] == pytest.approx(sizes[0] ** 2 / (sizes**2).sum(), rel=1e-6)


@every(RULES + ADDERS)
def test_the_proof(page, target):
    """What was proved is what the run's files or the zoo's list say; the live margins are Python's."""
    rows, proof = numbers_of(page, "proof"), payload(target)["proof"]
    of = {part: [row for row in rows if row["part"] == part] for part in {row["part"] for row in rows}}
    if target in RULES:
        said = json.loads((RUNS / target / "result.json").read_text())["proof"]
    else:
        said = json.loads(VERDICTS.read_text())[target]
    assert {row["name"]: row["value"] for row in of["classes"]} == said["classes"]
    assert of["smallest margin"][0]["value"] == said["smallest_margin"]
    assert proof["verdict"] == said["verdict"] and int(proof["inputs"]) == int(said["inputs"])
    test = payload(target)["test"]
    tokens = unpack_array(test["tokens"])
    logits = exact(target).logits(tokens)
    if target in RULES:
        lengths, allowed = unpack_array(test["lengths"]), unpack_array(test["allowed"]).astype(bool)
        last = logits[:, lengths - 1, np.arange(len(lengths))]
    else:
        answers = unpack_array(test["answers"])
        last = logits[:, -len(answers) :]
        allowed = np.arange(len(last))[:, None, None] == answers
    margins = np.where(allowed, last, -np.inf).max(0) - np.where(allowed, -np.inf, last).max(0)
    margins = margins if target in RULES else margins.min(0)
    largest = np.abs(logits).max(
        initial=1.0, where=np.abs(logits) < 1e29
    )  # a margin is what two of them leave
    shown = [row["value"] for row in of["test margin"]]
    np.testing.assert_allclose(shown, margins, rtol=0, atol=TOLERANCE * largest)
    wrong = int((~(margins > 0)).sum())
    words = page.get_attribute("#panel-proof figure", "aria-label")
    assert f"{group_digits(wrong)} of {group_digits(len(margins))} are wrong" in words


@every(RULES)
def test_the_learning_curve_and_the_seeds(page, target):
    """The scrubber's lines are those of figure 02 and of metrics.csv; each seed's row is its last."""
    content, data = payload(target), figure("02", target)
    rows = list(csv.DictReader((RUNS / target / "metrics.csv").read_text().splitlines()))
    own = [row for row in rows if int(row["seed"]) == content["population"]["best_seed"] == data["seed"]]
    curve = data["curves"][data["seed"]]
    assert [float(row["loss"]) for row in own] == curve["held_out"].tolist()
    heights = {name: line_of(page, f".curve-{name}") for name in ("loss", "error")}
    for name, series in (("loss", curve["held_out"]), ("error", curve["error"])):
        across, up = heights[name].T
        last = max(*content["training"]["steps"], *curve["step"])
        np.testing.assert_allclose(across, 600 * curve["step"] / last, atol=0.01)
        scale = np.log(series) if name == "loss" and "log" in page.inner_text(".curve-legend") else series
        ends = scale.argmin(), scale.argmax()
        share = (scale - scale[ends[0]]) / (np.ptp(scale) or 1.0)
        assert up[ends[0]] > up[ends[1]] or np.ptp(scale) == 0
        straight = up[ends[0]] + share * (up[ends[1]] - up[ends[0]])
        np.testing.assert_allclose(up, straight, atol=0.02)  # pixels of a line 44 high
    words = page.get_attribute("#scrubber .curve svg", "aria-label")
    assert (
        f"Loss from {format_number(float(own[0]['loss']))} at step {group_digits(int(own[0]['step']))}"
        in words
    )
    assert f"to {format_page_percent(1 - float(own[-1]['argmax_accuracy']))}" in words
    for row in numbers_of(page, "population"):
        ended = [one for one in rows if int(one["seed"]) == row["seed"]][-1]
        assert all(row[name] == float(ended[name]) for name in row if name not in ("seed", "verdict"))
        assert row["verdict"] == (content["proof"]["verdict"] if row["seed"] == data["seed"] else None)


def line_of(page, selector):
    path = page.get_attribute(f"#scrubber {selector}", "d")
    return np.array([[float(number) for number in point.split()] for point in re.split("[ML]", path)[1:]])


@every(RULES)
def test_the_figures_say_the_same(page, target):
    """Embeddings as in figure 05, attention as in figure 13: of the run's own pass, in float32."""
    data, tables = figure("05", target), numbers_of(page, "geometry")
    found = np.array(values(tables, picture="embeddings", item="token"))
    close(found, data["token_table"].ravel())
    tokens = page.evaluate("glassformer.viewOf().tokens")
    found = np.array(values(tables, picture="embeddings", item="token + position")).reshape(len(tokens), -1)
    close(found, [data["sums"][token, place] for place, token in enumerate(tokens)])
    for one in figure("13", target)["sequences"][:2]:
        wait_drawn(page, "attention")
        drawn = page.get_attribute("#panel-attention", "data-draws")
        page.evaluate("input => glassformer.store.set({ input, place: null })", " ".join(one["labels"]))
        page.wait_for_function(
            "wanted => document.querySelector('#panel-attention').dataset.draws !== wanted", arg=drawn
        )
        rows = numbers_of(page, "attention")
        below = np.tril_indices(len(one["labels"]))
        close([row["score"] for row in rows], one["heads"][0]["scores"][below])
        close([row["weight"] for row in rows], one["heads"][0]["weights"][below])


def close(shown, drawn):
    drawn = np.asarray(drawn, float)
    np.testing.assert_allclose(shown, drawn, rtol=0, atol=ROUNDED * max(1.0, np.abs(drawn).max()))


@every(RULES)
def test_the_header(page, target):
    """Counts are those of the model; shares are those of result.json."""
    chips = dict(re.match(r"(\S+)\s+(.+)", text, re.DOTALL).groups()[::-1] for text in chips_of(page))
    measures = json.loads((RUNS / target / "result.json").read_text())["measures"]
    counts = payload(target)["model"]["counts"]
    assert (
        chips["parameters"]
        == group_digits(counts["unique"])
        == group_digits(sum(a.size for a in loaded_of(target).params.values()))
    )
    assert chips.get("learned", chips["parameters"]) == group_digits(counts["learned"])
    for name, label in (("argmax_accuracy", "of {} positions"), ("sampled_error", "wrong of {} sampled")):
        assert chips[label.format(group_digits(measures[name]["positions"]))] == format_page_percent(
            measures[name]["value"]
        )
    floor = measures["entropy_floor"]
    assert chips["loss" if floor is None else f"loss (floor {format_number(floor)})"] == format_number(
        measures["loss"]
    )


def chips_of(page):
    return page.locator("#header .chip").all_inner_texts()
