"""One file from data and modules: what is joined, what is refused, what the policy allows, what a browser makes of it."""

import json
import re
from html import unescape

import pytest

from glassformer.core.theme import THEMES, split_channels
from glassformer.pages import write
from glassformer.pages.modules import join_modules

NASTY = "</script><script>window.bad = 1</script><img src=x onerror='window.bad=2'> \"'` &lt; \u2028\u2029 \udc80 <!-- ${1}"


@pytest.fixture
def own_entry(tmp_path, monkeypatch):
    """A page of a small module of the test's own."""

    def make(source, payload, title="a page"):
        path = tmp_path / "pages" / "assets" / "main.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        monkeypatch.setattr(write, "join_modules", lambda entry: join_modules(entry, tmp_path))
        return write.make_html(payload, title)

    return make


def test_the_payload_comes_back_as_it_was():
    content = {
        "name": NASTY,
        "numbers": [1e-300, 0.1 + 0.2, -0.0, 2**53],
        "none": float("nan"),
        "é": [True, None],
    }
    text = write.embed_payload(content)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == content | {"none": None}


def test_the_policy_allows_the_one_script_and_nothing_else(own_entry):
    text = own_entry("window.ran = 1;", {"name": "x"})
    policy = unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1])
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    script = re.search(r'<script type="module">(.*?)</script>', text, re.S)[1]
    assert rules["script-src"] == f"'sha256-{write.digest_script(script)}'"
    assert rules["img-src"] == "data: blob:"
    assert text.index("Content-Security-Policy") < text.index("<title>")


def test_the_skeleton_has_every_part(own_entry):
    text = own_entry("", {})
    found = re.findall(r'<(?:header|div|main|aside|footer) id="(\w+)"', text)
    assert sorted(found) == ["bar", "footer", "header", "input", "panels", "scrubber", "story"]
    assert text.startswith("<!doctype html>")
    assert '<meta charset="utf-8">' in text
    assert "<noscript>" in text


def test_styles_that_load_or_end_early_are_refused(own_entry, tmp_path, monkeypatch):
    monkeypatch.setattr(write, "ASSETS", tmp_path)
    for text in ("</style>", "@import 'x.css';", "a { background: url(x.png); }"):
        (tmp_path / "style.css").write_text(text)
        with pytest.raises(ValueError, match=r"^the style of pages/assets/main\.js has"):
            own_entry("", {})
    (tmp_path / "style.css").write_text("a { background: url(data:image/png;base64,AA); }")
    assert "base64,AA" in own_entry("", {})


def test_texts_stay_texts_in_a_browser(own_entry, open_page):
    source = """const payload = JSON.parse(document.getElementById("payload").textContent);
document.getElementById("panels").append(payload.name);
window.same = payload.name;
"""
    page = open_page(own_entry(source, {"name": NASTY}, title=NASTY))
    assert page.evaluate("window.same").encode("utf-16", "surrogatepass") == NASTY.encode(
        "utf-16", "surrogatepass"
    )
    assert page.evaluate("window.bad") is None
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    assert page.title().startswith("</script><script>window.bad = 1</script>")


def test_a_second_script_does_not_run(own_entry, open_page):
    text = own_entry("window.first = 1;", {})
    page = open_page(
        text.replace("</body>", "<script>window.bad = 1</script><img src=x onerror='window.bad = 2'></body>")
    )
    page.wait_for_function("() => window.first === 1")
    assert page.evaluate("window.bad") is None
    assert any("Content Security Policy" in problem for problem in open_page.problems)
    open_page.problems.clear()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_first_paint_has_the_colours_of_the_theme(own_entry, open_page, theme):
    """Before any script: a page that is looked at in the dark does not flash."""
    page = open_page(own_entry("", {}), dark=theme == "dark", java_script_enabled=False)
    assert page.locator("noscript").inner_text().startswith("This page computes")
    red, green, blue = split_channels(THEMES[theme].ink)
    assert page.locator("body").evaluate("(e) => getComputedStyle(e).color") == f"rgb({red}, {green}, {blue})"


def test_the_opener_hears_every_problem(open_page):
    page = open_page(
        "<!doctype html><title>x</title><link rel=stylesheet href=a.css><img src='https://example.com/x.png'>"
        "<script>console.error('said'); setTimeout(() => { window.done = 1; }); throw new Error('thrown')</script>"
    )
    page.wait_for_function("() => window.done === 1")
    heard = "\n".join(open_page.problems)
    for word in ("a.css", "asked for https://example.com/x.png", "error: said", "thrown: thrown"):
        assert word in heard
    open_page.problems.clear()
