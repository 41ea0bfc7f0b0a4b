"""Options of a command, read from the one place that says them: its function's signature and docstring.

>>> def shout(word: str, *, times: int = 2, loud: bool = False) -> str:
...     '''Say a word.
...
...     Args:
...         word (WORD): what is said
...         times (--repeat N): how often
...         loud: in capitals
...
...     Examples:
...         glassformer shout hello
...     '''
>>> [option.flag for option in read_options(shout)]
['word', '--repeat', '--loud']
>>> read_options(shout)[1].help
'how often (default: 2)'
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

_ARGUMENT = re.compile(r"(?P<name>\w+)(?: \((?P<form>[^)]*)\))?: (?P<help>.*)", re.S)
_FROM_ELSEWHERE = ("show", "options")  # --quiet is the opposite of the one; dotted settings are the other
_Function = Callable[..., Any]


@dataclass(frozen=True)
class Option:
    """One word or flag of a command, and the parameter that it becomes."""

    name: str  # of the parameter
    flag: str  # --name; without dashes: a word at its position
    metavar: str  # what stands for the value in the help
    help: str
    kind: type  # of the value: str, int, float or bool
    default: object
    is_required: bool
    may_repeat: bool  # --grid A=1 --grid B=2
    has_opposite: bool  # --open and --no-open


def read_options(function: _Function) -> list[Option]:
    """The options of a command, in the order of its signature."""
    told = _read_arguments(function)
    parameters = inspect.signature(function).parameters.values()
    return [_make_option(one, *told[one.name]) for one in parameters if one.name not in _FROM_ELSEWHERE]


def _read_arguments(function: _Function) -> dict[str, tuple[str, str]]:
    """Parameter to its form and help, as the section `Args:` of the docstring says them."""
    lines = read_section(function, "Args")
    starts = [index for index, line in enumerate(lines) if not line.startswith(" ")]
    found = {}
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        match = _ARGUMENT.fullmatch(" ".join(line.strip() for line in lines[start:end]))
        assert match, f"{function.__name__}: '{lines[start]}' is no 'name (FORM): help'"
        found[match["name"]] = (match["form"] or "", match["help"])
    return found


def read_section(function: _Function, title: str) -> list[str]:
    """The lines of one section of a docstring, without their common indent."""
    lines = (inspect.getdoc(function) or "").splitlines()
    start = next((index for index, line in enumerate(lines) if line.startswith(f"{title}:")), None)
    if start is None:
        return []
    found = [first] if (first := lines[start].removeprefix(f"{title}:").strip()) else []
    for line in lines[start + 1 :]:
        if line and not line.startswith(" "):
            break
        found.append(line.removeprefix("    "))
    while found and not found[-1]:
        found.pop()
    return found


def read_summary(function: _Function) -> str:
    """The first line of a docstring, as the list of commands has it: small at its beginning, no full stop."""
    line = (inspect.getdoc(function) or "").partition("\n")[0].removesuffix(".")
    return line[:1].lower() + line[1:]


def _make_option(parameter: inspect.Parameter, form: str, help: str) -> Option:
    members = _list_members(parameter.annotation)
    is_word = parameter.kind is not parameter.KEYWORD_ONLY and not form.startswith("--")
    flag, _, metavar = form.partition(" ") if form.startswith("--") else ("", "", form)
    flag = flag or (parameter.name if is_word else f"--{parameter.name.replace('_', '-')}")
    kind = _choose_kind(members)
    return Option(
        name=parameter.name,
        flag=flag,
        metavar=metavar or _list_choices(members) or "VALUE",
        help=_add_default(help, parameter.default, kind),
        kind=kind,
        default=None if parameter.default is parameter.empty else parameter.default,
        is_required=parameter.default is parameter.empty,
        may_repeat=Sequence[str] in members and str not in members,
        has_opposite=bool in members and NoneType in members,
    )


def _list_members(annotation: Any) -> tuple[Any, ...]:
    """`int | None` as (int, NoneType); a single type as itself."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _choose_kind(members: tuple[Any, ...]) -> type:
    return next((kind for kind in (bool, int, float) if kind in members and str not in members), str)


def _list_choices(members: tuple[Any, ...]) -> str:
    return "|".join(word for one in members if get_origin(one) is Literal for word in get_args(one))


def _add_default(help: str, default: object, kind: type) -> str:
    """The same with the default, where there is one that can be said and is not said yet."""
    is_plain = isinstance(default, str | int | float) and kind is not bool
    if not is_plain or "default" in help:
        return help
    return f"{help} (default: {default:g})" if isinstance(default, float) else f"{help} (default: {default})"
