"""From what a user writes (a name, a file, options) to one configuration.

`glassformer run plus_last_even --train.steps 500 --task.p 0.4` is that configuration with two leaves changed.
Python code is run only where the user names its file: `run my_rule.py`, or `run my.toml --rule my_rule.py`.
"""

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError, make_unknown_error, shorten_value
from glassformer.core.text_files import decode_toml, describe_decode_error, read_toml
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS, find_configuration
from glassformer.runs.tree import from_tree, require_plain_type, to_tree
from glassformer.tasks import Task, read_rule, to_data_task
from glassformer.zoo import ZOO

_Tree = dict[str, Any]
_TAGS = ("kind", "name")  # settings that say which other settings there are
_MOST_BASES = 16  # files on top of each other
_MOST_KEYS = 16  # of a dotted path


def resolve_run(target: str, options: Mapping[str, object] | None = None, rule: str | None = None) -> Run:
    """The configuration that a name, a .toml file or a .py file with a rule stands for, options applied."""
    settings = {path: parse_value(text) for path, text in (options or {}).items()}
    return configure_run(target, settings, rule)


def configure_run(target: str, settings: Mapping[str, object], rule: str | None = None) -> Run:
    """The configuration of a target with some leaves changed; `rule` is a file with the task's rule."""
    is_rule = Path(target).suffix == ".py"
    if is_rule and rule:
        raise UserError(f"{target} is a rule already; --rule {rule} goes with a name or a .toml file")
    base = _make_default_tree() if is_rule else _read_base_tree(target) if target else {}
    tree = _apply_settings(base, settings)
    if rule_file := target if is_rule else rule:
        task = _read_task(tree, rule_file)
        if is_rule:
            tree = _apply_settings(_merge_trees(base, task.usual_settings()), settings)
        tree = {"name": task.name} | tree | {"task": to_tree(task)}
    run: Run = from_tree(Run, tree, "")
    return replace(run, task=to_data_task(run.task))


def _make_default_tree() -> _Tree:
    """The defaults, but for the task, and the name that is the task's."""
    return {key: part for key, part in _make_run_tree(Run()).items() if key not in ("name", "task")}


def _apply_settings(tree: _Tree, settings: Mapping[str, Any]) -> _Tree:
    """The same with some leaves changed."""
    for path, value in _sort_kinds_first(settings):
        tree = _replace_leaf(tree, _split_path(path), value, path)
    return tree


def _read_task(tree: _Tree, file: str) -> Task:
    """The user's own task, as data; the settings of the task go to the file."""
    settings = tree.get("task", {})
    if not isinstance(settings, dict):
        raise UserError(f"task must be a table of settings, but it is {shorten_value(settings)}")
    return read_rule(file, settings)


def _sort_kinds_first(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """Another task or kind of part comes before the settings of it, in whatever order they were written."""
    return sorted(options.items(), key=lambda option: option[0].rpartition(".")[2] not in _TAGS)


def _read_base_tree(target: str, above: tuple[Path, ...] = ()) -> _Tree:
    """The plain settings of a target; `above` are the files whose base it is."""
    path = Path(target)
    if path.suffix == ".toml":
        return _read_settings(path, above)
    if path.suffix == ".py":
        raise make_code_refusal(above[-1] if above else None, target)
    if _is_folder(path):
        return _read_settings(path / "run.toml", above)
    if target in ZOO and ZOO[target].build:
        raise UserError(f"'{target}' is hand-built, there is nothing to train: glassformer test {target}")
    if target not in CONFIGURATIONS:
        raise make_unknown_error("task", target, CONFIGURATIONS, "glassformer list tasks")
    return _make_run_tree(find_configuration(target))


def _make_run_tree(run: Run) -> _Tree:
    tree: _Tree = to_tree(run)
    return tree


def _read_settings(path: Path, above: tuple[Path, ...] = ()) -> _Tree:
    """A file's settings, on top of the configuration that its `base` names."""
    if "\0" in str(path):
        raise UserError(f"{shorten_value(path, str)!r} is not a valid file name")
    place = Path(os.path.realpath(path))  # unlike Path.resolve it takes links that go round in a circle
    if place in above:
        raise UserError(f"{path} is its own base")
    if len(above) > _MOST_BASES:
        raise UserError(f"{path} has more than {_MOST_BASES} bases, one on top of the other")
    tree = strip_rule_file(read_toml(path), path)
    base = require_plain_type(str, tree.pop("base", ""), "base")
    return _merge_trees(_read_base_tree(base, (*above, place)), tree) if base else tree


def _is_folder(path: Path) -> bool:
    """False too for names that no system takes."""
    with suppress(OSError, ValueError):
        return path.is_dir()
    return False


def strip_rule_file(tree: _Tree, path: Path | None) -> _Tree:
    """Settings once had the file of a rule among them; code is not run because a file says so."""
    rest = {key: part for key, part in tree.items() if key != "rule_file"}
    if file := require_plain_type(str, tree.get("rule_file", ""), "rule_file"):
        raise make_code_refusal(path, file)
    return rest


def make_code_refusal(path: Path | None, file: str) -> UserError:
    says = f"{path or 'a configuration'} names the Python file {shorten_value(file, str)}"
    return UserError(f"{says}, which is not run because a file says so; name it yourself: --rule FILE.py")


def _merge_trees(below: _Tree, above: _Tree) -> _Tree:
    """`above` wins; a part of another kind replaces the one below wholly."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and not _has_other_kind(old, value):
            value = _merge_trees(old, value)
        result[key] = value
    return result


def _has_other_kind(old: _Tree, new: _Tree) -> bool:
    return any(tag in new and new[tag] != old.get(tag) for tag in _TAGS)


def _replace_leaf(tree: object, keys: list[str], value: object, path: str) -> Any:
    """A copy with one leaf replaced; a number steps into a list."""
    key, *rest = keys
    if isinstance(tree, list):
        place = int(key) if key.isascii() and key.isdigit() and len(key) < 10 else len(tree)
        if place >= len(tree):
            raise UserError(
                f"--{shorten_value(path, str)}: there is no number "
                f"{shorten_value(key, str)} in a list of {len(tree)}"
            )
        return [
            _replace_leaf(item, rest, value, path) if rest and i == place else value if i == place else item
            for i, item in enumerate(tree)
        ]
    if not isinstance(tree, dict):
        tree = {}
    if not rest and (key == "kind" or path == "task.name") and value != tree.get(key):
        return {key: value}  # the old one's other settings mean nothing to the new one
    return tree | {key: _replace_leaf(tree.get(key, {}), rest, value, path) if rest else value}


def parse_value(text: object) -> Any:
    """A text as TOML would read it (numbers, true, false, lists), or else as it is."""
    if not isinstance(text, str):
        return text
    try:
        return decode_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except (ValueError, RecursionError, MemoryError) as error:
        raise UserError(
            f"the value {shorten_value(text)} cannot be read: {describe_decode_error(error)}"
        ) from None


def _split_path(path: str) -> list[str]:
    """The keys of a dotted path, none of them empty.

    >>> _split_path("train.steps")
    ['train', 'steps']
    """
    keys = path.split(".")
    if "" in keys or len(keys) > _MOST_KEYS:
        raise UserError(
            f"--{shorten_value(path, str)} is no setting; a setting is written as --train.steps 500"
        )
    return keys


def list_setting_leaves(tree: Any, prefix: str = "", into_lists: bool = True) -> dict[str, Any]:
    """Every setting by its dotted path; a list of tables is stepped into by number, or stays whole.

    >>> list_setting_leaves({"train": {"steps": 5}, "layers": [{"heads": 1}]})
    {'train.steps': 5, 'layers.0.heads': 1}
    """
    leaves: dict[str, Any] = {}
    for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree):
        path = f"{prefix}{key}"
        is_list = into_lists and isinstance(item, list) and any(isinstance(one, dict) for one in item)
        is_inner = isinstance(item, dict) or is_list
        leaves |= list_setting_leaves(item, f"{path}.", into_lists) if is_inner else {path: item}
    return leaves
