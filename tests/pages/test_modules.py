"""Modules of a page become one script: what is joined and what is refused."""

import re

import pytest

from glassformer.pages.modules import ASSETS, ModuleError, join_modules


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
            "'a as b' from x.js; an import cannot rename it",
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


def test_every_entry_of_the_assets_can_be_joined():
    for entry in sorted(ASSETS.glob("*main.js")):
        assert join_modules(f"pages/assets/{entry.name}")


def test_every_module_of_the_assets_belongs_to_a_page():
    """types.js is for readers and checkers alone."""
    text = "\n".join(join_modules(f"pages/assets/{entry.name}") for entry in ASSETS.glob("*main.js"))
    names = {path.relative_to(ASSETS).as_posix() for path in ASSETS.rglob("*.js")} - {"types.js"}
    assert {name for name in names if f"// pages/assets/{name}\n" not in text} == set()
