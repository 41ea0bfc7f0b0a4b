"""One HTML file from a payload: data, script and style are all inside, and nothing is loaded from elsewhere.

>>> embedded({"name": "</script>"})
'{"name":"\\\\u003c/script\\\\u003e"}'
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from glassformer.draw.theme import THEMES
from glassformer.page.modules import ASSETS, join_modules
from glassformer.runs.atomic import plain

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
<noscript><p>This page computes its pictures as you look at them: it needs JavaScript.</p></noscript>
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


def html(payload: Mapping[str, Any], title: str, entry: str = "main.js") -> str:
    """The whole page: what the payload holds, shown by the module `entry` of the assets."""
    script = f"\n{join_modules(entry)}"
    return TEMPLATE.format(
        policy=escape(POLICY.format(digest=digest(script))),
        title=escape(readable(title)),
        style=style(entry),
        payload=embedded(payload),
        script=script,
    )


def embedded(payload: Mapping[str, Any]) -> str:
    """JSON that no parser of HTML can mistake for a tag; numbers that JSON does not know become null."""
    text = json.dumps(plain(payload), allow_nan=False, separators=(",", ":"))  # ASCII: U+2028 is escaped
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def digest(script: str) -> str:
    """What the policy knows the one script by that may run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def readable(text: str) -> str:
    """The same where it can be written in UTF-8; a file's name need not be."""
    return text.encode("utf-8", "replace").decode()


def style(entry: str) -> str:
    """The colours of the first paint, the style of all pages, and that of this one where it has its own."""
    sheets = [ASSETS / "style.css", ASSETS / entry.replace(".js", ".css")]
    texts = [sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists()]
    text = "\n".join([first_paint(), *texts])
    if found := re.search(r"</style|@import|url\((?!['\"]?data:)", text, re.I):
        raise ValueError(f"the style of {entry} has '{found[0]}': it would end early, or load something")
    return text


def first_paint() -> str:
    """The colours of both themes as variables, before any script has run."""
    light, dark = variables("light"), variables("dark")
    page = "html { background: var(--paper); color: var(--ink); }"
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{page}"


def variables(theme: str) -> str:
    colours = {name: value for name, value in asdict(THEMES[theme]).items() if name not in ("name", "tint")}
    return " ".join(f"--{name}: {value};" for name, value in colours.items())
