"""docs/api.md and docs/commands.md: the Python functions and the command table, made from the docstrings.

    python -m tools.api_page

Both say only what the functions themselves say; tests/test_api_page.py finds a page that is older.
"""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

import glassformer
from glassformer.cli.options import read_options, read_section, read_summary
from glassformer.cli.verbs import VERBS

DOCS = Path(__file__).parents[1] / "docs"
_WIDTH = 100  # characters of a signature on one line
_API = """# The Python API

`import glassformer` gives the functions below and nothing else; each is also a command of the same name
([commands](commands.md)). They import what they need when they are called. Results are typed, with the
fields that `--json` prints.

```pycon
>>> import glassformer
>>> dir(glassformer)
{names}
>>> glassformer.__version__
{version!r}
>>> import inspect
>>> print(inspect.signature(glassformer.prove))
{signature}
>>> glassformer.add("glass-8", 57, 68).got
125

```

Editors and type checkers see the same types:

```pycon
>>> from mypy import api
>>> found = api.run(["-c", 'import glassformer; reveal_type(glassformer.prove("glass-8"))'])
>>> print(found[0])
<string>:1: note: Revealed type is "glassformer.proofs.verdict.Verdict"
Success: no issues found in 1 source file
<BLANKLINE>

```

Made by `python -m tools.api_page`.
"""
_COMMANDS = """# Commands

Every command takes `--json` (one JSON object on standard output, progress on standard error) and `--help`,
which explains each option. `run`, `train` and `sweep` take any setting of a configuration as an option too
(`--train.batch 128`; `glassformer list settings`). Exit status: 0 good, 1 a negative verdict, 2 bad input,
3 undecided, 70 a fault of ours, 130 interrupted. The same functions in Python: [api.md](api.md). Made by
`python -m tools.api_page`.

| command | what it does | options |
|---|---|---|
"""


def make_api_page() -> str:
    """One section per function: signature, summary, parameters."""
    signature = str(inspect.signature(glassformer.prove))
    head = _API.format(
        names=sorted(glassformer.__all__), version=glassformer.__version__, signature=signature
    )
    sections = [_describe_function(name, getattr(glassformer, name)) for name in glassformer.__all__]
    return "\n".join([head, *sections])


def _describe_function(name: str, function: Callable[..., Any]) -> str:
    verb = VERBS.get(name)
    said = verb.options_of if verb and verb.options_of else function
    lines = [f"## {name}", "", "```python", format_signature(name, function), "```", ""]
    lines += [_capitalise(read_summary(function)) + ".", ""]
    lines += [f"- `{one}`: {text}" for one, text in _list_arguments(said)]
    return "\n".join([*lines, ""])


def _list_arguments(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """Parameter and help, as the docstring has them."""
    text = "\n".join(read_section(function, "Args"))
    joined = re.sub(r"\n {4,}", " ", text)
    found = [re.fullmatch(r"(\w+)(?: \([^)]*\))?: (.*)", line) for line in joined.splitlines()]
    return [(match[1], match[2]) for match in found if match]


def format_signature(name: str, function: Callable[..., Any]) -> str:
    """`name(parameters) -> result`, one parameter per line where it is long."""
    signature = inspect.signature(function)
    parts = list[str]()
    has_star = False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not has_star:
            parts, has_star = [*parts, "*"], True
        default = "" if one.default is one.empty else f" = {one.default!r}"
        parts.append(f"{one.name}: {format_type(one.annotation)}{default}")
    result = format_type(signature.return_annotation)
    line = f"{name}({', '.join(parts)}) -> {result}"
    if len(line) <= _WIDTH:
        return line
    rows = "\n".join(f"    {part}," for part in parts)
    return f"{name}(\n{rows}\n) -> {result}"


def format_type(annotation: Any) -> str:
    """A type as people write it.

    >>> format_type(str | Path | None), format_type("Verdict")
    ('str | Path | None', 'Verdict')
    """
    if isinstance(annotation, str):
        return annotation
    if annotation is type(None):
        return "None"
    if get_args(annotation) and "|" in str(annotation):
        return " | ".join(format_type(one) for one in get_args(annotation))
    if get_origin(annotation) or not isinstance(annotation, type):
        return re.sub(r"\b(?:typing|collections\.abc|pathlib)\.", "", str(annotation))
    return annotation.__name__


def make_command_page() -> str:
    """One row per command."""
    return _COMMANDS + "\n".join(_format_command_row(name) for name in VERBS) + "\n"


def _format_command_row(name: str) -> str:
    verb = VERBS[name]
    options = read_options(verb.options_of or verb.function)
    words = " ".join(one.metavar for one in options if not one.flag.startswith("--"))
    flags = [one.flag for one in options if one.flag.startswith("--")] + [f"--{one}" for one in verb.variants]
    shown = " ".join(f"`{flag}`" for flag in flags)
    command = f"{name} {words}".replace("|", "\\|")
    return f"| [`{command}`](api.md#{name}) | {_capitalise(read_summary(verb.function))} | {shown} |"


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def main() -> None:
    (DOCS / "api.md").write_text(make_api_page(), encoding="utf-8")
    (DOCS / "commands.md").write_text(make_command_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
