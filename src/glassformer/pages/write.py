"""One HTML file from a payload: data, script and style are all inside, and nothing is loaded from elsewhere.

>>> embed_payload({"name": "</script>"})
'{"name":"\\\\u003c/script\\\\u003e"}'
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape

from glassformer.core.atomic import replace_nonfinite
from glassformer.core.theme import THEMES
from glassformer.pages.common_part import make_theme_colours
from glassformer.pages.modules import ASSETS, PACKAGE, join_modules

POLICY = (
    "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="glassformer">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<noscript><p>This page computes everything in your browser: it needs JavaScript.</p></noscript>
<header id="header"></header>
<aside id="story"></aside>
<div id="bar" role="region" aria-label="Input and checkpoint">
<div id="input"></div><div id="scrubber"></div>
</div>
<main id="panels"></main>
<footer id="footer"></footer>
<script type="application/json" id="payload">{payload}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def make_html(payload: Mapping[str, object], title: str, entry: str = "pages/assets/main.js") -> str:
    """The whole page: what the payload holds, shown by the module `entry` of the package."""
    script = f"\n{join_modules(entry)}"
    return TEMPLATE.format(
        policy=escape(POLICY.format(digest=digest_script(script))),
        title=escape(_replace_unencodable(title)),
        style=make_style(entry),
        payload=embed_payload(payload),
        script=script,
    )


def embed_payload(payload: Mapping[str, object]) -> str:
    """JSON that no parser of HTML can mistake for a tag; numbers that JSON does not know become null."""
    text = json.dumps(
        replace_nonfinite(payload), allow_nan=False, separators=(",", ":")
    )  # ASCII: U+2028 is escaped
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def digest_script(script: str) -> str:
    """The hash by which the policy allows the page's script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _replace_unencodable(text: str) -> str:
    """The text, with ? for what UTF-8 cannot encode; a file name may have that."""
    return text.encode("utf-8", "replace").decode()


def make_style(entry: str) -> str:
    """The colours of the first paint, the style of all pages, and that of this one where it has its own."""
    sheets = [ASSETS / "style.css", PACKAGE / entry.replace(".js", ".css")]
    texts = [sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists()]
    text = "\n".join([_make_first_paint(), *texts])
    if found := re.search(r"</style|@import|url\((?!['\"]?data:)", text, re.I):
        raise ValueError(f"the style of {entry} has '{found[0]}': it would end early, or load something")
    return text


def _make_first_paint() -> str:
    """The colours of both themes as variables, before any script has run, and those of paper."""
    light, dark = _format_theme_variables("light"), _format_theme_variables("dark")
    printed = f"--print-paper: {THEMES['print'].paper}; --print-line: {THEMES['print'].line};"
    page = "html { background: var(--paper); color: var(--ink); }"
    return (
        f":root {{ {light} {printed} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{page}"
    )


def _format_theme_variables(theme: str) -> str:
    colours = make_theme_colours(theme)
    return " ".join(f"--{name}: {colours[name]};" for name in colours if name not in ("name", "tint"))
