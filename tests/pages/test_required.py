"""What every page must show and do, for one model of each kind: runs with a past, and adders of the zoo."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from glassformer.core.atomic import read_arrays
from glassformer.models.adding import write_sum
from glassformer.pages.words import format_number, group_digits
from glassformer.proofs.contexts import NOTHING, tabulate_demands
from glassformer.runs.history import read_history
from glassformer.tasks import Addition, tabulate_automaton

from .pages import RUNS, SHOWN, first, page_of, payload, wait_drawn
from .tables import exact, loaded_of

RULES = ("plus_last_even", "lucky7", "step_back")
ADDERS = ("microadder-57", "nanogpt-58", "tinyadder-95", "rope-62")
REFUTED = ("lucky7", "nanogpt-58", "tinyadder-95")
PANELS = {
    "rule": ["prediction", "geometry", "attention", "parameters", "proof", "population"],
    "adder": [
        *("digits", "numberline", "prediction", "attention", "geometry", "parameters", "proof", "population"),
    ],
}
PICTURES = ["embeddings", "queries and keys", "values", "hinges", "residual stream"]
# A panel that each page saves in every format: together they are all of them.
SAVED = {
    "plus_last_even": "geometry",
    "lucky7": "proof",
    "step_back": "population",
    "microadder-57": "digits",
    "nanogpt-58": "numberline",
    "tinyadder-95": "attention",
    "rope-62": "parameters",
}
TEXTS = {  # of a part of the page, as a reader sees it
    "header": "#header h1",
    "badge": "#badge",
    "input": "#answer",
    "scrubber": "#scrubber",
    "story": "#story .text",
    "footer": "#footer",
}


@pytest.fixture
def page(target, shared_page):
    found = shared_page(page_of(target))
    wait_drawn(found, panels_of(target)[-1])
    return found


def panels_of(target: str) -> list[str]:
    return PANELS["rule" if target in RULES else "adder"]


def every(targets):
    return pytest.mark.parametrize("target", targets)


def wait_for(page, condition: str, arg: Any = None) -> None:
    page.wait_for_function(f"wanted => {condition}", arg=arg)


def told(page, selector: str, words: str) -> None:
    """Waits for a text."""
    page.wait_for_function(
        "([selector, words]) => document.querySelector(selector).textContent.includes(words)",
        arg=[selector, words],
    )


def as_read(text: str) -> str:
    """A text of the payload as the page shows it: code without its marks, powers raised."""
    raised = re.sub(
        r"\^(\d+)", lambda found: found[1].translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")), text
    )
    return raised.replace("`", "")


def error_of(target: str, params: dict[str, np.ndarray]) -> tuple[int, int]:
    """How many of the page's test inputs the model gets wrong with these numbers, by NumPy."""
    from glassformer.pages.pack import unpack_array

    model, test = exact(target, params), payload(target)["test"]
    tokens = unpack_array(test["tokens"])
    logits = model.logits(tokens).astype(np.float64)
    if isinstance(loaded_of(target).task, Addition):
        answers = unpack_array(test["answers"])
        right = (logits[:, -len(answers) :].argmax(0) == answers).all(0)
    else:
        lengths, allowed = unpack_array(test["lengths"]), unpack_array(test["allowed"]).astype(bool)
        last = logits[:, lengths - 1, np.arange(len(lengths))]
        right = np.where(allowed, last, -np.inf).max(0) > np.where(allowed, -np.inf, last).max(0)
    return int((~right).sum()), len(right)


def assert_answer(page, target: str, params: dict[str, np.ndarray]) -> None:
    """What stands beside the input is what NumPy makes of it."""
    model, task, text = exact(target, params), loaded_of(target).task, page.evaluate(f"{SHOWN}.input")
    if isinstance(task, Addition):
        a, b = (int(number) for number in text.split("+"))
        found = write_sum(model, task, a, b)
        told(page, "#answer .sum", str(found.got))
        told(page, "#answer .answer-words", "✓ right" if found.right else f"✗ wrong, the sum is {a + b}")
        return
    automaton = tabulate_automaton(task)
    tokens, demands = automaton.ids(text), tabulate_demands(automaton)
    logits = model.forward(tokens)[-1]
    told(page, "#answer .token.next", automaton.tokens[int(logits.argmax())])
    asked = int(demands.of(tokens[None], whole=len(tokens) == model.architecture.context)[0])
    if asked == NOTHING:
        told(page, "#answer .answer-words", "nothing demanded")
        return
    may = demands.allowed[asked]
    margin = float(logits[may].max() - logits[~may].max())
    told(page, "#answer .answer-words", "✓ right" if margin > 0 else "✗ wrong")
    told(page, "#answer .answer-words", f"margin {format_number(margin)}")


@every(RULES + ADDERS)
def test_every_part_is_there_and_says_something(page, target):
    content = payload(target)
    for part, selector in TEXTS.items():
        assert page.locator(selector).first.inner_text().strip(), part
    assert page.locator("#header h1").inner_text() == target
    assert page.locator("#header .chip").count() >= 2
    found = page.evaluate("() => [...document.querySelectorAll('.panel')].map(one => one.id.slice(6))")
    assert found == panels_of(target)
    assert page.locator(".panel.failed").count() == 0
    missing = page.evaluate("() => [...document.querySelectorAll('.panel.missing')].map(one => one.id)")
    assert missing == ([] if target in RULES else ["panel-population"])
    assert page.locator("#scrub").count() == page.locator("#population-seed").count() == (target in RULES)
    for panel in set(found) - {"population"} if missing else set(found):
        assert page.inner_text(f"#panel-{panel} .about"), panel
        assert page.get_attribute(f"#panel-{panel} figure", "aria-label"), panel
        assert page.locator(f"#panel-{panel} figure svg").count() > 0, panel
    pictures = page.evaluate(
        "() => [...document.querySelectorAll('[data-picture]')].map(p => p.dataset.picture)"
    )
    assert pictures == PICTURES
    assert page.inner_text("#story .text") == as_read(content["story"][0]["text"])


@every(RULES + ADDERS)
def test_the_badge_and_the_first_input_are_the_proofs(page, target):
    proof, start = payload(target)["proof"], payload(target)["start"]["input"]
    words = page.inner_text("#badge")
    if target in REFUTED:
        assert words.startswith("✗\nRefuted: ") and proof["counterexample"]["input"] == start
    else:
        assert words.startswith("✓\nProved on all ") and proof["hardest"]["input"] == start
        assert f"smallest margin {format_number(proof['smallest_margin'])}" in words
    assert page.evaluate(f"{SHOWN}.input") == start
    assert proof["arithmetic"] in words
    assert_answer(page, target, loaded_of(target).params)
    if target == "nanogpt-58":
        assert start == "0+9000" and "0 + 9000 gives 15000, not 9000" in words


@first(RULES + ADDERS)
def test_typing_an_input(page, target):
    params = loaded_of(target).params
    if target in RULES:
        page.fill("#input-text", "4 7 3")
    else:
        page.fill("#input-a", "57")
        page.fill("#input-b", "68")
    wait_for(page, f"{SHOWN}.input === wanted", "4 7 3" if target in RULES else "57+68")
    assert_answer(page, target, params)


@every(ADDERS)
def test_stepping_through_the_digits(page, target):
    task, text = loaded_of(target).addition, page.evaluate(f"{SHOWN}.input")
    found = write_sum(exact(target), task, *(int(number) for number in text.split("+")))
    first = task.written().prompt_length - 1
    page.locator("#panel-digits").scroll_into_view_if_needed()
    page.evaluate("place => glassformer.store.set({ place })", first)
    for step, digit in enumerate(found.digits):
        wait_for(page, "glassformer.viewOf().place === wanted", first + step)
        told(
            page,
            "#panel-digits .digit-reading",
            f"{step + 1} of {len(found.digits)}, at position {first + step}",
        )
        told(page, "#panel-digits .digit-reading", digit.label)
        if found.right:
            told(page, "#panel-digits .digit-reading", format_number(digit.margin))
        column = f"Number line of column {digit.place} of"
        wait_for(
            page, "document.querySelector('#panel-numberline figure').ariaLabel.startsWith(wanted)", column
        )
        if step + 1 < len(found.digits):
            page.get_by_role("button", name="next digit").click()


@every(RULES)
def test_scrubbing_by_key_and_by_mouse(page, target):
    history = read_history(RUNS / target)
    steps = [int(step) for step in history.steps]

    def assert_at(index):
        wait_for(page, f"{SHOWN}.step === wanted", None if index is None else steps[index])
        params = loaded_of(target).params if index is None else history.at(index)
        wrong, total = error_of(target, params)
        told(page, "#live-error", f"{group_digits(wrong)} of {group_digits(total)} test inputs wrong")
        assert_answer(page, target, params)

    page.focus("#scrub")
    for key, index in (("Home", 0), ("ArrowRight", 1), ("End", None), ("ArrowLeft", len(steps) - 1)):
        page.keyboard.press(key)
        assert_at(index)
    box = page.locator("#scrub").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] - 8, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, middle, steps=3)
    page.mouse.up()
    half = page.evaluate(f"{SHOWN}.step")
    assert steps[2] < half < steps[-2]
    assert_at(steps.index(half))


@first(RULES + ADDERS)
def test_dragging_a_parameter_and_resetting(page, target):
    params = {name: np.asarray(array, np.float64) for name, array in loaded_of(target).params.items()}
    wrong, total = error_of(target, params)
    told(page, ".parameter-test", f"right on {total - wrong} of {total}")
    cell = page.locator("#panel-parameters .parameter-cell").first
    cell.scroll_into_view_if_needed()
    key, box = cell.get_attribute("data-key"), cell.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 120, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    wait_for(page, f"{SHOWN}.changes[wanted] !== undefined", key)
    name, _, place = key.removesuffix("]").partition("[")
    where = tuple(int(index) for index in place.split(",")) if place else ()
    changed = params | {name: params[name].copy()}
    changed[name][where] = page.evaluate(f"key => {SHOWN}.changes[key]", key)
    assert changed[name][where] != params[name][where]
    wrong, _ = error_of(target, changed)
    told(page, ".parameter-test", f"right on {total - wrong} of {total}")
    assert_answer(page, target, changed)
    told(page, "#header .changed", "changed: 1 parameter")
    told(page, "#badge", "not the one shown")
    page.click(".parameter-undo")
    wait_for(page, f"Object.keys({SHOWN}.changes).length === 0")
    assert_answer(page, target, params)
    wait_for(page, "!document.querySelector('#badge').textContent.includes('not the one shown')")


@first(RULES + ADDERS)
def test_clicking_a_worst_case(page, target):
    worst = page.locator(".worst-input").nth(1)
    example = next(one for one in payload(target)["proof"]["worst"][1:2])
    worst.click()
    wait_for(page, f"{SHOWN}.input === wanted", example["input"])
    page.wait_for_selector(".worst-input[aria-pressed=true]")
    assert_answer(page, target, loaded_of(target).params)


@every(RULES)
def test_choosing_a_seed(page, target):
    arrays, _ = read_arrays(RUNS / target / "population.safetensors")
    seeds = arrays.pop("seed").tolist()
    for seed in [one for one in seeds if one != payload(target)["population"]["best_seed"]][-2:]:
        page.select_option("#population-seed", str(seed))
        wait_for(page, f"{SHOWN}.seed === wanted", seed)
        told(page, "#header .changed", f"seed {seed} is shown")
        assert_answer(page, target, {name: array[seeds.index(seed)] for name, array in arrays.items()})
    told(page, "#badge", "not the one shown")
    page.select_option("#population-seed", str(payload(target)["population"]["best_seed"]))
    wait_for(page, f"{SHOWN}.seed === null")


@first(RULES + ADDERS)
def test_a_link_shows_what_its_sender_saw(open_page, target):
    content = payload(target)
    text = "1 4 7 3" if target in RULES else "99+1"
    name = content["model"]["parameters"][0]["name"]
    key = f"{name}[{','.join('0' for _ in content['model']['parameters'][0]['shape'])}]"
    state = {"input": text, "place": 2 if target in RULES else 24, "panel": "attention", "theme": "dark"}
    state |= {"chosen": key, "changes": {key: 0.5}}
    if target in RULES:
        state["step"] = content["training"]["steps"][1]
    sent = open_page(page_of(target))
    sent.evaluate("state => glassformer.store.set(state)", state)
    link = sent.evaluate("() => glassformer.store.link()")
    page = open_page(page_of(target), hash=link.partition("#")[2])
    assert {name: page.evaluate(SHOWN)[name] for name in state} == state
    page.wait_for_selector("#panel-attention.pointed", state="attached")
    params = read_history(RUNS / target).at(1) if target in RULES else loaded_of(target).params
    changed = {one: np.asarray(array, np.float64).copy() for one, array in params.items()}
    changed[name][(0,) * changed[name].ndim] = 0.5
    assert_answer(page, target, changed)


@first(RULES + ADDERS)
def test_saving_a_picture_and_its_numbers(page, target, tmp_path):
    panel, files = SAVED[target], dict[str, Path]()
    for form in ("PNG", "SVG", "CSV", "JSON"):
        page.locator(f"#panel-{panel} .menu summary").click()
        with page.expect_download() as download:
            page.locator(f"#panel-{panel} [data-format={form}]").click()
        files[form] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[form])
        assert files[form].name == f"{target}-{panel}.{form.lower()}"
    assert all(low < high for low, high in Image.open(files["PNG"]).convert("RGB").getextrema())
    assert files["SVG"].read_text().startswith(("<svg", "<?xml")) and "http" not in files[
        "SVG"
    ].read_text().replace("http://www.w3.org/", "")
    table = json.loads(files["JSON"].read_text())
    rows = list(csv.reader(files["CSV"].read_text(encoding="utf-8").splitlines()))
    assert rows[0] == table["columns"] and len(rows) == 1 + len(table["rows"]) > 1


@first(RULES + ADDERS)
def test_the_story_goes_on_with_space(page, target):
    chapters = payload(target)["story"]
    assert len(chapters) >= 5
    page.locator("h1").click()
    for number, chapter in enumerate(chapters):
        page.keyboard.press("Space")
        wait_for(page, f"{SHOWN}.chapter === wanted", number)
        told(page, "#story .title", chapter["title"])
        page.wait_for_selector(f"#panel-{chapter['panel']}.pointed")
        assert page.inner_text("#story .text") == as_read(chapter["text"])
        for key, value in chapter["state"].items():
            assert page.evaluate(f"key => {SHOWN}[key]", key) == value
    page.keyboard.press("Space")
    wait_for(page, f"{SHOWN}.chapter === null")
    assert page.locator(".panel.failed").count() == 0


@first(RULES + ADDERS)
def test_dark_and_light_on_a_phone(page, target):
    """Nothing is wider than a phone, in either theme; what is drawn is in the theme's colours."""
    try:
        page.set_viewport_size({"width": 390, "height": 844})
        for theme in ("Dark", "Light"):
            page.get_by_role("group", name="Colours").get_by_role("button", name=theme).click()
            paper = payload(target)["colours"][theme.lower()]["paper"]
            wait_for(page, "document.documentElement.dataset.theme === wanted", theme.lower())
            wait_drawn(page, "proof")
            wait_for(page, "document.querySelector('#panel-proof svg').outerHTML.includes(wanted)", paper)
            wait_for(page, "document.documentElement.scrollWidth <= 390")
        assert page.locator(".panel.failed").count() == 0
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})
