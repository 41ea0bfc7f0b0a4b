"""Configuration trees as plain dicts, and back: what TOML files, metadata and the command line share.

A part that can be one of several kinds carries its `kind`; a task carries its `name`.

>>> from glassformer.models.position import Position
>>> from_tree(Position, {"kind": "sinusoidal", "base": 100.0}, "model.position")
SinusoidalPosition(base=100.0)
>>> from_tree(Position, {"kind": "sinusoidal", "bas": 100.0}, "model.position")
Traceback (most recent call last):
glassformer.core.errors.UserError: no setting of model.position called 'bas'; did you mean 'base'?
"""

import dataclasses
import math
import types
import typing
from typing import Any, Literal, Union, get_args, get_origin

from glassformer.core.errors import UserError, make_unknown_error, shorten_value
from glassformer.tasks import TASKS, TabulatedQuestion, TabulatedRule, Task

_NONE = "none"  # TOML has no null
_MOST = 2**63  # of any integer; each setting has a bound of its own
_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def to_tree(value: object) -> Any:
    """Dataclasses as dicts, tuples as lists, None as "none"."""
    if dataclasses.is_dataclass(value):
        tag = _find_kind_tag(type(value))
        said = [field for field in dataclasses.fields(value) if not _is_silent(field, value)]
        inner = {field.name: to_tree(getattr(value, field.name)) for field in said}
        return ({tag: getattr(value, tag)} if tag else {}) | inner
    if isinstance(value, tuple):
        return [to_tree(item) for item in value]
    return _NONE if value is None else value


def _is_silent(field: dataclasses.Field[object], owner: object) -> bool:
    """A field that came later is not written while it has its default.

    So the text of an older model stays what it was, and with it the hash that a certificate names.
    """
    return "later" in field.metadata and getattr(owner, field.name) == field.default


def from_tree(hint: Any, value: Any, path: str) -> Any:
    """The value of the hinted type that a tree describes; one sentence where it does not fit."""
    if hint is float and type(value) is int and abs(value) <= _MOST:
        return float(value)
    if hint in _KINDS:
        return require_plain_type(hint, value, path)
    if get_origin(hint) is Literal:
        return _from_literal(get_args(hint), value, path)
    if get_origin(hint) is tuple:
        return _from_list(get_args(hint), value, path)
    if get_origin(hint) in (Union, types.UnionType):
        return _from_union(get_args(hint), value, path)
    if hint is Task:
        return _from_task(value, path)
    return _from_dict(hint, value, path)


def _from_dict(kind: type, value: object, path: str) -> Any:
    """A dataclass from its fields; those that are not given keep their defaults."""
    if not isinstance(value, dict):
        raise UserError(
            f"{path or 'the configuration'} must be a table of settings, but it is {shorten_value(value)}"
        )
    fields, hints = {field.name: field for field in dataclasses.fields(kind)}, typing.get_type_hints(kind)
    given = {key: item for key, item in value.items() if key != _find_kind_tag(kind) or key in fields}
    for key in given:
        if key not in fields:
            raise make_unknown_error(f"setting of {path}" if path else "setting", str(key), sorted(fields))
    for name, field in fields.items():
        if name not in given and field.default is field.default_factory is dataclasses.MISSING:
            raise UserError(f"{path or 'the configuration'} must say its {name}")
    made = {key: from_tree(hints[key], item, f"{path}.{key}".lstrip(".")) for key, item in given.items()}
    try:
        return kind(**made)
    except UserError as error:
        raise error if not path or str(error).startswith(path) else UserError(f"{path}.{error}") from None


def _from_union(hints: tuple[object, ...], value: object, path: str) -> Any:
    """The member of a union that the tree names by its kind."""
    if types.NoneType in hints and value == _NONE:
        return None
    tagged = _list_variants(hints)
    if not tagged or not isinstance(value, dict):
        return _from_plain(hints, value, path)
    tag = _find_kind_tag(next(iter(tagged.values())))
    if tag == "name" and tag not in value:
        raise UserError(f"{path} must say which one it is, by its name (glassformer list tasks)")
    name = value.get(tag, next(iter(tagged))) if tag else next(iter(tagged))
    if not isinstance(name, str) or name not in tagged:
        raise make_unknown_error(
            "task" if tag == "name" else f"kind of {path}",
            str(name),
            tagged,
            "glassformer list tasks" if tag == "name" else "",
        )
    return _from_dict(tagged[name], value, path)


def _from_task(value: object, path: str) -> Any:
    """A registered task by its name, or one that is its own table."""
    if not isinstance(value, dict):
        raise UserError(f"{path} must be a table of settings, but it is {shorten_value(value)}")
    if "next" in value:  # only a task that is a table has it
        return _from_dict(TabulatedQuestion if "length" in value else TabulatedRule, value, path)
    return _from_union(tuple(TASKS.values()), value, path)


def _from_plain(hints: tuple[object, ...], value: object, path: str) -> Any:
    """A union of plain types, such as a number or nothing."""
    rest = [hint for hint in hints if hint is not types.NoneType]
    if len(rest) == 1:
        return from_tree(rest[0], value, path)
    for hint in rest:
        if hint in _KINDS and type(value) in ((int, float) if hint is float else (hint,)):
            return from_tree(hint, value, path)
    raise UserError(
        f"{path} must be a table with a 'kind', or a plain value of its type, but it "
        f"is {shorten_value(value)}"
    )


def _list_variants(hints: tuple[object, ...]) -> dict[str, type]:
    """The dataclasses of a union by kind."""
    found: dict[str, type] = {}
    for hint in hints:
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            found[str(getattr(hint, _find_kind_tag(hint) or "", ""))] = hint
    return found


def _find_kind_tag(kind: type) -> str:
    """`name` for tasks, `kind` for parts that have one, nothing for the others."""
    if issubclass(kind, Task):
        return "name"
    return "kind" if hasattr(kind, "kind") else ""


def _from_list(hints: tuple[object, ...], value: object, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise UserError(f"{path} must be a list, but it is {shorten_value(value)}")
    if hints[-1] is Ellipsis:
        hints = hints[:1] * len(value)
    if len(hints) != len(value):
        raise UserError(f"{path} must be a list of {len(hints)}, but it has {len(value)}")
    return tuple(
        from_tree(hint, item, f"{path}.{i}") for i, (hint, item) in enumerate(zip(hints, value, strict=True))
    )


def _from_literal(choices: tuple[str, ...], value: object, path: str) -> Any:
    if value not in choices:
        raise make_unknown_error(f"choice of {path}", shorten_value(value, str), choices)
    return value


def require_plain_type(hint: type, value: object, path: str) -> Any:
    is_wild = isinstance(value, float) and not math.isfinite(value)
    if type(value) is hint is int and abs(value) > _MOST:
        raise UserError(f"{path} must be between -2^63 and 2^63, but it is {shorten_value(value)}")
    if type(value) is not hint or is_wild:
        raise UserError(f"{path} must be {_KINDS[hint]}, but it is {shorten_value(value)}")
    return value
