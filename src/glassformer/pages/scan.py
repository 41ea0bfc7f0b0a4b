"""Which parts of a script are code: comments, strings and patterns are replaced by spaces.

>>> blank_literals('say("import x"); // import y')
'say("        "); /          '
"""

import re

_OPENING = re.compile(r"[\"'`/{}]")
_WHOLE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
_TEMPLATE = re.compile(r"\\.|`|\$\{", re.S)
_PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/")
_BEFORE_PATTERN = re.compile(r"(?:^|[(,=:\[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of))\s*\Z")
_NEAR = 20  # letters before a slash that say whether it divides or begins a pattern


def blank_literals(source: str) -> str:
    """The source at the same length, with spaces for what is no code."""
    kept = list(source)
    place, braces = 0, [0]  # that are open: in the script, then inside each ${ of a template
    while found := _OPENING.search(source, place):
        mark, begin, place = found[0], found.start(), found.end()
        if mark == "{":
            braces[-1] += 1
        elif mark == "}" and (braces[-1] or len(braces) == 1):
            braces[-1] -= 1
        elif mark in "}`":  # a template begins, or continues after a ${...}
            if mark == "}":
                braces.pop()
            place = _find_template_end(source, place, braces)
            _blank_span(kept, begin + 1, place - 1)
        else:
            place = _find_literal_end(source, begin)
            _blank_span(kept, begin + 1, place - 1 if mark in "\"'" else place)
    return "".join(kept)


def _find_literal_end(source: str, begin: int) -> int:
    """Where a comment, a text or a pattern ends that may begin here."""
    if whole := _WHOLE.match(source, begin):
        return whole.end()
    divides = not _BEFORE_PATTERN.search(source[max(begin - _NEAR, 0) : begin])
    pattern = None if divides else _PATTERN.match(source, begin)
    return pattern.end() if pattern else begin + 1


def _find_template_end(source: str, place: int, braces: list[int]) -> int:
    """Where the text of a template ends: at its backtick, or where something is filled in."""
    while found := _TEMPLATE.search(source, place):
        place = found.end()
        if found[0] == "${":
            braces.append(0)
        if found[0] in ("${", "`"):
            return place
    return len(source)


def _blank_span(kept: list[str], begin: int, end: int) -> None:
    for place in range(begin, end):
        if kept[place] != "\n":
            kept[place] = " "


def blank_nested(code: str) -> str:
    """Blanked code with nothing inside braces, brackets or parentheses.

    >>> blank_nested("const a = 1; function f() { const b = 2; }")
    'const a = 1; function f() {              }'
    """
    kept, depth = list(code), 0
    for found in re.finditer(r"[(\[{]|[)\]}]|[^()\[\]{}]+", code):
        if found[0] in "([{":
            depth += 1
        elif found[0] in ")]}":
            depth -= 1
        elif depth:
            _blank_span(kept, *found.span())
    return "".join(kept)
