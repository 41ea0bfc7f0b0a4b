"""From what a user writes (a name, a file, options) to one configuration.

`glassformer run plus_last_even --train.steps 500 --task.p 0.4` is that configuration with two leaves changed.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.errors import UserError, unknown
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS, configuration
from glassformer.runs.tree import checked, from_tree, to_tree
from glassformer.tasks import load_file
from glassformer.zoo import ZOO

Tree = dict[str, Any]
TAGS = ("kind", "name")  # settings that say which other settings there are


def resolve(target: str, options: Mapping[str, Any] | None = None) -> Run:
    """The configuration that a name, a .toml file or a .py file with a rule stands for, options applied."""
    tree = base_tree(target)
    for path, text in kinds_first(options or {}):
        tree = changed(tree, path.split("."), parse_value(text), path)
    run: Run = from_tree(Run, tree, "")
    return run


def kinds_first(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """Another task or kind of part comes before the settings of it, in whatever order they were written."""
    return sorted(options.items(), key=lambda option: option[0].rpartition(".")[2] not in TAGS)


def base_tree(target: str, above: tuple[Path, ...] = ()) -> Tree:
    """The plain settings of a target; `above` are the files whose base it is."""
    path = Path(target)
    if path.suffix == ".toml":
        return read_toml(path, above)
    if path.suffix == ".py":
        rule = load_file(path)[0]
        return tree_of(Run(name=rule.name, task=rule(), rule_file=str(path.resolve())))
    if path.is_dir():
        return read_toml(path / "run.toml", above)
    if target in ZOO and ZOO[target].build:
        raise UserError(f"'{target}' is hand-built, there is nothing to train: glassformer test {target}")
    if target not in CONFIGURATIONS:
        raise unknown("task", target, CONFIGURATIONS, "glassformer list tasks")
    return tree_of(configuration(target))


def tree_of(run: Run) -> Tree:
    tree: Tree = to_tree(run)
    return tree


def read_toml(path: Path, above: tuple[Path, ...] = ()) -> Tree:
    """A file's settings, on top of the configuration that its `base` names."""
    if path.resolve() in above:
        raise UserError(f"{path} is its own base")
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    for name in ("base", "rule_file"):
        checked(str, tree.get(name, ""), name)
    if rule_file := tree.get("rule_file"):
        tree["rule_file"] = str((path.parent / rule_file).resolve())
        load_file(tree["rule_file"])
    base = tree.pop("base", "")
    return merged(base_tree(base, (*above, path.resolve())), tree) if base else tree


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
        place = int(key) if key.isdigit() else len(tree)
        if place >= len(tree):
            raise UserError(f"--{path}: there is no number {key} in a list of {len(tree)}")
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
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


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
