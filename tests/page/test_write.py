"""One file from data and modules: what is joined, what is refused, what the policy allows, what a browser makes of it."""

import json
import re
from html import unescape

import pytest

from glassformer.draw.theme import THEMES, channels
from glassformer.page import write
from glassformer.page.modules import ASSETS, ModuleError, join_modules
from glassformer.page.scan import code_alone, outermost

NASTY = "</script><script>window.bad = 1</script><img src=x onerror='window.bad=2'> \"'` &lt; \u2028\u2029 \udc80 <!-- ${1}"


@pytest.fixture
def joined(tmp_path):
    """Writes modules and joins them: joined(main="...", dom="...")."""

    def join(**sources):
        for name, source in sources.items():
            path = tmp_path / f"{name.replace('__', '/')}.js"
            path.parent.mkdir(exist_ok=True)
            path.write_text(source)
        return join_modules("main.js", tmp_path)

    return join


@pytest.fixture
def own_entry(tmp_path, monkeypatch):
    """A page of a small module of the test's own."""

    def make(source, payload, title="a page"):
        (tmp_path / "main.js").write_text(source)
        monkeypatch.setattr(write, "join_modules", lambda entry: join_modules(entry, tmp_path))
        return write.html(payload, title)

    return make


def test_modules_come_once_and_before_what_needs_them(joined):
    text = joined(
        main='import { a } from "./a.js";\nimport {\n  b,\n  B,\n} from "./panels/b.js";\n\nrun(a, b, B);\n',
        a='import { c } from "./c.js";\nexport const a = c;\n',
        panels__b='import { a } from "../a.js";\nexport function b() {\n  return a;\n}\nexport class B {}\n',
        c="export const c = 3;\n",
    )
    assert [line[3:] for line in text.splitlines() if line.startswith("// ")] == [
        "c.js",
        "a.js",
        "panels/b.js",
        "main.js",
    ]
    assert not re.search(r"\b(import|export)\b", text)
    assert "const a = c;" in text
    assert text.rstrip().endswith("run(a, b, B);")


@pytest.mark.parametrize(
    ("sources", "sentence"),
    [
        ({"main": 'import x from "./x.js";'}, r"main\.js: 'import x from .*' cannot be joined"),
        ({"main": 'import * as x from "./x.js";'}, r"main\.js: 'import \* as x"),
        ({"main": 'import "./x.js";'}, r"main\.js: 'import"),
        ({"main": 'const x = await import("./x.js");'}, r"main\.js: 'import\("),
        ({"main": "const at = import.meta.url;"}, r"main\.js: 'import\.meta"),
        ({"main": "export default 3;"}, r"main\.js: 'export default 3;'"),
        ({"main": "const a = 1;\nexport { a };"}, r"main\.js: 'export \{ a \};'"),
        ({"main": 'export * from "./x.js";'}, r"main\.js: 'export \*"),
        (
            {"main": 'import { a as b } from "./x.js";', "x": "export const a = 1;"},
            "'a as b' from x.js; a name cannot be changed",
        ),
        (
            {"main": 'import { b } from "./x.js";', "x": "export const a = 1;\nconst b = 2;"},
            "imports b from x.js, which does not export it",
        ),
        (
            {"main": 'import { a } from "./x.js";\nfunction a() {}', "x": "export const a = 1;"},
            "a is declared in x.js and in main.js",
        ),
        (
            {"main": 'import { a } from "./x.js";\nlet h = 1;', "x": "const h = 2;\nexport const a = h;"},
            "h is declared in x.js and in main.js",
        ),
        (
            {
                "main": 'import { a } from "./x.js";',
                "x": 'import { b } from "./y.js";\nexport const a = 1;',
                "y": 'import { a } from "./x.js";\nexport const b = 1;',
            },
            r"in a circle: main\.js > x\.js > y\.js > x\.js",
        ),
        ({"main": 'import { a } from "./gone.js";'}, r"there is no module gone\.js, which main\.js imports"),
        (
            {"main": 'import { a } from "https://example.com/x.js";'},
            'imports "https://example.com/x.js"; only',
        ),
        ({"main": 'import { a } from "../x.js";'}, "outside the assets"),
        ({"main": 'const text = "</SCRIPT>";'}, "'</SCRIPT' would end the script"),
        ({"main": 'const text = "<!-- x";'}, "'<!--' would end the script"),
    ],
)
def test_what_cannot_be_joined_is_refused(joined, sources, sentence):
    with pytest.raises(ModuleError, match=sentence):
        joined(**sources)


def test_a_name_inside_a_function_is_its_own(joined):
    text = joined(
        main='import { a } from "./x.js";\nfunction f() {\n  const h = 1;\n  return h + a;\n}\n{\n  const a2 = 1;\n}\n',
        x="const h = 2;\nexport const a = h;\nexport const { length } = [(x) => {\nconst h = x;\n}];\n",
    )
    assert text.count("const h = ") == 3


def test_words_in_comments_texts_and_patterns_are_no_code(joined):
    source = """/** @param {import("./types.js").Tensor} t */
const a = "import { x } from 'y'; export default"; // export default
const b = `export ${ { c: `import ${1}` }.c } import "z"`;
const c = /["'`]export default/.test("x") ? 4 / 2 / 1 : 'it\\'s import * as';
/* export default 3;
import x from "y"; */
"""
    assert joined(main=source) == f"// main.js\n{source}"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("a // b\nc", "a /   \nc"),
        ('f("a\\"b", \'c"d\');', "f(\"    \", '   ');"),
        ("x = `a${b + `c${d}`}e`;", "x = `  {b + `  {d}`} `;"),
        ("y = a / b / c;", "y = a / b / c;"),
        ('y = /[/"]/g; z', "y = /     g; z"),
        ("a /* 'b */ c", "a /        c"),
    ],
)
def test_code_alone_keeps_every_place(source, code):
    assert code_alone(source) == code


def test_every_entry_of_the_assets_can_be_joined():
    for entry in sorted(ASSETS.glob("*main.js")):
        assert join_modules(entry.name)


def test_every_module_of_the_assets_belongs_to_a_page():
    """types.js is for readers and checkers alone."""
    text = "\n".join(join_modules(entry.name) for entry in ASSETS.glob("*main.js"))
    names = {path.relative_to(ASSETS).as_posix() for path in ASSETS.rglob("*.js")} - {"types.js"}
    assert {name for name in names if f"// {name}\n" not in text} == set()


def test_nothing_in_the_assets_writes_html_or_loads_anything():
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|document\.write|\bfetch\(|XMLHttpRequest|WebSocket|importScripts|sendBeacon"
    for path in ASSETS.rglob("*.js"):
        code = code_alone(path.read_text())
        assert not re.search(forbidden, code), path.name
        addresses = re.findall(r"https?://[^\s\"'`)]+", path.read_text())
        assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}, path.name


def test_outermost_code_has_nothing_nested():
    assert outermost("a = [b, (c)]; { d } e") == "a = [   ( )]; {   } e"


def test_the_payload_comes_back_as_it_was():
    content = {
        "name": NASTY,
        "numbers": [1e-300, 0.1 + 0.2, -0.0, 2**53],
        "none": float("nan"),
        "é": [True, None],
    }
    text = write.embedded(content)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == content | {"none": None}


def test_the_policy_allows_the_one_script_and_nothing_else(own_entry):
    text = own_entry("window.ran = 1;", {"name": "x"})
    policy = unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1])
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    script = re.search(r'<script type="module">(.*?)</script>', text, re.S)[1]
    assert rules["script-src"] == f"'sha256-{write.digest(script)}'"
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
        with pytest.raises(ValueError, match=r"^the style of main\.js has"):
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
    red, green, blue = channels(THEMES[theme].ink)
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
