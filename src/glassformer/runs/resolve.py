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

from glassformer.errors import UserError, show, unknown
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS, configuration
from glassformer.runs.text_files import decode_toml, read_toml, say_decoder
from glassformer.runs.tree import checked, from_tree, to_tree
from glassformer.tasks import Task, as_data, read_rule
from glassformer.zoo import ZOO

Tree = dict[str, Any]
TAGS = ("kind", "name")  # settings that say which other settings there are
MOST_BASES = 16  # files on top of each other
MOST_KEYS = 16  # of a dotted path


def resolve(target: str, options: Mapping[str, Any] | None = None, rule: str | None = None) -> Run:
    """The configuration that a name, a .toml file or a .py file with a rule stands for, options applied."""
    settings = {path: parse_value(text) for path, text in (options or {}).items()}
    return configure(target, settings, rule)


def configure(target: str, settings: Mapping[str, Any], rule: str | None = None) -> Run:
    """The configuration of a target with some leaves changed; `rule` is a file with the task's rule."""
    is_rule = Path(target).suffix == ".py"
    if is_rule and rule:
        raise UserError(f"{target} is a rule already; --rule {rule} goes with a name or a .toml file")
    base = usual_tree() if is_rule else base_tree(target) if target else {}
    tree = with_options(base, settings)
    if rule_file := target if is_rule else rule:
        task = read_task(tree, rule_file)
        if is_rule:
            tree = with_options(merged(base, task.usual_settings()), settings)
        tree = {"name": task.name} | tree | {"task": to_tree(task)}
    run: Run = from_tree(Run, tree, "")
    return replace(run, task=as_data(run.task))


def usual_tree() -> Tree:
    """The defaults, but for the task, and the name that is the task's."""
    return {key: part for key, part in tree_of(Run()).items() if key not in ("name", "task")}


def with_options(tree: Tree, settings: Mapping[str, Any]) -> Tree:
    """The same with some leaves changed."""
    for path, value in kinds_first(settings):
        tree = changed(tree, split_path(path), value, path)
    return tree


def read_task(tree: Tree, file: str) -> Task:
    """The user's own task, as data; the settings of the task go to the file."""
    settings = tree.get("task", {})
    if not isinstance(settings, dict):
        raise UserError(f"task must be a table of settings, but it is {show(settings)}")
    return read_rule(file, settings)


def kinds_first(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """Another task or kind of part comes before the settings of it, in whatever order they were written."""
    return sorted(options.items(), key=lambda option: option[0].rpartition(".")[2] not in TAGS)


def base_tree(target: str, above: tuple[Path, ...] = ()) -> Tree:
    """The plain settings of a target; `above` are the files whose base it is."""
    path = Path(target)
    if path.suffix == ".toml":
        return read_settings(path, above)
    if path.suffix == ".py":
        raise refused_code(above[-1] if above else None, target)
    if is_folder(path):
        return read_settings(path / "run.toml", above)
    if target in ZOO and ZOO[target].build:
        raise UserError(f"'{target}' is hand-built, there is nothing to train: glassformer test {target}")
    if target not in CONFIGURATIONS:
        raise unknown("task", target, CONFIGURATIONS, "glassformer list tasks")
    return tree_of(configuration(target))


def tree_of(run: Run) -> Tree:
    tree: Tree = to_tree(run)
    return tree


def read_settings(path: Path, above: tuple[Path, ...] = ()) -> Tree:
    """A file's settings, on top of the configuration that its `base` names."""
    if "\0" in str(path):
        raise UserError(f"{show(path, str)!r} is no name of a file")
    place = Path(os.path.realpath(path))  # unlike Path.resolve it takes links that go round in a circle
    if place in above:
        raise UserError(f"{path} is its own base")
    if len(above) > MOST_BASES:
        raise UserError(f"{path} has more than {MOST_BASES} bases, one on top of the other")
    tree = without_code(read_toml(path), path)
    base = checked(str, tree.pop("base", ""), "base")
    return merged(base_tree(base, (*above, place)), tree) if base else tree


def is_folder(path: Path) -> bool:
    """False too for names that no system takes."""
    with suppress(OSError, ValueError):
        return path.is_dir()
    return False


def without_code(tree: Tree, path: Path | None) -> Tree:
    """Settings once had the file of a rule among them; code is not run because a file says so."""
    rest = {key: part for key, part in tree.items() if key != "rule_file"}
    if file := checked(str, tree.get("rule_file", ""), "rule_file"):
        raise refused_code(path, file)
    return rest


def refused_code(path: Path | None, file: str) -> UserError:
    says = f"{path or 'a configuration'} names the Python file {show(file, str)}"
    return UserError(f"{says}, which is not run because a file says so; name it yourself: --rule FILE.py")


def merged(below: Tree, above: Tree) -> Tree:
    """`above` wins; a part of another kind replaces the one below wholly."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and not another_kind(old, value):
            value = merged(old, value)
        result[key] = value
    return result


def another_kind(old: Tree, new: Tree) -> bool:
    return any(tag in new and new[tag] != old.get(tag) for tag in TAGS)


def changed(tree: Any, keys: list[str], value: Any, path: str) -> Any:
    """A copy with one leaf replaced; a number steps into a list."""
    key, *rest = keys
    if isinstance(tree, list):
        place = int(key) if key.isascii() and key.isdigit() and len(key) < 10 else len(tree)
        if place >= len(tree):
            raise UserError(
                f"--{show(path, str)}: there is no number {show(key, str)} in a list of {len(tree)}"
            )
        return [
            changed(item, rest, value, path) if rest and i == place else value if i == place else item
            for i, item in enumerate(tree)
        ]
    if not isinstance(tree, dict):
        tree = {}
    if not rest and (key == "kind" or path == "task.name") and value != tree.get(key):
        return {key: value}  # the old one's other settings mean nothing to the new one
    return tree | {key: changed(tree.get(key, {}), rest, value, path) if rest else value}


def parse_value(text: Any) -> Any:
    """A text as TOML would read it (numbers, true, false, lists), or else as it is."""
    if not isinstance(text, str):
        return text
    try:
        return decode_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except (ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"the value {show(text)} cannot be read: {say_decoder(error)}") from None


def split_path(path: str) -> list[str]:
    """The keys of a dotted path, none of them empty.

    >>> split_path("train.steps")
    ['train', 'steps']
    """
    keys = path.split(".")
    if "" in keys or len(keys) > MOST_KEYS:
        raise UserError(f"--{show(path, str)} is no setting; a setting is written as --train.steps 500")
    return keys


def leaves(tree: Any, prefix: str = "") -> dict[str, Any]:
    """Every setting by its dotted path, for help and for the nearest name."""
    if isinstance(tree, dict) or (isinstance(tree, list) and any(isinstance(item, dict) for item in tree)):
        pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return {
            path: leaf
            for key, item in pairs
            for path, leaf in leaves(item, f"{prefix}.{key}".lstrip(".")).items()
        }
    return {prefix: tree}
