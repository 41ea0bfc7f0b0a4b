"""The kit in a real browser: panels, tooltips, files, print, and colours that can be read."""

import csv
import io
import json
import math
import re
import struct
from dataclasses import asdict
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from glassformer.core.theme import INTEGERS, THEMES, compute_luminance, mix_colours, pick_text_colour

from .kit_page import kit_html

SVG = "{http://www.w3.org/2000/svg}"
READABLE = 4.5  # WCAG AA for text
VISIBLE = 3.0  # WCAG AA for the borders of controls
CONTRASTS = """() => {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const hex = () => "#" + [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c.toString(16).padStart(2, "0")).join("");
  const behind = (element) => {
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.unshift(getComputedStyle(each).backgroundColor);
    for (const colour of ["white", ...chain]) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
    return hex();
  };
  const front = (colour) => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); return hex(); };
  const own = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.body.querySelectorAll(":not(svg, svg *, script, noscript *)")]
    .filter((each) => own(each) && each.checkVisibility())
    .map((each) => [each.textContent.trim().slice(0, 40), front(getComputedStyle(each).color), behind(each)]);
}"""


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    return kit_html(tmp_path_factory.mktemp("kit"))


@pytest.fixture
def kit(open_page, html):
    """Opens the kit's page, whole; its one broken panel is the only thing that may be complained of."""

    def opened(drawn=True, **options):
        page = open_page(html, **options)
        page.wait_for_selector("#panel-curves[data-draws]")
        if drawn:
            page.evaluate("kit.drawAll()")
        return page

    open_page.expected = "no such intermediate"
    return opened


def saved(page, panel, form):
    """The name and the bytes of a file that a panel's menu gives."""
    page.locator(f"#panel-{panel} .menu summary").click()
    with page.expect_download() as waiting:
        page.locator(f"#panel-{panel} [data-format={form}]").click()
    download = waiting.value
    return download.suggested_filename, download.path().read_bytes()


def redrawn(page, panel, change):
    """Change the state and wait until the panel is drawn anew."""
    before = page.locator(f"#panel-{panel}").get_attribute("data-draws")
    page.evaluate(f"kit.store.set({change})")
    page.wait_for_selector(f"#panel-{panel}:not([data-draws='{before}'])")


def test_a_png_is_three_times_the_picture_on_paper(kit):
    page = kit(dark=True)
    name, data = saved(page, "plane", "PNG")
    assert name == "kit_demo-plane.png"
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    size = struct.unpack(">II", data[16:24])
    shown = page.locator("#panel-plane svg").first.bounding_box()
    assert size == (3 * (round(shown["width"]) + 32), 3 * (round(shown["height"]) + 32))
    read = """async (bytes) => {
      const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], {type: "image/png"}));
      const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
      pen.drawImage(image, 0, 0);
      const {data} = pen.getImageData(0, 0, image.width, image.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) + (data[i + 1] << 8) + data[i + 2]);
      return {corner: [...data.slice(0, 4)], colours: [...seen]};
    }"""
    got = page.evaluate(read, list(data))
    assert got["corner"] == [0x14, 0x18, 0x1D, 255]
    assert int(INTEGERS[3][1:], 16) in got["colours"]


def test_an_svg_stands_alone(kit):
    name, data = saved(kit(), "small", "SVG")
    root = ElementTree.fromstring(data)
    assert name == "kit_demo-small.svg"
    assert root.tag == f"{SVG}svg" and root[0].get("fill") == THEMES["light"].paper
    assert "0.18" in [text.text for text in root.iter(f"{SVG}text")]
    assert not [key for each in root.iter() for key in each.attrib if key in ("class", "tabindex", "style")]
    assert data.count(b"http") == data.count(b"http://www.w3.org/2000/svg")


def test_several_pictures_and_a_bare_table_make_one_svg(kit):
    page = kit()
    both = ElementTree.fromstring(saved(page, "pair", "SVG")[1])
    assert {"left", "right"} <= {text.text for text in both.iter(f"{SVG}text")}
    table = ElementTree.fromstring(saved(page, "words", "SVG")[1])
    assert [text.text for text in table.iter(f"{SVG}text")] == ["name", "value", "attn.q", "0.25"]


def test_csv_and_json_lose_nothing(kit):
    page = kit()
    rows = list(csv.reader(io.StringIO(saved(page, "curves", "CSV")[1].decode(), newline="")))
    assert rows[0] == ["step", 'loss, "train"']
    assert [int(step) for step, _ in rows[1:]] == [50 * i + 1 for i in range(60)]
    losses = [3 * math.exp(-i / 9) + 0.001 for i in range(60)]
    assert [float(loss) for _, loss in rows[1:]] == pytest.approx(losses, rel=1e-15)
    table = json.loads(saved(page, "pair", "JSON")[1])
    assert table == {"columns": ["a"], "rows": [["NaN"], [None], [0.1 + 0.2]]}


def test_a_panel_that_throws_says_so_and_stops_no_other(kit):
    page = kit()
    assert (
        page.locator("#panel-broken p.failed").inner_text()
        == "This panel could not be drawn: no such intermediate."
    )
    assert page.locator("#panel-broken .menu").is_hidden()
    assert page.locator("#panels .panel > figure > svg").count() == 5
    redrawn(page, "broken", "{broken: false}")
    assert page.locator("#panel-broken p.failed").count() == 0
    assert (
        page.locator("#panel-broken svg path:not([shape-rendering])").count() == 1
    )  # the others are the grid


def test_a_panel_without_data_says_why(kit):
    page = kit()
    assert (
        page.locator("#panel-absent figure").inner_text()
        == "This run has no population: it trained one seed."
    )
    assert page.locator("#panel-absent .menu").is_hidden()


def test_only_panels_near_the_window_are_drawn(kit):
    page = kit(drawn=False, width=390, height=500)
    last = page.locator("#panel-bars")
    assert last.get_attribute("data-draws") is None
    last.scroll_into_view_if_needed()
    page.wait_for_selector("#panel-bars[data-draws] svg")
    assert page.locator("#panel-bars figure").get_attribute("aria-label") == "500 margins"


def test_a_picture_is_as_wide_as_its_card(kit):
    page = kit()
    page.set_viewport_size({"width": 700, "height": 900})
    fits = "() => { const f = document.querySelector('#panel-curves figure'); return f.querySelector('svg').clientWidth === f.clientWidth - 4; }"
    page.wait_for_function(fits)
    assert page.locator("#panel-curves figure svg").first.bounding_box()["width"] > 580


def test_focus_and_a_kept_element_survive_a_redraw(kit):
    page = kit()
    page.locator("[data-key=step2]").focus()
    page.evaluate("window.slider = document.getElementById('slider')")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-key=step2][aria-pressed=true]")
    assert page.evaluate("document.activeElement.dataset.key") == "step2"
    redrawn(page, "words", "{step: 1}")
    assert page.evaluate("window.slider.isConnected")


def test_a_tooltip_opens_by_keyboard_and_escape_closes_it(kit):
    page = kit()
    page.locator("#panel-curves .menu summary").focus()
    page.keyboard.press("Tab")
    tip = page.locator("#tip")
    assert tip.is_visible() and tip.locator("strong").inner_text() == "step 151"
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "tip"
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.locator("#cursor").hover()
    assert tip.is_visible()
    page.mouse.move(2, 2)
    assert tip.is_hidden()


def test_the_cells_of_a_matrix_are_one_tab_stop(kit):
    page = kit()
    here = "document.activeElement.dataset.key ?? document.activeElement.tagName"
    page.locator("#panel-small .menu summary").focus()
    page.keyboard.press("Tab")
    seen = [page.evaluate(here)]
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home"):
        page.keyboard.press(key)
        seen.append(page.evaluate(here))
    assert seen == ["0,0", "1,0", "1,1", "1,1", "1,0", "7,7", "0,0"]
    page.keyboard.press("Tab")
    assert page.evaluate(here) == "SUMMARY"


@pytest.mark.parametrize("width", [390, 1280])
def test_a_tooltip_never_leaves_the_window(kit, width):
    page = kit(width=width, height=600)
    for place in ("0,0", "0,19", "19,0", "19,19"):
        page.locator(f"#panel-large [data-key='{place}']").focus()
        box = page.locator("#tip").bounding_box()
        assert box["x"] >= 0 and box["y"] >= 0
        assert box["x"] + box["width"] <= width and box["y"] + box["height"] <= 600


def test_a_touch_opens_a_tooltip_until_the_next(kit):
    page = kit(width=390, has_touch=True)
    page.locator("#cursor").tap()
    assert page.locator("#tip").is_visible()
    page.locator("#panel-curves h2").tap()
    assert page.locator("#tip").is_hidden()


def test_a_phone_never_scrolls_sideways_but_a_wide_matrix_may(kit):
    page = kit(width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("#panel-large > .hint").is_visible()
    assert page.locator("#panel-small > .hint").is_hidden()
    assert page.evaluate("document.querySelector('#panel-large figure').scrollWidth") > 390
    sizes = page.evaluate(
        "[...document.querySelectorAll('input[type=text], select')].map((e) => getComputedStyle(e).fontSize)"
    )
    assert sizes == ["16px"]


def test_print_is_light_whole_and_without_controls(kit):
    page = kit(drawn=False, dark=True)
    assert page.locator("#panel-curves svg").first.get_attribute("fill") == THEMES["dark"].ink
    page.emulate_media(media="print")
    page.wait_for_selector("#panel-bars[data-draws]")
    assert page.locator("#panel-curves svg").first.get_attribute("fill") == THEMES["light"].ink
    assert page.locator("button:visible, summary:visible, input[type=range]:visible").count() == 0
    broken = "[...document.querySelectorAll('.panel')].map((e) => getComputedStyle(e).breakInside)"
    assert set(page.evaluate(broken)) == {"avoid"}
    page.emulate_media(media="screen")
    page.wait_for_selector(f"#panel-curves svg[fill='{THEMES['dark'].ink}']")


def test_the_theme_follows_the_system_until_one_is_chosen(kit):
    page = kit()
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector(f":root[data-theme=dark] #panel-curves svg[fill='{THEMES['dark'].ink}']")
    redrawn(page, "curves", "{theme: 'light'}")
    assert page.locator("#panel-curves svg").first.get_attribute("fill") == THEMES["light"].ink
    assert (
        page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')") == "#ffffff"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read(kit, theme):
    page = kit(hash=f"theme={theme}")
    page.locator("#panel-pair .menu summary").click()
    pairs = page.evaluate(CONTRASTS)
    assert len(pairs) > 40 and len({behind for _, _, behind in pairs}) > 8
    assert [each for each in pairs if contrast(each[1], each[2]) < READABLE] == []
    colours = asdict(THEMES[theme])
    for name in ("ink", "muted", "good", "bad", "accent"):
        assert contrast(colours[name], colours["paper"]) >= READABLE
    border = page.locator("#input .field").evaluate("(field) => getComputedStyle(field).borderTopColor")
    edge = "#" + "".join(f"{int(channel):02x}" for channel in re.findall(r"\d+", border))
    assert contrast(edge, colours["paper"]) >= VISIBLE


def test_colours_are_those_of_the_figures(kit):
    page = kit()
    for one, two in pairwise(INTEGERS):
        assert page.evaluate("([a, b]) => kit.mix(a, b, 0.3)", [one, two]) == mix_colours(one, two, 0.3)
        assert page.evaluate("(a) => kit.inkOn(a)", one) == pick_text_colour(one)
        assert page.evaluate("([a, b]) => kit.contrast(a, b)", [one, two]) == pytest.approx(
            contrast(one, two)
        )


def test_ticks_are_round_and_bars_part_the_signs(kit):
    page = kit()
    assert page.evaluate("kit.niceTicks(-0.31, 0.92, 6)") == [-0.2, 0, 0.2, 0.4, 0.6, 0.8]
    assert page.evaluate("kit.niceTicks(0, 3000, 5)") == [0, 500, 1000, 1500, 2000, 2500, 3000]
    assert page.evaluate("kit.logTicks(0.001, 4, 5)") == [0.001, 0.01, 0.1, 1]
    assert page.evaluate("kit.logTicks(1, 30, 5)") == [1, 2, 5, 10, 20]
    assert page.evaluate("kit.extent([2, NaN, 4, Infinity], 0.5)") == [1, 5]
    bins = page.evaluate("kit.binned([-1e-12, 0, 0.3, -0.7, 2, 2], 7, [-0.7, 2])")
    assert bins["step"] == 0.5 and bins["from"] == [-1, -0.5, 0, 0.5, 1, 1.5, 2]
    assert bins["counts"] == [1, 1, 2, 0, 0, 0, 2]


@pytest.mark.parametrize("width", [390, 1280])
def test_labels_keep_apart(kit, width):
    page = kit(width=width)
    boxes = """(panel) => [...document.querySelectorAll(`#panel-${panel} figure text`)].map((text) => {
      const {left, top, right, bottom} = text.getBoundingClientRect();
      return [text.textContent, left, top + 3, right, bottom - 3];
    })"""
    for panel in ("curves", "plane", "bars"):
        frames = page.evaluate(boxes, panel)
        assert len(frames) > 6
        assert [(a[0], b[0]) for i, a in enumerate(frames) for b in frames[:i] if overlap(a, b)] == []


def overlap(one, two):
    _, left, top, right, bottom = one
    return left < two[3] and two[1] < right and top < two[4] and two[2] < bottom


def contrast(one, two):
    """WCAG's contrast of two colours, 1 to 21."""
    low, high = sorted((compute_luminance(one), compute_luminance(two)))
    return (high + 0.05) / (low + 0.05)
